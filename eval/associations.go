package eval

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/table"
)

// associationGroups are the groups of about equally many rows of the first table that a number is
// cut into beside a category.
const associationGroups = 8

// associations measures how strongly every two columns of each table go together, as square
// matrices in schema order with 1 on the diagonal: Pearson's correlation (−1 to 1) of two numbers,
// which count as the middle of their bin, and the corrected Cramér's V (0 to 1) of all other pairs,
// for which numbers are cut into eight groups of about equally many rows of the first table, and
// its rare categories are taken together. NaN where a column has one value only. Sources:
// [ColumnPairTrends]; Bergsma 2013, Journal of the Korean Statistical Society 42, for V.
func associations(columns []column, tables ...*table.Table) [][][]Number {
	of := associationOf(columns, tables[0])
	out := make([][][]Number, len(tables))
	for k, t := range tables {
		m := make([][]Number, len(columns))
		for i := range m {
			m[i] = make([]Number, len(columns))
			m[i][i] = 1
			for j := range i {
				m[i][j] = of(t, i, j)
				m[j][i] = m[i][j]
			}
		}
		out[k] = m
	}
	return out
}

// associationOf gives the association of two columns of any table, in groups of the first one.
func associationOf(columns []column, first *table.Table) func(t *table.Table, i, j int) Number {
	groups, sizes := make([][]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		groups[i], sizes[i] = c.levels(first.Counts(i))
	}
	return func(t *table.Table, i, j int) Number {
		if columns[i].numeric() && columns[j].numeric() {
			return Number(correlation(t, columns, i, j))
		}
		return Number(cramer(contingency(i, j, groups, sizes, t)))
	}
}

// levels cuts a number into groups of about equally many rows; missing is a group. Of categories,
// those of fewer than ten rows or a thousandth, with which χ² says little, make up one group, or if
// that has fewer rows still, join the most frequent category.
func (c column) levels(count []int64) (group []int, size int) {
	if total := sum(count); !c.numeric() {
		few, frequent, pooled := max(10, total/1000), 0, total
		for _, n := range count {
			if n >= few {
				frequent++
				pooled -= n
			}
		}
		if frequent == 0 {
			frequent, pooled = 1, total-slices.Max(count)
		}
		if group, size = Commonest(count, frequent); size > frequent && pooled < few {
			size--
			for code, g := range group {
				group[code] = g % size
			}
		}
		return group, size
	}
	return c.even(count, associationGroups)
}

// even gives every number a group, or where they are more than most, neighbours a common one as
// soon as they fill their share of the rows and groups still left; missing is one more.
func (c column) even(count []int64, most int) (group []int, size int) {
	count, group = count[:len(c.place)], make([]int, c.size)
	rest, in := sum(count), int64(0)
	for code, n := range count {
		group[code] = size
		in += n
		full := in > 0 && in >= rest/int64(most-size) || len(count) <= most
		if full && size < most-1 && code < len(count)-1 {
			rest, in = rest-in, 0
			size++
		}
	}
	if size++; c.values < c.size {
		group[c.values] = size
		size++
	}
	return group, size
}

// contingency counts the rows of tables by the groups of two columns.
func contingency(i, j int, groups [][]int, sizes []int, tables ...*table.Table) [][]int64 {
	out := make([][]int64, sizes[i])
	for k := range out {
		out[k] = make([]int64, sizes[j])
	}
	for _, t := range tables {
		second, x, y := t.Column(j), groups[i], groups[j]
		forEachCode(t.Column(i), func(row, code int) { out[x[code]][y[second.At(row)]]++ })
	}
	return out
}

