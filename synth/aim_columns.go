package synth

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// groupSigmas is the noisy count in σ below which codes are merged where columnNoise is below
// largeTable. Elsewhere such codes have most of the rows, and merging them hides what pairs say; of
// columns of more than apartCodes they are merged all the same, for the model has to hold pairs.
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
	raw, err := f.measureColumns(share, f.columnShares())
	if err != nil {
		return err
	}
	rows := marginal.Total(raw)
	noise := f.columnNoise(rows)
	all := f.oneWay(noise)
	if more := all - share; more > 0 && d > 1 {
		parts := f.columnShares()
		if all == 1 {
			parts = slices.Repeat([]float64{1 / float64(d)}, d)
		}
		second, err := f.measureColumns(more, parts)
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
	if noise >= largeTable {
		f.groups = f.groups.Apart(apartCodes)
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
	if d == 1 {
		return nil
	}
	share = math.Min(f.targetShare(noise), 1-all)
	pairs := f.targetPairs(t, rows, share)
	each := share * f.total / float64(len(pairs))
	for _, pair := range pairs {
		if !f.fits(pair, 1) { // beside those before
			continue
		}
		most := math.Min(rows*targetNoise/(l1*f.sigma(each)), targetCells)
		if err := f.measure(pair, f.coarsest(pair, most), each); err != nil {
			return err
		}
	}
	return nil
}

// targetPairs lists the pairs that are measured in any case, with that share of the budget: those
// of the target t, or, if nobody says which that is, of columns that somebody may want to predict:
// each of one or two such columns with every other, more of them with each other.
func (f *aimFit) targetPairs(t int, rows, share float64) (out [][]int) {
	targets := []int{t}
	if t < 0 {
		targets = f.short(rows, share)
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

// mostCategories is the most categories of a column that somebody may want to predict.
const mostCategories = 4

// short lists columns of few categories. More than two are those whose pairs with each other stand
// out of the noise if all are measured, and have a joint table of few cells: of a pair, the L1
// distance from independence is at most 2·rows·(1 − Σp²), p the shares of either column's codes.
func (f *aimFit) short(rows, share float64) (out []int) {
	worth := map[int]float64{} // that distance beside the L1 error of such a table at σ = 1
	for c, m := range f.ms {
		if f.sizes[c] > mostCategories || f.schema.Columns[c].Kind.Ordered() {
			continue
		}
		equal, sum := 0.0, 0.0
		for _, x := range m.Counts {
			x = math.Max(x, 0)
			equal += x * x
			sum += x
		}
		k := float64(len(m.Counts))
		out, worth[c] = append(out, c), 2*rows*(1-equal/(sum*sum))/(l1*k*k)
	}
	if len(out) < 3 {
		return out
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	for ; len(out) > 2; out = out[:len(out)-1] {
		cells := 1
		for _, c := range out {
			cells = min(cells*f.groupSizes[c], shortCells+1)
		}
		pairs := float64(len(out) * (len(out) - 1) / 2)
		noise := f.sigma(share * f.total / pairs)
		if cells <= shortCells && worth[out[len(out)-1]] > shortWorth*noise {
			return out
		}
	}
	return nil
}

// A joint table of short columns has at most shortCells cells, and the distances of its pairs are
// at least shortWorth of their noise. Chosen on heart_cleveland, titanic, acs_ma2019 and cervical.
const (
	shortCells = 2048
	shortWorth = 0.5
)

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
func (f *aimFit) measureColumns(
	share float64, parts []float64,
) (ms []marginal.Measurement, err error) {
	for c, part := range parts {
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
