package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/data/table"
)

const (
	coarseGroups = 4  // that a column is cut into, at most
	knives       = 20 // groups of rows of which each is left out once
)

// Relations is what a synthetic table keeps of the relations of every two columns. Tables are
// coarse: a column whose codes have an order is cut into four runs of about a quarter of the real
// rows each, of others the three commonest codes of the real table are kept apart. Of such a table,
// as shares of the rows, the residual is what it is more or less than the product of its margins.
type Relations struct {
	// the slope of synthetic residuals on real ones, Σ real·synthetic/Σ real², over all cells of all
	// pairs; NaN if the real table has none
	Kept Interval
	// mean total variation distance of the tables, 0 to 1
	Coarse float64
	// mean |difference| of Spearman's correlations of two numbers, 0 to 2, and of the corrected
	// Cramér's V of all other pairs, 0 to 1, where the real one is defined; NaN without such pairs
	Spearman, Cramer float64
}

// KeptRelations measures them, with an interval of that level, in (0, 1), of what chance makes of
// the rows: by leaving out one twentieth of both tables after the other, drawn by a public seed
// (the delete-a-group jackknife; Kott 2001, Journal of Official Statistics 17), with Student's t.
// Tables of one column give an error that wraps [ErrTables].
//
// Name RelationsKept. Alias none. Range any number; goal: 1, in practice what two halves of the
// real table keep; 0 is independence. Source: the slope of a regression through the origin.
//
// Name CoarseError. Alias none; k-marginal error (SDNist) of coarse columns. Range 0 to 1; goal: 0,
// in practice that of two samples of the real table. Source: [MarginalError].
//
// Name SpearmanError. Alias none; CorrelationSimilarity (SDMetrics) is 1 less half of one pair's.
// Range 0 to 2; goal: 0. Source: Spearman 1904, American Journal of Psychology 15.
//
// Name CramerError. Alias none. Range 0 to 1; goal: 0. Source: Bergsma 2013, Journal of the Korean
// Statistical Society 42.
func KeptRelations(real, synthetic *table.Table, level float64, seed uint64) (Relations, error) {
	columns, err := compatible(real, synthetic)
	if err == nil && len(columns) < 2 {
		err = errors.Join(errors.New("a table of one column has no pairs"), ErrTables)
	}
	if err == nil {
		err = checkLevel(level)
	}
	if err != nil {
		return Relations{}, err
	}
	groups, sizes := make([][]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		groups[i], sizes[i] = c.coarse(real.Counts(i))
	}
	pairs := combin.Combinations(len(columns), 2)
	found := make([]pairKept, len(pairs))
	knife := [2][]uint8{cuts(real.Rows(), seed), cuts(synthetic.Rows(), seed+1)}
	inParallel(len(pairs), func() func(int) {
		return func(k int) {
			i, j := pairs[k][0], pairs[k][1]
			cell := func(t *table.Table, knife []uint8) [][]float64 {
				return cutCounts(t, knife, i, j, groups, sizes)
			}
			found[k].of(cell(real, knife[0]), cell(synthetic, knife[1]), sizes[j])
		}
	})
	out := keptOf(found, level)
	out.Spearman, out.Cramer = rankErrors(columns, real, synthetic)
	return out, nil
}

// coarse cuts a column into groups by the counts of its codes.
func (c column) coarse(count []int64) (group []int, size int) {
	if !c.numeric() {
		return Commonest(count, coarseGroups-1)
	}
	group = make([]int, len(count))
	before, total := int64(0), sum(count)
	for code, n := range count {
		middle := float64(before) + float64(n)/2
		group[code] = min(int(coarseGroups*middle/float64(total)), coarseGroups-1)
		before += n
	}
	return group, coarseGroups
}

// cuts deals rows to the groups of which each is left out once.
func cuts(rows int, seed uint64) []uint8 {
	out := make([]uint8, rows)
	for place, row := range rand.New(rand.NewPCG(seed, 70)).Perm(rows) {
		out[row] = uint8(place % knives)
	}
	return out
}

