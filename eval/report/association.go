package report

import (
	"math"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

const (
	// groups of about equally many training rows that a number is cut into beside a category
	associationGroups  = 8
	mostAssociated     = 60      // columns that are drawn
	mostAssociatedRows = 200_000 // rows of a table
)

// associate measures how strongly every two columns go together, in the real and in the synthetic
// rows.
func (w *work) associate() error {
	d := len(w.codecs)
	if d < 2 {
		return nil
	}
	if d > mostAssociated {
		w.note("The association maps show the first %d of %d columns.", mostAssociated, d)
		d = mostAssociated
	}
	if max(w.Train.Rows(), w.Synthetic.Rows()) > mostAssociatedRows {
		w.note("Associations are measured on at most %d rows of each table, drawn from seed %d.",
			mostAssociatedRows, w.Seed)
	}
	train, synthetic := cut(w.Train, mostAssociatedRows, w.source(20)),
		cut(w.Synthetic, mostAssociatedRows, w.source(21))
	groups := make([][]int, d)
	sizes := make([]int, d)
	a := &Associations{}
	for i := range d {
		groups[i], sizes[i] = levels(w.codecs[i], count(train, i))
		a.Columns = append(a.Columns, w.codecs[i].Column().Name)
	}
	for i, t := range []*table.Table{train, synthetic} {
		pearson, err := eval.Correlations(t)
		if err != nil {
			return err
		}
		m := make([][]Number, d)
		for x := range m {
			m[x] = make([]Number, d)
			m[x][x] = 1
			for y := range x {
				v := pearson[x][y]
				if !numeric(w.codecs[x]) || !numeric(w.codecs[y]) {
					v = cramer(contingency(t, x, y, groups, sizes))
				}
				m[x][y], m[y][x] = Number(v), Number(v)
			}
		}
		if i == 0 {
			a.Real = m
		} else {
			a.Synthetic = m
		}
	}
	w.out.Associations = a
	return nil
}

// levels cuts a number into groups of about equally many rows; missing is a group. Categories are
// kept.
func levels(c *schema.Codec, train []int64) (group []int, size int) {
	group = make([]int, c.Size())
	if !numeric(c) {
		for code := range group {
			group[code] = code
		}
		return group, c.Size()
	}
	codes, total := c.Size(), int64(0)
	if missing, ok := c.MissingCode(); ok {
		codes = int(missing)
	}
	for _, n := range train[:codes] {
		total += n
	}
	below := int64(0)
	for code := range codes {
		middle := 2*below + train[code] // twice the rank of the code's middle row
		group[code] = min(int(middle*associationGroups/max(2*total, 1)), associationGroups-1)
		below += train[code]
	}
	size = associationGroups
	if codes < c.Size() {
		group[codes] = size
		size++
	}
	return group, size
}

// contingency counts the rows by the groups of two columns.
func contingency(t *table.Table, x, y int, groups [][]int, sizes []int) [][]float64 {
	out := make([][]float64, sizes[x])
	for i := range out {
		out[i] = make([]float64, sizes[y])
	}
	cx, cy := t.Column(x), t.Column(y)
	for i := range t.Rows() {
		out[groups[x][cx.At(i)]][groups[y][cy.At(i)]]++
	}
	return out
}

// cramer is Cramér's V with the bias correction of Bergsma (2013, Journal of the
// Korean Statistical Society 42), 0 to 1, over the rows and columns that occur;
// NaN if there is only one of either. With φ² = χ²/n of an r × k table,
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
