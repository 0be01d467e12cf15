package synth

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/marginal"
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

// candidate is a marginal that a round may choose, at one resolution.
type aimCandidate struct {
	cols     []int
	weight   float64
	level    int       // codes a column at most; 0 = all
	estimate []float64 // what the model expects
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

// candidates lists what fits into the share of the memory and is not bound to be drowned by the
// noise: an L1 error is at most 2n. Of many sets it looks at every second, third or fourth in turn.
// It brings estimates up to date, on all processors.
func (f *aimFit) candidates(sigma, share float64) (out []aimCandidate) {
	turns := max(1, min(len(f.closure)/lookedAt, 4))
	for range turns {
		f.turn = (f.turn + 1) % turns
		if out = f.turnOf(turns, sigma, share); len(out) > 0 {
			break
		}
	}
	return out
}

// turnOf is candidates of one turn.
func (f *aimFit) turnOf(turns int, sigma, share float64) (out []aimCandidate) {
	most := f.model.Total()
	use := make([]bool, len(f.closure))
	each((len(f.closure)-f.turn+turns-1)/turns, func(i int) {
		i = i*turns + f.turn
		c := &f.closure[i]
		runs := 0
		for _, level := range allLevels {
			if _, cells := f.fine.of(c.cols, level, f.groupSizes); l1*sigma*cells < most {
				runs++
			}
		}
		if runs == 0 || !f.fits(c.cols, share) {
			return
		}
		if c.sigma == 0 || sigma < c.sigma || c.age >= stale {
			if f.refresh(c, sigma) != nil {
				return // an answer that would need too much memory
			}
		}
		use[i] = true
	})
	for i, c := range f.closure {
		for _, t := range c.tables {
			if use[i] && l1*sigma*float64(len(t.estimate)) < most {
				out = append(out, t)
			}
		}
	}
	return out
}

// fits says whether the tree with the columns joined stays within the share of the memory.
func (f *aimFit) fits(cols []int, share float64) bool {
	return marginal.TreeFits(f.groupSizes, append(f.tables[:len(f.tables):len(f.tables)], cols),
		share*f.cells())
}

// beside keeps the candidates that fit beside one that was measured; those of one set of columns
// follow each other.
func (f *aimFit) beside(
	candidates []aimCandidate, measured aimCandidate, share float64,
) (out []aimCandidate) {
	fits := make([]bool, len(candidates))
	each(len(candidates), func(i int) {
		cols := candidates[i].cols
		fits[i] = (i == 0 || !slices.Equal(candidates[i-1].cols, cols)) &&
			!slices.Equal(measured.cols, cols) && f.fits(cols, share)
	})
	for i, c := range candidates {
		if i > 0 && slices.Equal(candidates[i-1].cols, c.cols) {
			fits[i] = fits[i-1]
		}
		if fits[i] {
			out = append(out, c)
		}
	}
	return out
}

// scored are the candidates with the penalties of the paper's score.
func (f *aimFit) scored(candidates []aimCandidate, sigma float64) []privacy.Candidate {
	out := make([]privacy.Candidate, len(candidates))
	for i, c := range candidates {
		runs, cells := f.fine.of(c.cols, c.level, f.groupSizes)
		out[i] = privacy.Candidate{Query: f.marginalOf(c.cols, runs), Estimate: c.estimate,
			Weight: c.weight, Penalty: l1 * sigma * cells}
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
			func(t aimCandidate) bool { return len(t.estimate) == int(cells) })) ||
			l1*sigma*cells >= f.model.Total() {
			continue
		}
		c.tables = append(c.tables, aimCandidate{c.cols, c.weight, level,
			coarsen(fine, c.cols, f.groupSizes, runs, int(cells))})
	}
	return nil
}

// expire makes estimates older, and those that share a column with the measured one due.
func (f *aimFit) expire(measured []int) {
	for i := range f.closure {
		c := &f.closure[i]
		c.age++
		if slices.ContainsFunc(measured, func(col int) bool { return slices.Contains(c.cols, col) }) {
			c.age = stale
		}
	}
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
// ‖M_r(p̂_t) − M_r(p̂_{t−1})‖₁ ≤ √(2/π)·σ_t·n_r. It makes estimates older.
func (f *aimFit) drowned(measured []aimCandidate, sigma float64) bool {
	all := true
	for _, c := range measured {
		f.expire(c.cols)
		now, err := f.tableOf(c.cols, c.level)
		if err != nil {
			return false // an answer that needs too much memory, which its clique is not
		}
		change := 0.0
		for i, x := range now {
			change += math.Abs(x - c.estimate[i])
		}
		all = all && change <= l1*sigma*float64(len(now))
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