// cutCounts counts the cells of a coarse pair without each group of rows, and at last of all rows.
func cutCounts(t *table.Table, knife []uint8, i, j int, groups [][]int, sizes []int) [][]float64 {
	out := make([][]float64, knives+1)
	for k := range out {
		out[k] = make([]float64, sizes[i]*sizes[j])
	}
	second, x, y := t.Column(j), groups[i], groups[j]
	forEachCode(t.Column(i), func(row, code int) {
		out[knife[row]][x[code]*sizes[j]+y[second.At(row)]]++
	})
	all := out[knives]
	for _, part := range out[:knives] {
		floats.Add(all, part)
	}
	for _, part := range out[:knives] {
		floats.SubTo(part, all, part)
	}
	return out
}

// pairKept are the sums of one pair, without each group of rows and at last of all rows.
type pairKept struct {
	product, square [knives + 1]float64 // Σ real·synthetic, Σ real²
	distance        float64
}

// of sums over the cells of a table of that width.
func (p *pairKept) of(real, synthetic [][]float64, width int) {
	for k := range real {
		a, b := residual(real[k], width), residual(synthetic[k], width)
		p.product[k], p.square[k] = floats.Dot(a, b), floats.Dot(a, a)
	}
	all, other := real[knives], synthetic[knives]
	floats.Scale(1/floats.Sum(all), all)
	floats.Scale(1/floats.Sum(other), other)
	p.distance = floats.Distance(all, other, 1) / 2
}

// residual is a table of counts, as shares, less the product of its margins.
func residual(count []float64, width int) []float64 {
	total := math.Max(floats.Sum(count), 1)
	rows, cols := make([]float64, len(count)/width), make([]float64, width)
	for cell, n := range count {
		rows[cell/width] += n / total
		cols[cell%width] += n / total
	}
	out := make([]float64, len(count))
	for cell, n := range count {
		out[cell] = n/total - rows[cell/width]*cols[cell%width]
	}
	return out
}

// keptOf adds up the pairs.
func keptOf(pairs []pairKept, level float64) (out Relations) {
	var product, square [knives + 1]float64
	for _, p := range pairs {
		floats.Add(product[:], p.product[:])
		floats.Add(square[:], p.square[:])
		out.Coarse += p.distance / float64(len(pairs))
	}
	if square[knives] < 1e-12 { // no residual but rounding
		out.Kept = Interval{math.NaN(), math.NaN(), math.NaN()}
		return out
	}
	slopes := make([]float64, knives)
	floats.DivTo(slopes, product[:knives], square[:knives])
	slope := product[knives] / square[knives]
	half := math.Sqrt((knives-1)*stat.PopVariance(slopes, nil)) *
		distuv.StudentsT{Sigma: 1, Nu: knives - 1}.Quantile((1+level)/2)
	out.Kept = Interval{slope, slope - half, slope + half}
	return out
}

// rankErrors are the mean differences of Spearman's correlations and of Cramér's V. An association
// that the synthetic table does not define counts as 0.
func rankErrors(columns []column, real, synthetic *table.Table) (spearman, cramer float64) {
	of := associationOf(columns, real)
	first, second := byRank(columns, real), byRank(columns, synthetic)
	var sums, pairs [2]float64
	for j := range columns {
		for i := range j {
			kind, a, b := 0, correlation(real, first, i, j), correlation(synthetic, second, i, j)
			if !columns[i].numeric() || !columns[j].numeric() {
				kind, a, b = 1, float64(of(real, i, j)), float64(of(synthetic, i, j))
			}
			if math.IsNaN(b) {
				b = 0
			}
			if !math.IsNaN(a) {
				sums[kind] += math.Abs(a - b)
				pairs[kind]++
			}
		}
	}
	return sums[0] / pairs[0], sums[1] / pairs[1]
}

// byRank are the columns with the middle ranks of their numbers in a table in place of the numbers.
func byRank(columns []column, t *table.Table) []column {
	out := slices.Clone(columns)
	for i, c := range out {
		if !c.numeric() {
			continue
		}
		before := 0.
		out[i].place = make([]float64, c.values)
		for code, n := range t.Counts(i)[:c.values] {
			out[i].place[code] = before + float64(n)/2
			before += float64(n)
		}
	}
	return out
}
