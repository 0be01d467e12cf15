package text

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Relation is a question about the cells of a row: whether a column is what others make of it or,
// with By, by how much it is not before or below another (schema.NotBefore).
type Relation struct {
	schema.Made
	By schema.Magnitudes // the zero one: two counts, of the rows in which it holds, and breaks
}

// cells are how many counts it has.
func (r *Relation) cells() int {
	if r.By.Kind == 0 {
		return 2
	}
	return r.By.Len()
}

// key is all that a relation asks: its words do not say how it rounds, or by what it counts.
func (r Relation) key() string { return fmt.Sprintf("%#v", r) }

// Relations returns for each of some relations the number of rows in which it holds, and in which
// it breaks (schema.Held), or which have each magnitude of a difference; each number has its own
// round(N(0, sigma²)) added. Cells are read as columns say, which are columns of the table without
// any relations. A row counts once at most for each relation, so n of them are n marginals
// (docs/claims/relations.md). Event: [privacy.Neighbours.MeasureEvent], n times. Rows that are
// counted elsewhere, or are of linked tables, give an error that wraps [privacy.ErrElsewhere].
func (s *session) Relations(
	columns []schema.Column, of []Relation, sigma float64,
) ([][]int64, error) {
	if s.far != nil || s.parts != nil {
		return nil, privacy.ErrElsewhere
	}
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	of = slices.Clone(of) // what is asked stays what was paid for
	c := access.Call{What: fmt.Sprintf("%d relations of columns", len(of)), Noise: g,
		Of:   access.Ask("relations").Floats(sigma),
		Cost: relationsCost(s.Neighbours(), len(of), sigma)}
	asked := schema.Schema{Columns: columns, Lenient: true}
	yaml, err := asked.YAML()
	if err != nil {
		return nil, err
	}
	c.Of = c.Of.Text(string(yaml))
	made, from := make([]schema.Made, len(of)), make([]int, len(columns))
	for i := range of {
		of[i].Made.Of = slices.Clone(of[i].Made.Of)
		of[i].Made.Less = slices.Clone(of[i].Made.Less)
		of[i].By = of[i].By.Clone()
		made[i] = of[i].Made
		c.Length += of[i].cells()
		c.Of = c.Of.Text(of[i].key())
		if of[i].By.Kind != 0 && (of[i].By.Len() == 0 || made[i].Kind != schema.NotBefore) {
			return nil, fmt.Errorf("%+v are no magnitudes of a difference", of[i].By)
		}
	}
	for i := range columns {
		from[i] = slices.Index(s.names, columns[i].Name)
		if err := s.column(from[i]); err != nil {
			return nil, err
		}
	}
	r, err := schema.NewRelations(asked.Columns, made)
	if err != nil {
		return nil, err
	}
	c.Exact = func(access.Rows) ([]int64, error) {
		return s.countRelations(r, of, from, c.Length), nil
	}
	counts, err := access.Numbers(s.s, c)
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(of))
	for i := range of {
		n := of[i].cells()
		out[i], counts = counts[:n:n], counts[n:]
	}
	return out, nil
}

// relationsCost is what n relations cost: as much as n marginals.
func relationsCost(nb privacy.Neighbours, n int, sigma float64) accountant.Composition {
	return accountant.Composition{{Event: nb.MeasureEvent(privacy.Marginal{}, sigma), Count: n}}
}

// countRelations counts rows. Column i of the relations is column from[i] of the texts.
func (s *session) countRelations(
	r *schema.Relations, of []Relation, from []int, length int,
) []int64 {
	texts, used := s.texts(), r.Columns()
	numbers := make([][]float64, len(from)) // of each text
	for i, c := range from {
		if !used[i] {
			continue
		}
		for _, text := range texts.Columns[c].Texts {
			numbers[i] = append(numbers[i], r.Number(i, []byte(text)))
		}
	}
	out, x := make([]int64, length), slices.Repeat([]float64{math.NaN()}, len(from))
	for row := range texts.Columns[from[0]].Cells {
		for i, c := range from {
			if used[i] {
				x[i] = numbers[i][texts.Columns[c].Cells[row]]
			}
		}
		first := 0
		for k := range of {
			if at, ok := cellOf(r, k, x, of[k].By); ok {
				out[first+at]++
			}
			first += of[k].cells()
		}
	}
	return out
}

// cellOf is which of its counts a row adds to for a relation, false for none.
func cellOf(r *schema.Relations, k int, x []float64, by schema.Magnitudes) (at int, ok bool) {
	if by.Kind != 0 {
		return r.Cell(k, x, by)
	}
	held := r.Held(k, x)
	return int(held) - 1, held != schema.Silent
}
