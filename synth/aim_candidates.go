package synth

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/privacy"
)

// stale is how many rounds an estimate may serve for a candidate that shares no column with what
// was measured since.
const stale = 4

// lookedAt is how many sets of columns a round may always look at.
const lookedAt = 256

// targetWeight is how much more a set with the target counts.
const targetWeight = 2

// wanted is a marginal of the closure. Its estimates are those of an earlier round where the model
// has hardly changed since.
type wanted struct {
	cols   []int          // increasing
	weight float64        // 0 < w ≤ 1
	age    int            // rounds since the estimates were made
	tables []aimCandidate // from full detail down, of those that noise does not drown
	sigma  float64        // the noise with which those were told; 0 until first needed
}

// candidate is a marginal that a round may choose, at one resolution, with what the model expects.
type aimCandidate struct {
	privacy.Candidate
	cols  []int
	level int // codes a column at most; 0 = all
}

// closure returns the downward closure of the workload, every set of columns inside a wanted one,
// with the weight w_r = Σ_s weight_s·|r ∩ s| of the paper, divided by the largest: a weight scales
// score and sensitivity alike.
func closure(sets []columnSet, target int) []wanted {
	var out []wanted
	at := map[string]int{}
	for _, s := range sets {
		for mask := 1; mask < 1<<len(s.Cols); mask++ {
			var cols []int
			for i, c := range s.Cols {
				if mask>>i&1 != 0 {
					cols = append(cols, c)
				}
			}
			key := fmt.Sprint(cols)
			if _, ok := at[key]; !ok {
				at[key] = len(out)
				out = append(out, wanted{cols: cols})
			}
		}
	}
	// |r ∩ s| = Σ_c [c ∈ r][c ∈ s]: the weight of a set is the sum over its columns of the weights
	// of the sets that hold the column.
	column := map[int]float64{}
	for _, s := range sets {
		w := s.Weight
		if slices.Contains(s.Cols, target) {
			w *= targetWeight
		}
		for _, c := range s.Cols {
			column[c] += w
		}
	}
	largest := 0.0
	for i := range out {
		for _, c := range out[i].cols {
			out[i].weight += column[c]
		}
		largest = math.Max(largest, out[i].weight)
	}
	for i := range out {
		out[i].weight = math.Max(out[i].weight/largest, 1.0/1024)
	}
	return out
}

// Beside pairs, sets of more columns are wanted, of at most mostCells cells: of two others with the
// target, among fewForTwo columns of fewest codes, and of three among fewForThree. All that follows
// from what is public, and bounds the time, for each round looks at these sets, too.
const (
	fewForTwo   = 20
	fewForThree = 12
	mostCells   = 512
	clearNoise  = 0.01 // of columns; up to it wider tables have sets of at most fewCells, too
	fewCells    = 64
)

// interactions are sets that pairs do not explain, such as a column that is the parity of others:
// of the target t and two or three other columns; without a target, of three columns of a table
// that has no more than fewForThree, for among many rare cells of a wide table noise finds some
// that seem to matter. Where noise is small, it may have fewForTwo. They weigh as much as a pair of
// most weight, those of more than 64 cells less, which would take from pairs what they bring. A set
// must stand out of all of its noise, and of that of x rows drawn by chance, √x (scored).
func (f *aimFit) interactions(t int, noise float64) (out []wanted) {
	var others []int
	for c := range f.sizes {
		if c != t {
			others = append(others, c)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return f.groupSizes[a] - f.groupSizes[b] })
	for i, few := range []int{fewForTwo, fewForThree} {
		n, most := i+2, float64(mostCells)
		if t < 0 && noise <= clearNoise && len(others) > few {
			few, most = fewForTwo, fewCells
		}
		few := min(few, len(others))
		if f.cfg.Workload != "pairs" || few < n || t < 0 && (n == 2 || few < len(others)) {
			continue
		}
		for _, set := range combin.Combinations(few, n) {
			for i, k := range set {
				set[i] = others[k]
			}
			if t >= 0 {
				set = append(set, t)
			}
			slices.Sort(set)
			if _, cells := f.fine.of(set, 0, f.groupSizes); cells <= most {
				out = append(out, wanted{cols: set, weight: math.Min(1, 8/math.Sqrt(cells))})
			}
		}
	}
	return out
}

