package eval

import (
	"fmt"
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
// for which numbers are cut into eight groups of about equally many rows of the first table. NaN
// where a column has one value only. Sources: [CorrelationSimilarity]; Bergsma 2013, Journal of the
// Korean Statistical Society 42, for V.
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
				v, ok := math.NaN(), false
				if columns[i].numeric() && columns[j].numeric() {
					if v, ok = correlation(t, columns, [2]int{i, j}); !ok {
						v = math.NaN()
					}
				} else {
					v = cramer(contingency(t, [2]int{i, j}, groups, sizes))
				}
				m[i][j], m[j][i] = v, v
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// levels cuts a number into groups of about equally many rows; missing is a group. Categories are
// kept.
func (c column) levels(count []int64) (group []int, size int) {
	group = make([]int, c.size)
	if !c.numeric() {
		for code := range group {
			group[code] = code
		}
		return group, c.size
	}
	total, below := int64(0), int64(0)
	for _, n := range count[:len(c.mid)] {
		total += n
	}
	for code := range c.mid {
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
	First, Second   int     // columns, First < Second
	Real, Synthetic float64 // 0 where a column of the synthetic table has one value only
	// |Real − Synthetic| less Band of AssociationLosses, 0 or more
	Excess float64
}

// AssociationLosses are the pairs of columns, the worst first.
type AssociationLosses struct {
	Band  float64 // by how much two real tables differ: sampling error
	Kept  float64 // AssociationKept; NaN if no columns are associated
	Pairs []PairLoss
	// pairs of at least this strength in the real table are associated
	Strength float64
}

// LostAssociations compares matrices of [Associations]. rows are those of the real table and of the
// one that measures its sampling error. That is the holdout: the band is the 95 % quantile of its
// differences from the real table. Without one (nil), or with fewer than ten pairs, it is 2·√(1/n +
// 1/m), two standard errors of the difference of two correlations near 0. Pairs of at least .1 and
// the band are associated.
//
// Name AssociationKept. Alias none; CorrelationSimilarity (SDMetrics) scores all pairs, of which
// most are not associated and easy to get right. 1 − Σ excess / Σ |real| over the associated pairs.
// Range at most 1; below 0 where associations turned round; goal: 1. Source: none; the band is the
// 95 % limit of agreement of Bland & Altman 1986, Lancet 327.
//
// Matrices of different sizes are an error that wraps [ErrTables].
func LostAssociations(
	real, synthetic, holdout [][]float64, rows [2]int,
) (AssociationLosses, error) {
	if len(real) != len(synthetic) || holdout != nil && len(holdout) != len(real) {
		return AssociationLosses{}, fmt.Errorf("eval: associations of %d and of %d columns: %w",
			len(real), len(synthetic), ErrTables)
	}
	out := AssociationLosses{
		Band: 2 * math.Sqrt(1/float64(max(rows[0], 1))+1/float64(max(rows[1], 1)))}
	if holdout != nil {
		var gaps []float64
		for i := range real {
			for j := range i {
				if g := math.Abs(real[i][j] - holdout[i][j]); g == g {
					gaps = append(gaps, g)
				}
			}
		}
		if len(gaps) >= 10 {
			slices.Sort(gaps)
			out.Band = quantile(gaps, .95)
		}
	}
	out.Strength = max(.1, out.Band)
	lost, all := 0., 0.
	for j := range real {
		for i := range j {
			p := PairLoss{First: i, Second: j, Real: real[i][j], Synthetic: synthetic[i][j]}
			if math.IsNaN(p.Real) {
				continue
			}
			if math.IsNaN(p.Synthetic) {
				p.Synthetic = 0
			}
			p.Excess = max(0, math.Abs(p.Real-p.Synthetic)-out.Band)
			out.Pairs = append(out.Pairs, p)
			if math.Abs(p.Real) >= out.Strength {
				lost, all = lost+p.Excess, all+math.Abs(p.Real)
			}
		}
	}
	out.Kept = 1 - lost/all
	slices.SortStableFunc(out.Pairs, func(a, b PairLoss) int {
		switch x, y := math.Abs(a.Real-a.Synthetic), math.Abs(b.Real-b.Synthetic); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out, nil
}
