package synth

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// Of columns of more than apartCodes codes, those with a noisy count below groupSigmas σ are
// merged, for the model has to hold pairs. Elsewhere such codes may have most of the rows, and
// merging them hides what pairs say.
const (
	groupSigmas = 2
	apartCodes  = 128
)

// columns measures every column, part first and part when the row count is known, and the pairs of
// the target; then it decides which codes to merge and where to cut columns into runs. All that
// follows from noisy counts.
func (f *aimFit) columns() error {
	d := len(f.sizes)
	share := firstShare
	if d == 1 {
		share = 1
	}
	raw, err := f.measureColumns(share)
	if err != nil {
		return err
	}
	rows := marginal.Total(raw)
	noise := f.columnNoise(rows)
	all := f.oneWay(noise)
	if more := all - share; more > 0 && d > 1 {
		second, err := f.measureColumns(more)
		if err != nil {
			return err
		}
		for i := range raw {
			raw[i] = marginal.Average(raw[i], second[i])
		}
	}
	raw = joined(raw, f.known)
	for i := range raw {
		raw[i] = marginal.Smooth(raw[i], rows)
	}
	if f.groups, err = marginal.NewGrouping(f.sizes, raw, groupSigmas); err != nil {
		return err
	}
	f.groups = f.groups.Apart(apartCodes)
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
	if d == 1 {
		return nil
	}
	share = math.Min(f.targetShare(noise), 1-all)
	pairs := f.targetPairs(t)
	each := share * f.total / float64(len(pairs))
	for _, pair := range pairs {
		most := math.Min(rows*targetNoise/(l1*f.sigma(each)), targetCells)
		if t < 0 && most < 4 || !f.fits(pair, 1) { // noise drowns it, or no place beside those before
			continue
		}
		if err := f.measure(pair, f.coarsest(pair, most), each); err != nil {
			return err
		}
	}
	return nil
}

// mostCategories is the most categories of a column that somebody may want to predict.
const mostCategories = 4

// targetPairs lists the pairs that have a share of the budget of their own: those of the target t,
// or, if nobody says which that is, of columns that somebody may want to predict: of one or two
// such columns with every other, of more of them with each other.
func (f *aimFit) targetPairs(t int) (out [][]int) {
	targets := []int{t}
	if t < 0 {
		targets = nil
		for c, column := range f.schema.Columns {
			if f.sizes[c] <= mostCategories && !column.Kind.Ordered() {
				targets = append(targets, c)
			}
		}
	}
	for i := range f.sizes {
		for j := range i {
			a, b := slices.Contains(targets, i), slices.Contains(targets, j)
			if pair := []int{j, i}; (a && b || len(targets) < 3 && (a || b)) && f.fits(pair, 1) {
				out = append(out, pair)
			}
		}
	}
	return out
}

// The table of a pair of the target has at most targetCells cells, and as many as have an L1 error
// of targetNoise of the rows: with more, numeric columns seem to tell the target where noise does.
const (
	targetCells = 256
	targetNoise = 0.25
)

// coarsest is the first level, from full detail down, at which the pair has at most so many cells,
// or the last one.
func (f *aimFit) coarsest(pair []int, most float64) int {
	for _, level := range allLevels {
		if _, cells := f.fine.of(pair, level, f.groupSizes); cells <= most {
			return level
		}
	}
	return levels[len(levels)-1]
}

// measureColumns spends the share on the columns, each its part.
func (f *aimFit) measureColumns(share float64) (ms []marginal.Measurement, err error) {
	for c, part := range f.columnShares() {
		mu2 := share * part * f.total
		m, err := measureOne(f.session, privacy.Marginal{Cols: []int{c}}, f.sigma(mu2))
		if err != nil {
			return nil, err
		}
		f.used += mu2
		ms = append(ms, m)
	}
	f.released = append(f.released, ms...)
	return ms, nil
}
