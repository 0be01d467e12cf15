// Package logistic releases what a logistic regression needs of private rows. A row is the one-hot
// cells of some columns, so that its norm is the square root of their number, exactly, and no row
// is clipped.
package logistic

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Problem says which column is predicted from which. It is a value, and all of it is public.
type Problem struct {
	Columns []int // to predict from, 1 to 1024, increasing
	Target  int   // to predict: none of Columns
	// of each code of the target its class, 0, 1, ...; -1: such rows are in no sum
	Classes []int
}

const (
	maxColumns = 1 << 10
	maxCells   = 1 << 22
	// weightBits is the grid of weights: sums of maxColumns of them, of size 2^12 at most, fit 63
	// bits.
	weightBits = 40
	maxWeight  = 1 << 12
)

// Outputs is how many vectors of weights there are: one a class (softmax), or one in all for two
// classes, that of the log odds of class 1.
func (p Problem) Outputs() int {
	classes := 0
	for _, c := range p.Classes {
		classes = max(classes, c+1)
	}
	if classes == 2 {
		return 1
	}
	return classes
}

// squared bounds ‖∇ℓ(row)‖²: a row's gradient is its m one-hot cells times the residual p − y, of
// which |p − y| ≤ 1 for two classes and ‖p − y‖² ≤ 2 for more, whatever the weights.
func (p Problem) squared() float64 {
	m := float64(len(p.Columns))
	if p.Outputs() > 1 {
		m *= 2
	}
	return m
}

// sensitivity is how far one unit moves a sum of gradients, in the norm L2, rounded up.
func (p Problem) sensitivity(nb privacy.Neighbours) float64 {
	k := float64(max(1, nb.MaxRowsPerUnit))
	if nb.Adjacency == accountant.ReplaceOne {
		k *= 2 // the rows that go, and those that come
	}
	return math.Nextafter(math.Sqrt(k*k*p.squared()), math.Inf(1))
}

// clone is a copy that the caller cannot change.
func (p Problem) clone() Problem {
	p.Columns, p.Classes = slices.Clone(p.Columns), slices.Clone(p.Classes)
	return p
}

// check compares a problem with the number of codes of each column.
func (p Problem) check(sizes []int) error {
	seen := make([]bool, len(p.Classes))
	fail := func(format string, args ...any) error {
		return fmt.Errorf("a logistic regression: "+format, args...)
	}
	switch {
	case p.Target < 0 || p.Target >= len(sizes):
		return fail("there is no target column %d", p.Target)
	case len(p.Classes) != sizes[p.Target]:
		return fail("classes of %d codes for a target of %d", len(p.Classes), sizes[p.Target])
	case len(p.Columns) == 0 || len(p.Columns) > maxColumns:
		return fail("%d columns to predict from, 1 to %d are possible", len(p.Columns), maxColumns)
	}
	before := -1
	for _, c := range p.Columns {
		if c <= before || c >= len(sizes) || c == p.Target {
			return fail("column %d is not to be predicted from", c)
		}
		before = c
	}
	for _, c := range p.Classes {
		if c < -1 || c >= len(seen) {
			return fail("class %d of %d codes", c, len(seen))
		} else if c >= 0 {
			seen[c] = true
		}
	}
	classes := 0
	for classes < len(seen) && seen[classes] {
		classes++
	}
	if p.Outputs() == 0 || classes < 2 || classes != max(2, p.Outputs()) {
		return fail("the classes are not 0, 1, ... of which there are 2 or more")
	}
	if cells := p.Cells(sizes) * p.Outputs(); cells > maxCells {
		return fail("%d weights, at most %d are possible", cells, maxCells)
	}
	return nil
}

// Cells is the number of one-hot cells, and so of weights of an output, given the number of codes
// of each column.
func (p Problem) Cells(sizes []int) int {
	cells := 0
	for _, c := range p.Columns {
		cells += sizes[c]
	}
	return cells
}

// ask begins a question about the problem.
func (p Problem) ask(mechanism string) access.Key {
	q := access.Ask(mechanism).Ints(int64(len(p.Columns)), int64(p.Target))
	for _, c := range p.Columns {
		q.Ints(int64(c))
	}
	for _, c := range p.Classes {
		q.Ints(int64(c))
	}
	return q
}

// chunk is how many rows are treated at a time.
const chunk = 512

// sumTo adds to dst, output after output, the gradients Σ (p − y)·cells of the rows from first to
// before last, in steps of 2^-bits: of each row the residual is rounded to the grid, so that the
// sum is exact. weights are in steps of 2^-weightBits.
func (p Problem) sumTo(dst []int64, t *table.Table, first, last int, weights []int64, bits int) {
	sizes := t.Schema().Sizes()
	cells, outputs := p.Cells(sizes), p.Outputs()
	scores := make([][]int64, outputs) // later the residuals
	for o := range scores {
		scores[o] = make([]int64, chunk)
	}
	row := make([]float64, outputs)
	one := int64(1) << bits
	target := t.Column(p.Target)
	for ; first < last; first += chunk {
		n := min(chunk, last-first)
		for o, z := range scores {
			clear(z)
			at := o * cells
			for _, c := range p.Columns {
				codes, w := t.Column(c), weights[at:at+sizes[c]]
				for i := range n {
					z[i] += w[codes.At(first+i)]
				}
				at += sizes[c]
			}
		}
		for i := range n {
			residual(scores, row, i, p.Classes[target.At(first+i)], one)
		}
		for o, r := range scores {
			at := o * cells
			for _, c := range p.Columns {
				codes, g := t.Column(c), dst[at:at+sizes[c]]
				for i := range n {
					g[codes.At(first+i)] += r[i]
				}
				at += sizes[c]
			}
		}
	}
}

// residual replaces the scores of row i by p − y in steps of 1/one, whose norm is at most 1 for one
// output and √2 for more, exactly. Of a row without a class it is 0.
func residual(scores [][]int64, row []float64, i, class int, one int64) {
	if class < 0 {
		for _, z := range scores {
			z[i] = 0
		}
		return
	}
	if len(scores) == 1 {
		x := 1 / (1 + math.Exp(-math.Ldexp(float64(scores[0][i]), -weightBits)))
		scores[0][i] = int64(math.Round((x - float64(class)) * float64(one)))
		scores[0][i] = max(-one, min(one, scores[0][i]))
		return
	}
	top, sum := math.Inf(-1), 0.0
	for o, z := range scores {
		row[o] = math.Ldexp(float64(z[i]), -weightBits)
		top = max(top, row[o])
	}
	for o, x := range row {
		row[o] = math.Exp(x - top)
		sum += row[o]
	}
	// The others' shares are whole steps of at most one in all, r of them, and the row's own class
	// gets -r: so ‖p − y‖² ≤ r² + r².
	left := one
	for o, z := range scores {
		z[i] = 0
		if o != class {
			z[i] = max(0, min(left, int64(row[o]/sum*float64(one))))
			left -= z[i]
		}
	}
	scores[class][i] = left - one
}

// fixed is weights on their grid.
func fixed(weights []float64) ([]int64, error) {
	out := make([]int64, len(weights))
	for i, w := range weights {
		if !(math.Abs(w) <= maxWeight) {
			return nil, fmt.Errorf("a logistic regression: weight %v is above %d in size", w,
				maxWeight)
		}
		out[i] = int64(math.Round(math.Ldexp(w, weightBits)))
	}
	return out, nil
}
