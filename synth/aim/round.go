package aim

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/privacy"
)

// stale is how many rounds an estimate may serve for a candidate that shares no column with what
// was measured since.
const stale = 4

// l1 is E|N(0, 1)|: the L1 error that noise of standard deviation σ brings to n cells is l1·σ·n.
var l1 = math.Sqrt(2 / math.Pi)

// round chooses a marginal, measures it and estimates anew. It reports whether it was the last.
func (f *fit) round() (last bool, err error) {
	if err := f.ctx.Err(); err != nil {
		return true, err
	}
	if f.step == 0 {
		f.step = (f.total - f.used) / f.rounds()
		if f.cfg.Published {
			f.step = f.total / f.rounds()
		} else {
			f.step = math.Max(f.step, math.Min((f.total-f.used)/leastRounds, f.worthwhile()))
		}
	}
	left := f.total - f.used
	if left < 1e-6*f.total {
		return true, nil
	}
	spend := f.step
	if left < 2*f.step {
		spend, last = left, true
	}
	forChoice, forTable := f.cfg.SelectShare*spend, (1-f.cfg.SelectShare)*spend
	sigma := f.sigma(forTable)
	offers := f.offers(sigma, f.grown((f.used+spend)/f.total))
	if len(offers) == 0 {
		return true, f.again()
	}
	list := make([]privacy.Candidate, len(offers))
	for i, o := range offers {
		runs, cells := f.fine.of(o.cols, o.level, f.groupSizes)
		list[i] = privacy.Candidate{Query: f.marginalOf(o.cols, runs), Estimate: o.estimate,
			Weight: o.weight, Penalty: l1 * sigma * cells}
	}
	k, err := f.session.Select(list, f.exponential(forChoice))
	if err != nil {
		return true, err
	}
	f.used += forChoice
	best := offers[k]
	if err := f.measure(best.cols, best.level, forTable); err != nil {
		return true, err
	}
	if last {
		return true, nil
	}
	if err := f.estimate(iterations); err != nil {
		return true, err
	}
	f.age(best.cols)
	now, err := f.tableOf(best.cols, best.level)
	if err != nil {
		return true, err
	}
	change := 0.0
	for i, x := range now {
		change += math.Abs(x - best.estimate[i])
	}
	if change <= l1*sigma*float64(len(now)) {
		f.step *= 4 // half the noise, twice the ε of the choice
	}
	return false, nil
}

// grown is the share of the memory that the tree may have when a share of the budget is used: the
// same in the paper, its square here. Large trees early cost time and bring nothing.
func (f *fit) grown(used float64) float64 {
	if f.cfg.Published {
		return used
	}
	return used * used
}

// leastRounds is into how many rounds the budget is divided at least where rows are few.
const leastRounds = 6

// worthwhile is the μ² at which the noise in a table of 16 cells moves a quarter of the rows: a
// round with less learns next to nothing.
func (f *fit) worthwhile() float64 {
	return math.Pow(f.sigma(1)*l1*16/(0.25*f.model.Total()), 2)
}

// offer is a table that a round may choose.
type offer struct {
	cols     []int
	weight   float64
	level    int
	estimate []float64
}

// offers lists what fits into the share of the memory and is not bound to be drowned by the noise:
// an L1 error is at most 2n. It brings estimates up to date, on all processors.
func (f *fit) offers(sigma, share float64) []offer {
	most := f.model.Total()
	use, fresh := make([]bool, len(f.candidates)), make([]bool, len(f.candidates))
	each(len(f.candidates), func(i int) {
		c := &f.candidates[i]
		runs := 0
		for _, level := range f.levels() {
			if _, cells := f.fine.of(c.cols, level, f.groupSizes); l1*sigma*cells < most {
				runs++
			}
		}
		if runs == 0 || !f.fits(c.cols, share) {
			return
		}
		if c.tables == nil || c.age >= stale {
			if f.refresh(c) != nil {
				return // an answer that would need too much memory
			}
			fresh[i] = true
		}
		use[i] = true
	})
	f.work += candidateWork * float64(len(f.candidates))
	var out []offer
	for i := range f.candidates {
		if !use[i] {
			continue
		}
		c, offered := &f.candidates[i], 0
		for _, t := range c.tables {
			if l1*sigma*float64(len(t.estimate)) < most || f.cfg.Published {
				out = append(out, offer{c.cols, c.weight, t.level, t.estimate})
				offered++
			}
			if fresh[i] {
				f.work += float64(len(t.estimate))
			}
		}
		if offered > c.known { // the gate counts a table of a run once
			f.work += float64(offered-c.known) * most / countRate
			c.known = offered
		}
	}
	return out
}

// levels are the resolutions in use.
func (f *fit) levels() []int {
	if f.cfg.Published {
		return []int{0}
	}
	return append([]int{0}, levels...)
}

// refresh computes the estimates of a candidate at all resolutions.
func (f *fit) refresh(c *candidate) error {
	fine, err := f.tableOf(c.cols, 0)
	if err != nil {
		return err
	}
	c.tables, c.age = c.tables[:0], 0
	for _, level := range f.levels() {
		runs, cells := f.fine.of(c.cols, level, f.groupSizes)
		if level > 0 && (runs == nil || slices.ContainsFunc(c.tables,
			func(t detail) bool { return len(t.estimate) == int(cells) })) {
			continue
		}
		c.tables = append(c.tables,
			detail{level, coarsen(fine, c.cols, f.groupSizes, runs, int(cells))})
	}
	return nil
}

// age makes estimates older, and those that share a column with the measured one due.
func (f *fit) age(measured []int) {
	for i := range f.candidates {
		c := &f.candidates[i]
		c.age++
		if f.cfg.Published || slices.ContainsFunc(measured,
			func(col int) bool { return slices.Contains(c.cols, col) }) {
			c.age = stale
		}
	}
}

// tableOf is what the model expects.
func (f *fit) tableOf(cols []int, level int) ([]float64, error) {
	_, cells := f.fine.of(cols, 0, f.groupSizes)
	fine := make([]float64, int(cells))
	if err := f.model.MarginalTo(fine, cols); err != nil {
		return nil, err
	}
	runs, n := f.fine.of(cols, level, f.groupSizes)
	return coarsen(fine, cols, f.groupSizes, runs, int(n)), nil
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