// candidates lists what fits into the share of the memory and is not bound to be drowned by the
// noise: an L1 error is at most 2n. Of many sets it looks at every second, third or fourth in turn.
// Where there are none, the share is the whole. It brings estimates up to date, on all processors.
func (f *aimFit) candidates(sigma, share float64) (out []aimCandidate) {
	turns, most := max(1, min(len(f.closure)/lookedAt, 4)), f.model.Total()
	for range turns {
		f.turn = (f.turn + 1) % turns
		use := make([]bool, len(f.closure))
		each((len(f.closure)-f.turn+turns-1)/turns, func(i int) {
			i = i*turns + f.turn
			c := &f.closure[i]
			_, least := f.fine.of(c.cols, levels[len(levels)-1], f.groupSizes)
			if l1*sigma*least >= most || !f.fits(c.cols, share) {
				return
			}
			// An answer may need too much memory.
			use[i] = c.sigma != 0 && sigma >= c.sigma && c.age < stale || f.refresh(c, sigma) == nil
		})
		for i, c := range f.closure {
			for _, t := range c.tables {
				if use[i] && l1*sigma*float64(len(t.Estimate)) < most {
					out = append(out, t)
				}
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	if share < 1 {
		return f.candidates(sigma, 1)
	}
	return nil
}

// fits says whether the tree with the columns joined stays within the share of the memory.
func (f *aimFit) fits(cols []int, share float64) bool { return f.beside(cols, share*f.cells()) }

// joining keeps the pairs that join columns which no chosen pairs join yet, where noise is large
// and there are some.
func (f *aimFit) joining(candidates []aimCandidate) ([]aimCandidate, bool) {
	var out []aimCandidate
	for _, c := range candidates {
		if f.small && len(c.cols) == 2 && f.parts.joins(c.cols) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return candidates, false
	}
	return out, true
}

// still keeps the candidates that fit beside one that was measured; those of one set of columns
// follow each other.
func (f *aimFit) still(
	candidates []aimCandidate, measured aimCandidate, share float64,
) []aimCandidate {
	var last []int
	fits := false
	return slices.DeleteFunc(candidates, func(c aimCandidate) bool {
		if !slices.Equal(last, c.cols) {
			last = c.cols
			fits = !slices.Equal(measured.cols, last) && f.fits(last, share)
		}
		return !fits
	})
}

// scored are the candidates with penalties: the L1 error that noise of sigma brings to a table. Of
// a cell that is √(2/π)·σ in the paper, and no more here than twice what the model expects in it.
// For the estimate keeps small cells small (marginal.Fit), and a table of many empty cells is worth
// its noise sooner: that is how a code that decides another is found at full detail.
func (f *aimFit) scored(candidates []aimCandidate, sigma float64) []privacy.Candidate {
	out := make([]privacy.Candidate, len(candidates))
	for i, c := range candidates {
		out[i] = c.Candidate
		for _, x := range c.Estimate {
			if len(c.cols) > 2 && f.cfg.Workload == "pairs" {
				out[i].Penalty += l1 * math.Hypot(sigma, math.Sqrt(x*f.full)) // see interactions
			} else {
				out[i].Penalty += min(l1*sigma, 2*x)
			}
		}
	}
	return out
}

// refresh computes the estimates of a candidate at all resolutions that the noise does not drown.
func (f *aimFit) refresh(c *wanted, sigma float64) error {
	fine, err := f.tableOf(c.cols, 0)
	if err != nil {
		return err
	}
	c.tables, c.sigma, c.age = c.tables[:0], sigma, 0
	for _, level := range allLevels {
		runs, cells := f.fine.of(c.cols, level, f.groupSizes)
		if level > 0 && (runs == nil || slices.ContainsFunc(c.tables,
			func(t aimCandidate) bool { return len(t.Estimate) == int(cells) })) ||
			l1*sigma*cells >= f.model.Total() {
			continue
		}
		c.tables = append(c.tables, aimCandidate{privacy.Candidate{Query: f.marginalOf(c.cols, runs),
			Estimate: coarsen(fine, c.cols, f.groupSizes, runs, int(cells)), Weight: c.weight}, c.cols,
			level})
	}
	return nil
}

// tableOf is what the model expects.
func (f *aimFit) tableOf(cols []int, level int) ([]float64, error) {
	_, cells := f.fine.of(cols, 0, f.groupSizes)
	fine := make([]float64, int(cells))
	if err := f.model.MarginalTo(fine, cols); err != nil {
		return nil, err
	}
	runs, n := f.fine.of(cols, level, f.groupSizes)
	return coarsen(fine, cols, f.groupSizes, runs, int(n)), nil
}

// drowned says whether the estimate moved each of the measured marginals by no more than its noise:
// ‖M_r(p̂_t) − M_r(p̂_{t−1})‖₁ ≤ √(2/π)·σ_t·n_r. It makes estimates
// older, and those that share a column with a measured one due.
func (f *aimFit) drowned(measured []aimCandidate, sigma float64) bool {
	all := true
	for _, c := range measured {
		shares := func(col int) bool { return slices.Contains(c.cols, col) }
		for i := range f.closure {
			of := &f.closure[i]
			if of.age++; slices.ContainsFunc(of.cols, shares) {
				of.age = stale // and due
			}
		}
		now, err := f.tableOf(c.cols, c.level)
		if err != nil {
			return false // an answer that needs too much memory, which its clique is not
		}
		all = all && floats.Distance(now, c.Estimate, 1) <= l1*sigma*float64(len(now))
	}
	return all
}

// each calls do for 0 to n−1 on all processors.
func each(n int, do func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}
