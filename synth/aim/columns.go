package aim

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/marginal"
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
	if f.cfg.Published {
		f.groups = marginal.NoGroups(f.sizes)
	} else {
		for i := range raw {
			raw[i] = marginal.Smooth(raw[i])
		}
		f.groups, err = marginal.NewGrouping(f.sizes, raw, groupSigmas, f.constrained()...)
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
	for _, r := range f.plan.constraints {
		f.zeros = append(f.zeros, r.zeros)
		f.tables = append(f.tables, r.zeros.Cols)
	}
	if cells, err := marginal.TreeCells(f.groupSizes, f.tables); err != nil ||
		float64(cells) > f.cells() {
		return fmt.Errorf("aim: the constraints need more than memory_mb %d: %w", f.cfg.MemoryMB,
			synth.ErrConfig)
	}
	t := f.schema.Index(f.cfg.Target)
	f.closure = closure(f.sets, t)
	if t < 0 || d == 1 {
		return nil
	}
	for i := range d {
		pair := []int{min(i, t), max(i, t)}
		if i == t || !f.fits(pair, 1) {
			continue
		}
		if err := f.measure(pair, f.coarsest(pair),
			f.cfg.TargetShare*f.total/float64(d-1)); err != nil {
			return err
		}
	}
	return nil
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

// constrained lists the columns that a constraint names: their codes are kept apart.
func (f *fit) constrained() (cols []int) {
	for _, r := range f.plan.constraints {
		cols = append(cols, r.zeros.Cols...)
	}
	return cols
}

// measureColumns spends the share on all columns evenly.
func (f *fit) measureColumns(share float64) ([]marginal.Measurement, error) {
	mu2 := share * f.total / float64(len(f.sizes))
	ms, err := synth.MeasureColumns(f.session, f.sigma(mu2))
	for range ms {
		f.used += mu2
	}
	f.released = append(f.released, ms...)
	return ms, err
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
