package workload

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/marginal"
)

// Answers holds for each item its numbers of rows: one for a count; for a marginal one a cell,
// row-major in the order of its columns, the last fastest.
type Answers [][]float64

// OnTable answers on the rows of a public table with the workload's columns; a condition that cuts
// bins, with the expected number over values drawn for the codes. A marginal with more
// than mostCells cells is refused (ErrTooLarge).
func (w *Workload) OnTable(t *table.Table) (Answers, error) {
	out := make(Answers, len(w.items))
	var whole []table.Expr // of the counts that cut no bins
	for _, it := range w.items {
		if it.IsCount() && it.Fine == nil {
			whole = append(whole, it.Where)
		}
	}
	exprs, err := table.CompileExprs(w.sizes, whole)
	if err != nil {
		return nil, err
	}
	counts := t.CountExprs(exprs)
	for i, it := range w.items {
		n, err := w.cells(i)
		if err != nil {
			return nil, err
		}
		out[i] = make([]float64, n)
		var cells []int64
		switch {
		case it.Fine != nil:
			if out[i][0], err = it.onTable(t); err != nil {
				return nil, fmt.Errorf("%q: %w", it.Name, err)
			}
			continue
		case it.IsCount():
			cells, counts = counts[:1], counts[1:]
		default:
			cells = t.Counts(it.Cols...)
		}
		for k, c := range cells {
			out[i][k] = float64(c)
		}
	}
	return out, nil
}

// OnModel answers exactly on a graphical model over groups of codes: expected numbers of rows,
// without sampling. Counts touch the columns of their condition only, and no table over all of them
// is formed.
//
// Errors: a model of other columns; a marginal that is too large, for mostCells or for the model
// (marginal.ErrTooLarge); a condition that is not a sum of at most 4096 products (ErrTooLarge).
func (w *Workload) OnModel(m *marginal.Model, g *marginal.Grouping) (Answers, error) {
	out := make(Answers, len(w.items))
	for i := range w.items {
		var err error
		if out[i], err = w.itemOnModel(i, m, g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *Workload) itemOnModel(i int, m *marginal.Model, g *marginal.Grouping) ([]float64, error) {
	sizes := g.CodeSizes()
	for _, c := range w.items[i].Columns() {
		if c >= len(sizes) || sizes[c] != w.sizes[c] {
			return nil, fmt.Errorf("the model has other columns: %w", ErrInvalid)
		}
	}
	it := w.items[i]
	if it.IsCount() {
		x, err := it.expected(m, g)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", it.Name, err)
		}
		return []float64{x}, nil
	}
	n, err := w.cells(i)
	if err != nil {
		return nil, err
	}
	groups := g.Sizes()
	cells := 1
	for _, c := range it.Cols {
		cells *= groups[c]
	}
	over := make([]float64, cells)
	if err := m.MarginalTo(over, it.Cols); err != nil {
		return nil, fmt.Errorf("%q: %w", it.Name, err)
	}
	if cells == n {
		return over, nil
	}
	out, shares := make([]float64, n), make([][]float64, len(sizes))
	for _, c := range it.Cols {
		shares[c] = g.Shares(c)
	}
	for i := range out { // the share of a cell of groups that a cell of codes has
		x, at, stride, left := 1.0, 0, 1, i
		for k := len(it.Cols) - 1; k >= 0; k-- {
			c := it.Cols[k]
			code := left % sizes[c]
			left /= sizes[c]
			if of := g.Groups(c); of != nil {
				x *= shares[c][code]
				code = int(of[code])
			}
			at += code * stride
			stride *= groups[c]
		}
		out[i] = x * over[at]
	}
	return out, nil
}