// cramer is Cramér's V with Bergsma's bias correction, 0 to 1, over the rows and columns that
// occur; NaN if there is only one of either. With φ² = χ²/n of an r × k table,
//
//	φ̃² = max(0, φ² − (r−1)(k−1)/(n−1)),  r̃ = r − (r−1)²/(n−1),  V = √(φ̃²/min(r̃−1, k̃−1))
func cramer(n [][]int64) float64 {
	rows, cols := make([]float64, len(n)), make([]float64, len(n[0]))
	for i, row := range n {
		for j, v := range row {
			rows[i] += float64(v)
			cols[j] += float64(v)
		}
	}
	total, phi := floats.Sum(rows), -1. // χ²/n = Σ n_ij²/(n_i n_j) − 1
	for i, row := range n {
		for j, v := range row {
			if v > 0 {
				phi += float64(v) * float64(v) / (rows[i] * cols[j])
			}
		}
	}
	// of the table without rows and columns that do not occur, less one
	occurs := func(v float64) bool { return v > 0 }
	high, wide := float64(floats.Count(occurs, rows)-1), float64(floats.Count(occurs, cols)-1)
	if high < 1 || wide < 1 || total < 2 {
		return math.NaN()
	}
	phi = max(0, phi-high*wide/(total-1))
	least := min(high-high*high/(total-1), wide-wide*wide/(total-1))
	if least <= 0 {
		return math.NaN()
	}
	return min(1, math.Sqrt(phi/least))
}

// PairLoss is by how much the association of two columns is off.
type PairLoss struct {
	First  string `json:"first"` // columns, in schema order
	Second string `json:"second"`
	Real   Number `json:"real"`
	// of the holdout; NaN without one
	Holdout Number `json:"holdout"`
	// 0 where a column of the synthetic table has one value only
	Synthetic Number `json:"synthetic"`
	Excess    Number `json:"excess"` // |Real − Synthetic| beyond sampling error, 0 or more
	// it is off by 2.5 times what chance makes of it: the two standard errors of its band, or the
	// largest difference between halves of the real or of the synthetic table in five splits, which
	// is larger where a few rows make an association; more where fewer than ten rows have what is
	// rare in a column
	Certain bool `json:"-"`
}

// AssociationLosses is how the associations of two tables differ.
type AssociationLosses struct {
	Columns []string `json:"columns"`
	// Of every two columns Pearson's correlation (−1 to 1), if both are numbers, else the corrected
	// Cramér's V (0 to 1). Numbers count as the middle of their bin, and beside a category in eight
	// groups of about equally many rows; rare categories are taken together. NaN where a column has
	// one value only. Holdout is nil without one.
	Real      [][]Number `json:"real"`
	Holdout   [][]Number `json:"holdout,omitempty"`
	Synthetic [][]Number `json:"synthetic"`
	// by how much two real tables differ: sampling error of most pairs
	Band Number `json:"band"`
	Kept Number `json:"-"` // AssociationKept; NaN if no columns are associated
	// what two halves of the real table keep of it, which is the yardstick
	Halves Number     `json:"-"`
	Pairs  []PairLoss `json:"pairs"` // that are defined in the real table, the worst first
	// columns that are associated with some in the real table and keep less than a fifth of the
	// strength of that, beyond chance
	Unrelated []string `json:"unrelated,omitempty"`
}

