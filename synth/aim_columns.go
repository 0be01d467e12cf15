package synth

import (
	"math"
	"regexp"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
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
	f.small = noise > largeNoise && f.first == nil
	if more := all - share; more > 0 && d > 1 {
		second, err := f.measureColumns(more)
		if err != nil {
			return err
		}
		raw = joined(raw, second)
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
	f.beside = marginal.Beside(f.groupSizes, nil)
	for _, m := range raw {
		f.ms = append(f.ms, f.groups.GroupMeasurement(m))
	}
	if err := f.cut(); err != nil {
		return err
	}
	t := f.schema.Index(f.cfg.Target)
	f.closure = closure(f.sets, t)
	if !f.session.Elsewhere() { // where each further set is counted at full detail
		f.closure = append(f.closure, f.interactions(t, noise)...)
	}
	if d == 1 {
		return nil
	}
	share = math.Min(f.targetShare(noise), 1-all)
	// A pair by itself would have so many cells; cells²/16 pairs have four each. So many as have a
	// round's part of the budget each are even with the rounds.
	cells := rows * targetNoise / (l1 * f.sigma(share*f.total))
	pairs := f.targetPairs(t, noise > largeNoise, cells*cells/16,
		f.rounds()*share/(1-all-share))
	n, memory := float64(len(pairs)), math.Pow(all+share, 2) // as in a round
	most := cells / math.Sqrt(n)
	if t >= 0 {
		most, memory = math.Max(namedCells*most, math.Min(most, 4)), 1
	}
	for _, pair := range pairs {
		if t < 0 && len(f.favoured) == 0 && most < 4 || !f.fits(pair, memory) {
			// noise drowns it, or no place beside those before
			continue
		}
		if err := f.measure(pair, f.coarsest(pair, most), share*f.total/n); err != nil {
			return err
		}
	}
	return nil
}

// cut decides where columns are cut into runs: by the counts that are to be expected, for of noise
// what is above 0 may be more than the rows.
func (f *aimFit) cut() error {
	if err := f.estimate(iterations); err != nil {
		return err
	}
	mass := make([][]float64, len(f.sizes))
	for c, n := range f.groupSizes {
		mass[c] = make([]float64, n)
		if err := f.model.MarginalTo(mass[c], []int{c}); err != nil {
			return err
		}
	}
	f.fine = newResolutions(mass, func(c int) bool { return f.schema.Columns[c].Kind.Ordered() })
	return nil
}

// Pairs that nobody named, so many that each would have less than leastOfRound of a round, or more
// than there are rounds, are left to the rounds, which measure only those that matter; not where
// noise is large and they are of few columns.
const leastOfRound = 1. / 3

// mostCategories is the most categories of a column that somebody may want to predict.
const mostCategories = 4

// Where columns are noisier than largeNoise, or noise drowns the pairs of all columns that somebody
// may want to predict and a round, those of at most mostFavoured columns are measured.
const largeNoise, drownedNoise, mostFavoured = 0.2, 1, 2

var outcomes = regexp.MustCompile(`(?i)(^|[^\pL\d])(class|label|target|outcome|y|response|result|` +
	`mortality|readmission|readmitted|died|dead|death|survived|churn|default|disease|diagnosis|` +
	`income)($|[^\pL\d])`)

// IsOutcome reports whether a column's name says that it is there to be predicted.
func IsOutcome(name string) bool { return outcomes.MatchString(name) }

// likely are the columns that somebody may want to predict, of two to four categories: all of them,
// or few: the last two of those with such a name, or of those at an end of the table, or of those
// of fewest categories.
func (f *aimFit) likely(few bool) (short []int) {
	for c, column := range f.schema.Columns {
		if f.sizes[c] <= mostCategories && !column.Kind.Ordered() {
			short = append(short, c)
		}
	}
	if !few || len(short) == 0 {
		return short
	}
	fewest := slices.MinFunc(short, func(a, b int) int { return f.sizes[a] - f.sizes[b] })
	for _, is := range []func(c int) bool{
		func(c int) bool { return IsOutcome(f.schema.Columns[c].Name) },
		func(c int) bool { return c == 0 || c == len(f.sizes)-1 },
		func(c int) bool { return f.sizes[c] == f.sizes[fewest] },
	} {
		kept := slices.DeleteFunc(slices.Clone(short), func(c int) bool { return !is(c) })
		if len(kept) > 0 {
			short = kept[max(0, len(kept)-mostFavoured):]
			break
		}
	}
	f.favoured = columnNames(f.schema, short)
	return short
}

// targetPairs lists the pairs that have a share of the budget of their own: those of the target t,
// or, if nobody says which that is, of columns that somebody may want to predict: of one or two
// such columns with every other, of more of them with each other. Where noise drowns more
// than apart, and a round too, they are of few columns.
func (f *aimFit) targetPairs(t int, few bool, apart, even float64) (out [][]int) {
	if f.first != nil {
		return f.first
	}
	targets := []int{t}
	if t < 0 {
		targets = f.likely(few)
	}
	for i := range f.sizes {
		for j := range i {
			a, b := slices.Contains(targets, i), slices.Contains(targets, j)
			if pair := []int{j, i}; (a && b || len(targets) < 3 && (a || b)) && f.fits(pair, 1) {
				out = append(out, pair)
			}
		}
	}
	switch n := float64(len(out)); {
	case t < 0 && !few && n > apart && apart < even:
		return f.targetPairs(t, true, apart, even)
	case t < 0 && !f.small && n > math.Min(f.rounds(), even/leastOfRound):
		f.favoured, out = nil, nil
	}
	return out
}

// The table of a pair of the target has at most targetCells cells, and as many as have an L1 error
// of targetNoise of the rows, namedCells as many where the target is named: with more, numeric
// columns seem to tell the target where noise does.
const (
	targetCells = 256
	targetNoise = 0.25
	namedCells  = 0.4
)

// coarsest is the first level, from full detail down, at which the pair has at most so many cells,
// or quarters; halves, if even four cells are too many.
func (f *aimFit) coarsest(pair []int, most float64) int {
	for _, level := range allLevels[:len(allLevels)-1] {
		if _, cells := f.fine.of(pair, level, f.groupSizes); cells <= math.Min(most, targetCells) {
			return level
		}
	}
	if most < 4 {
		return halves
	}
	return quarters
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
