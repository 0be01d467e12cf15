package eval

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/table"
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
	groups, sizes := make([][]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		groups[i], sizes[i] = c.levels(countOf(tables[0], i))
	}
	out := make([][][]Number, len(tables))
	for k, t := range tables {
		m := make([][]Number, len(columns))
		for i := range m {
			m[i] = make([]Number, len(columns))
			m[i][i] = 1
			for j := range i {
				v := correlation(t, columns, i, j)
				if !columns[i].numeric() || !columns[j].numeric() {
					v = cramer(contingency(t, i, j, groups, sizes))
				}
				m[i][j], m[j][i] = Number(v), Number(v)
			}
		}
		out[k] = m
	}
	return out
}

// levels cuts a number into groups of about equally many rows; missing is a group. Of categories,
// those of fewer than ten rows or a thousandth, with which χ² says little, make up one group, or if
// that has fewer rows still, join the most frequent category.
func (c column) levels(count []int64) (group []int, size int) {
	total := int64(0)
	for _, n := range count {
		total += n
	}
	if !c.numeric() {
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
		if group, size = commonest(count, frequent); size > frequent && pooled < few {
			size--
			for code, g := range group {
				group[code] = g % size
			}
		}
		return group, size
	}
	group, size = evenly(count[:len(c.place)], associationGroups), associationGroups
	if c.missing >= 0 {
		group, size = append(group, size), size+1
	}
	return group, size
}

// evenly cuts numbers, which are codes, into groups of about equally many rows.
func evenly(count []int64, groups int) []int {
	out, total, below := make([]int, len(count)), int64(0), int64(0)
	for _, n := range count {
		total += n
	}
	for code, n := range count {
		middle := 2*below + n // twice the rank of the code's middle row
		out[code] = min(int(middle*int64(groups)/max(2*total, 1)), groups-1)
		below += n
	}
	return out
}

// contingency counts the rows by the groups of two columns.
func contingency(t *table.Table, i, j int, groups [][]int, sizes []int) *mat.Dense {
	out := mat.NewDense(sizes[i], sizes[j], nil)
	second, x, y, n := t.Column(j), groups[i], groups[j], out.RawMatrix()
	forEachCode(t.Column(i), func(row, code int) {
		n.Data[x[code]*n.Stride+y[second.At(row)]]++
	})
	return out
}

// cramer is Cramér's V with Bergsma's bias correction, 0 to 1, over the rows and columns that
// occur; NaN if there is only one of either. With φ² = χ²/n of an r × k table,
//
//	φ̃² = max(0, φ² − (r−1)(k−1)/(n−1)),  r̃ = r − (r−1)²/(n−1),  V = √(φ̃²/min(r̃−1, k̃−1))
func cramer(n *mat.Dense) float64 {
	r, k := n.Dims()
	rows, cols := make([]float64, r), make([]float64, k)
	for i := range r {
		rows[i] = floats.Sum(n.RawRowView(i))
		floats.Add(cols, n.RawRowView(i))
	}
	total, phi := floats.Sum(rows), -1. // χ²/n = Σ n_ij²/(n_i n_j) − 1
	for i := range r {
		for j, v := range n.RawRowView(i) {
			if v > 0 {
				phi += v * v / (rows[i] * cols[j])
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
	Band  Number     `json:"band"`
	Kept  Number     `json:"-"`     // AssociationKept; NaN if no columns are associated
	Pairs []PairLoss `json:"pairs"` // that are defined in the real table, the worst first
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
	tables, other := []*table.Table{real, synthetic}, synthetic
	if holdout != nil {
		tables, other = append(tables, holdout), holdout
	}
	columns, err := compatible(tables...)
	if err != nil {
		return AssociationLosses{}, err
	}
	m := associations(columns, tables...)
	out := AssociationLosses{Real: m[0], Synthetic: m[1],
		Band: Number(band(real.Rows(), other.Rows()))}
	if holdout != nil {
		out.Holdout = m[2]
		var gaps []float64
		for i := range out.Real {
			for j := range i {
				if g := math.Abs(float64(out.Real[i][j] - out.Holdout[i][j])); g == g {
					gaps = append(gaps, g)
				}
			}
		}
		if len(gaps) >= 10 {
			slices.Sort(gaps)
			out.Band = Number(quantile(gaps, .95))
		}
	}
	first, rare := support(real, columns)
	second, _ := support(synthetic, columns)
	var lost, all Number
	for j, b := range columns {
		out.Columns = append(out.Columns, b.name)
		for i, a := range columns[:j] {
			p := PairLoss{a.name, b.name, out.Real[i][j], Number(math.NaN()), out.Synthetic[i][j], 0}
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
			out.Pairs = append(out.Pairs, p)
			if strength >= max(.1, width) {
				lost, all = lost+p.Excess, all+strength
			}
		}
	}
	out.Kept = 1 - lost/all
	slices.SortStableFunc(out.Pairs, func(a, b PairLoss) int {
		return cmp.Or(cmp.Compare(b.Excess, a.Excess), cmp.Compare(b.off(), a.off()))
	})
	return out, nil
}

func (p PairLoss) off() Number { return Number(math.Abs(float64(p.Real - p.Synthetic))) }

// band is two standard errors of the difference of two correlations near 0, of n and of m rows.
func band(n, m int) float64 {
	return 2 * math.Sqrt(1/float64(max(n, 1))+1/float64(max(m, 1)))
}

// support is how many rows speak about each column: those with a number, and of a column that is
// none, where missing is a value, all. rare are those that are not of the most frequent value.
func support(t *table.Table, columns []column) (present, rare []int) {
	for i, c := range columns {
		count, rows := countOf(t, i), t.Rows()
		rare = append(rare, rows-int(slices.Max(count)))
		if c.numeric() && c.missing >= 0 {
			rows -= int(count[c.missing])
		}
		present = append(present, rows)
	}
	return present, rare
}
