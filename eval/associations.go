package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

// associationGroups are the groups of about equally many rows of the first table that a number is
// cut into beside a category.
const associationGroups = 8

// Associations measures how strongly every two columns of each table go together, as square
// matrices in schema order with 1 on the diagonal: Pearson's correlation (−1 to 1) of two numbers,
// which count as the middle of their bin, and the corrected Cramér's V (0 to 1) of all other pairs,
// for which numbers are cut into eight groups of about equally many rows of the first table, and
// its rare categories are taken together. NaN where a column has one value only. Sources:
// [ColumnPairTrends]; Bergsma 2013, Journal of the Korean Statistical Society 42, for V.
func Associations(tables ...*table.Table) ([][][]float64, error) {
	columns, err := compatible(tables...)
	if err != nil {
		return nil, err
	}
	groups, sizes := make([][]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		count := make([]int64, c.size)
		tables[0].CountTo(count, []int{i})
		groups[i], sizes[i] = c.levels(count)
	}
	var out [][][]float64
	for _, t := range tables {
		m := make([][]float64, len(columns))
		for i := range m {
			m[i] = make([]float64, len(columns))
			m[i][i] = 1
			for j := range i {
				v := math.NaN()
				if !columns[i].numeric() || !columns[j].numeric() {
					v = cramer(contingency(t, [2]int{i, j}, groups, sizes))
				} else if r, ok := correlation(t, columns, [2]int{i, j}); ok {
					v = r
				}
				m[i][j], m[j][i] = v, v
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// levels cuts a number into groups of about equally many rows; missing is a group. Of categories,
// those of fewer than ten rows or a thousandth, with which χ² says little, make up one group, or if
// that has fewer rows still, join the most frequent category.
func (c column) levels(count []int64) (group []int, size int) {
	group = make([]int, c.size)
	if !c.numeric() {
		total, pooled := int64(0), int64(0)
		for _, n := range count {
			total += n
		}
		few, most := max(10, total/1000), slices.Index(count, slices.Max(count))
		for code, n := range count {
			if n >= few || code == most {
				group[code] = size
				size++
			} else {
				pooled += n
			}
		}
		rest := size
		if pooled < few {
			rest = group[most]
		} else {
			size++
		}
		for code, n := range count {
			if n < few && code != most {
				group[code] = rest
			}
		}
		return group, size
	}
	total, below := int64(0), int64(0)
	for _, n := range count[:len(c.place)] {
		total += n
	}
	for code := range c.place {
		middle := 2*below + count[code] // twice the rank of the code's middle row
		group[code] = min(int(middle*associationGroups/max(2*total, 1)), associationGroups-1)
		below += count[code]
	}
	size = associationGroups
	if c.missing >= 0 {
		group[c.missing] = size
		size++
	}
	return group, size
}

// contingency counts the rows by the groups of two columns.
func contingency(t *table.Table, at [2]int, groups [][]int, sizes []int) [][]float64 {
	out := make([][]float64, sizes[at[0]])
	for i := range out {
		out[i] = make([]float64, sizes[at[1]])
	}
	second, x, y := t.Column(at[1]), groups[at[0]], groups[at[1]]
	forEachCode(t.Column(at[0]), func(i, code int) { out[x[code]][y[second.At(i)]]++ })
	return out
}

// cramer is Cramér's V with Bergsma's bias correction, 0 to 1, over the rows and columns that
// occur; NaN if there is only one of either. With φ² = χ²/n of an r × k table,
//
//	φ̃² = max(0, φ² − (r−1)(k−1)/(n−1)),  r̃ = r − (r−1)²/(n−1),  V = √(φ̃²/min(r̃−1, k̃−1))
func cramer(n [][]float64) float64 {
	var total float64
	rows, cols := make([]float64, len(n)), make([]float64, len(n[0]))
	for i := range n {
		for j, v := range n[i] {
			rows[i] += v
			cols[j] += v
			total += v
		}
	}
	phi := -1.
	for i := range n {
		for j, v := range n[i] {
			if v > 0 {
				phi += v * v / (rows[i] * cols[j]) // χ²/n = Σ n_ij²/(n_i n_j) − 1
			}
		}
	}
	r, k := occurring(rows), occurring(cols)
	if r < 2 || k < 2 || total < 2 {
		return math.NaN()
	}
	phi = max(0, phi-(r-1)*(k-1)/(total-1))
	r, k = r-(r-1)*(r-1)/(total-1), k-(k-1)*(k-1)/(total-1)
	if min(r, k) <= 1 {
		return math.NaN()
	}
	return min(1, math.Sqrt(phi/(min(r, k)-1)))
}

func occurring(x []float64) float64 {
	n := 0.
	for _, v := range x {
		if v > 0 {
			n++
		}
	}
	return n
}

// PairLoss is by how much the association of two columns is off.
type PairLoss struct {
	First, Second int // columns, First < Second
	// associations; 0 where a column of the synthetic table has one value only
	Real, Synthetic float64
	Holdout         float64 // NaN without one
	Excess          float64 // |Real − Synthetic| beyond sampling error, 0 or more
}

// AssociationLosses is how the associations of two tables differ.
type AssociationLosses struct {
	Real, Synthetic [][]float64 // Associations
	Holdout         [][]float64 // nil without one
	Band            float64     // by how much two real tables differ: sampling error of most pairs
	Kept            float64     // AssociationKept; NaN if no columns are associated
	Pairs           []PairLoss  // that are defined in the real table, the worst first
}

// LostAssociations compares the associations of a synthetic table with those of the real one,
// beyond their sampling error. The holdout, which may be nil, shows that error: the band is the 95
// % quantile of its differences from the real table. Without one, or with fewer than ten pairs, the
// band is 2·√(1/n + 1/m), two standard errors of the difference of two correlations near 0. Pairs
// about which few rows speak have a wider one: the same with their complete rows, or the effect of
// three rows that have what is rare in both columns, 3/√(a·b), where a and b rows are not of the
// most frequent value. Pairs of at least .1 and their band are associated.
//
// Name AssociationKept. Alias none; CorrelationSimilarity (SDMetrics) scores all pairs, of which
// most are not associated and easy to get right. 1 − Σ excess / Σ |real| over the associated pairs.
// Range at most 1; below 0 where associations turned round; goal: 1. Source: none; the band is the
// 95 % limit of agreement of Bland & Altman 1986, Lancet 327.
func LostAssociations(real, synthetic, holdout *table.Table) (AssociationLosses, error) {
	tables := []*table.Table{real, synthetic}
	other := synthetic
	if holdout != nil {
		tables, other = append(tables, holdout), holdout
	}
	m, err := Associations(tables...)
	if err != nil {
		return AssociationLosses{}, err
	}
	out := AssociationLosses{Real: m[0], Synthetic: m[1], Band: band(real.Rows(), other.Rows())}
	if holdout != nil {
		out.Holdout = m[2]
		var gaps []float64
		for i := range out.Real {
			for j := range i {
				if g := math.Abs(out.Real[i][j] - out.Holdout[i][j]); g == g {
					gaps = append(gaps, g)
				}
			}
		}
		if len(gaps) >= 10 {
			slices.Sort(gaps)
			out.Band = quantile(gaps, .95)
		}
	}
	first, err := supportOf(real)
	if err != nil {
		return AssociationLosses{}, err
	}
	second, err := supportOf(synthetic)
	if err != nil {
		return AssociationLosses{}, err
	}
	lost, all := 0., 0.
	for j := range out.Real {
		for i := range j {
			p := PairLoss{First: i, Second: j, Real: out.Real[i][j], Synthetic: out.Synthetic[i][j],
				Holdout: math.NaN()}
			if math.IsNaN(p.Real) {
				continue
			}
			if math.IsNaN(p.Synthetic) {
				p.Synthetic = 0
			}
			if holdout != nil {
				p.Holdout = out.Holdout[i][j]
			}
			width := max(out.Band, band(min(first[i].present, first[j].present),
				min(second[i].present, second[j].present)),
				3/math.Sqrt(float64(first[i].rare)*float64(first[j].rare)))
			p.Excess = max(0, math.Abs(p.Real-p.Synthetic)-width)
			out.Pairs = append(out.Pairs, p)
			if math.Abs(p.Real) >= max(.1, width) {
				lost, all = lost+p.Excess, all+math.Abs(p.Real)
			}
		}
	}
	out.Kept = 1 - lost/all
	slices.SortStableFunc(out.Pairs, func(a, b PairLoss) int {
		return cmp.Or(cmp.Compare(b.Excess, a.Excess),
			cmp.Compare(math.Abs(b.Real-b.Synthetic), math.Abs(a.Real-a.Synthetic)))
	})
	return out, nil
}

// band is two standard errors of the difference of two correlations near 0, of n and of m rows.
func band(n, m int) float64 {
	return 2 * math.Sqrt(1/float64(max(n, 1))+1/float64(max(m, 1)))
}

// support is how many rows speak about a column.
type support struct {
	present int // rows with a number; all rows of a column that is none, where missing is a value
	rare    int // rows that are not of the most frequent value
}

func supportOf(t *table.Table) ([]support, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	out := make([]support, len(columns))
	for i, c := range columns {
		count := make([]int64, c.size)
		t.CountTo(count, []int{i})
		out[i] = support{t.Rows(), t.Rows() - int(slices.Max(count))}
		if c.numeric() && c.missing >= 0 {
			out[i].present -= int(count[c.missing])
		}
	}
	return out, nil
}
