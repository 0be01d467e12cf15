package aim

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
)

// groupSigmas is the noisy count in σ below which codes are merged.
const groupSigmas = 2

// columns measures every column, part first and part when the row count is known, and the pairs of
// the target; then it decides which codes to merge and where to cut columns into runs. All that
// follows from noisy counts.
func (f *fit) columns() error {
	d := len(f.sizes)
	share := firstShare
	switch {
	case d == 1:
		share = 1
	case f.cfg.Published:
		share = (1 - f.cfg.SelectShare) * float64(d) / f.rounds()
	}
	raw, err := f.measureColumns(share)
	if err != nil {
		return err
	}
	if more := f.oneWay(rowsOf(raw)) - share; !f.cfg.Published && more > 0 && d > 1 {
		second, err := f.measureColumns(more)
		if err != nil {
			return err
		}
		for i := range raw {
			raw[i] = marginal.Average(raw[i], second[i])
		}
	}
	raw = synth.Known(raw, f.known)
	if f.cfg.Published {
		f.groups = marginal.NoGroups(f.sizes)
	} else {
		for i := range raw {
			raw[i] = marginal.Smooth(raw[i])
		}
		f.groups, err = marginal.NewGrouping(f.sizes, raw, groupSigmas)
		if err != nil {
			return err
		}
	}
	f.groupSizes = f.groups.Sizes()
	mass := make([][]float64, d)
	for i, m := range raw {
		m = f.groups.GroupMeasurement(m)
		f.ms = append(f.ms, m)
		f.tables = append(f.tables, m.Cols)
		for _, x := range m.Counts {
			mass[i] = append(mass[i], math.Max(x, 0))
		}
	}
	f.fine = newResolutions(mass)
	t := f.schema.Index(f.cfg.Target)
	f.closure = closure(f.sets, t)
	if d == 1 || f.cfg.Published {
		return nil
	}
	pairs := f.targetPairs(f.targets(t))
	for _, pair := range pairs {
		if err := f.measure(pair, f.coarsest(pair),
			f.targetShare()*f.total/float64(len(pairs))); err != nil {
			return err
		}
	}
	return nil
}

// targets lists the columns whose pairs are measured in any case: the one named t, or those that
// somebody may want to predict if nobody says which, columns of two or three categories, if there
// are at most two: the pairs of more of them would be drowned.
func (f *fit) targets(t int) (out []int) {
	if t >= 0 {
		return []int{t}
	}
	for c, k := range f.sizes {
		if k <= 3 && !f.schema.Columns[c].Kind.Ordered() {
			out = append(out, c)
		}
	}
	if len(out) > 2 {
		return nil
	}
	return out
}

// targetPairs lists the pairs of a target and another column.
func (f *fit) targetPairs(targets []int) (out [][]int) {
	for _, t := range targets {
		for i := range f.sizes {
			pair := []int{min(i, t), max(i, t)}
			if i != t && (i > t || !slices.Contains(targets, i)) && f.fits(pair, 1) {
				out = append(out, pair)
			}
		}
	}
	return out
}

// coarsest is the first level, from full detail down, at which the pair has at most 256 cells, or
// the last one.
func (f *fit) coarsest(pair []int) int {
	for _, level := range append([]int{0}, levels...) {
		if _, cells := f.fine.of(pair, level, f.groupSizes); cells <= 256 {
			return level
		}
	}
	return levels[len(levels)-1]
}

// measureColumns spends the share on the columns, evenly in the published form.
func (f *fit) measureColumns(share float64) (ms []marginal.Measurement, err error) {
	for c, part := range f.columnShares() {
		mu2 := share * part * f.total
		m, err := synth.Measure(f.session, privacy.Marginal{Cols: []int{c}}, f.sigma(mu2))
		if err != nil {
			return nil, err
		}
		f.used += mu2
		ms = append(ms, m)
	}
	f.released = append(f.released, ms...)
	return ms, nil
}

// rowsOf is the row count that the columns agree on, by inverse variance.
func rowsOf(ms []marginal.Measurement) float64 {
	num, den := 0.0, 0.0
	for _, m := range ms {
		w := 1 / (float64(len(m.Counts)) * m.Sigma * m.Sigma)
		for _, x := range m.Counts {
			num += w * x
		}
		den += w
	}
	return num / den
}