// LostAssociations compares the associations of a synthetic table with those of the real one,
// beyond their sampling error. The band is 2·√(1/n + 1/m), two standard errors of the difference of
// two correlations near 0. The holdout, which may be nil, is measured beside them. Pairs about
// which few rows speak have a wider one: the same with their complete rows, or the effect of three
// rows that have what is rare in both columns, 3/√(a·b), where a and b rows are not of the most
// frequent value. Pairs of at least .1 and their band are associated.
//
// Name AssociationKept. Alias none; CorrelationSimilarity (SDMetrics) scores all pairs, of which
// most are not associated and easy to get right. 1 − Σ excess / Σ |real| over the associated pairs.
// Range at most 1; below 0 where associations turned round; goal: 1. Source: none.
func LostAssociations(real, synthetic, holdout *table.Table) (AssociationLosses, error) {
	tables := []*table.Table{real, synthetic}
	if holdout != nil {
		tables = append(tables, holdout)
	}
	columns, err := compatible(tables...)
	if err != nil {
		return AssociationLosses{}, err
	}
	of := associationOf(columns, real)
	// by how much two halves of a table differ at most, in the first splits
	halved := func(t *table.Table) func(i, j, splits int) Number {
		var all [halfSplits][2]*table.Table
		for k := range all {
			all[k][0], all[k][1] = halves(t, uint64(k+1))
		}
		return func(i, j, splits int) (most Number) {
			for _, half := range all[:splits] {
				if d := of(half[0], i, j) - of(half[1], i, j); d == d {
					most = max(most, d, -d)
				}
			}
			return most
		}
	}
	realHalves, syntheticHalves := halved(real), halved(synthetic)
	m := associations(columns, tables...)
	out := AssociationLosses{Real: m[0], Synthetic: m[1],
		Band: Number(band(real.Rows(), synthetic.Rows()))}
	if holdout != nil {
		out.Holdout = m[2]
	}
	first, rare := support(real, columns)
	second, _ := support(synthetic, columns)
	var lost, byChance, all Number
	kept, strong := make([]Number, len(columns)), make([]Number, len(columns))
	off := make([]bool, len(columns))
	for j, b := range columns {
		out.Columns = append(out.Columns, b.name)
		for i, a := range columns[:j] {
			p := PairLoss{a.name, b.name, out.Real[i][j], Number(math.NaN()), out.Synthetic[i][j], 0, false}
			if math.IsNaN(float64(p.Real)) {
				continue
			}
			if math.IsNaN(float64(p.Synthetic)) {
				p.Synthetic = 0
			}
			if holdout != nil {
				p.Holdout = out.Holdout[i][j]
			}
			width := max(out.Band,
				Number(band(min(first[i], first[j]), min(second[i], second[j]))),
				Number(3/math.Sqrt(float64(rare[i])*float64(rare[j]))))
			strength := Number(math.Abs(float64(p.Real)))
			p.Excess = max(0, p.off()-width)
			certain := 2.5 * max(1, fewRows/Number(min(rare[i], rare[j])))
			p.Certain = p.off() > certain*width &&
				p.off() > certain*max(realHalves(i, j, halfSplits), syntheticHalves(i, j, halfSplits))
			out.Pairs = append(out.Pairs, p)
			if strength >= max(.1, width) {
				lost, all = lost+p.Excess, all+strength
				byChance += max(0, realHalves(i, j, 1)-width)
				same := p.Synthetic * Number(math.Copysign(1, float64(p.Real)))
				for _, k := range []int{i, j} {
					strong[k] += strength
					kept[k] += min(strength, max(0, same))
					off[k] = off[k] || p.Certain
				}
			}
		}
	}
	out.Kept, out.Halves = 1-lost/all, 1-byChance/all
	for k, c := range columns {
		if off[k] && kept[k] < strong[k]/5 {
			out.Unrelated = append(out.Unrelated, c.name)
		}
	}
	out.sort()
	return out, nil
}

// sort sorts the pairs, the worst first.
func (a *AssociationLosses) sort() {
	slices.SortStableFunc(a.Pairs, func(a, b PairLoss) int {
		return cmp.Or(cmp.Compare(b.Excess, a.Excess), cmp.Compare(b.off(), a.off()))
	})
}

const (
	fewRows    = 10 // rows of what is rare in a column that there must be for a pair to be certain
	halfSplits = 5  // random splits into halves, of which the worst shows what chance makes
)

func (p PairLoss) off() Number { return Number(math.Abs(float64(p.Real - p.Synthetic))) }

// band is two standard errors of the difference of two correlations near 0, of n and of m rows.
func band(n, m int) float64 { return 2 * math.Sqrt(1/float64(max(n, 1))+1/float64(max(m, 1))) }

// support is how many rows speak about each column: those with a number, and of a column that is
// none, where missing is a value, all. rare are those that are not of the most frequent value.
func support(t *table.Table, columns []column) (present, rare []int) {
	for i, c := range columns {
		count, rows := t.Counts(i), t.Rows()
		if c.numeric() {
			rows -= int(sum(count[c.values:]))
			count = count[:c.values]
		}
		present, rare = append(present, rows), append(rare, rows-int(slices.Max(count)))
	}
	return present, rare
}
