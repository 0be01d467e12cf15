package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// ErrInvalid is wrapped by every error about a workload file or item.
var ErrInvalid = errors.New("invalid workload")

// ErrTooLarge is wrapped by errors that refuse a number of items, cells or terms; they say it.
var ErrTooLarge = errors.New("too many")

// maxItems is the most items of a workload, mostCells the most cells of one marginal that can be
// answered.
const (
	maxItems  = 1 << 18
	mostCells = 1 << 27
	maxWeight = 1024
)

// Item is one thing to know: a marginal or a count.
type Item struct {
	Name   string     // for people; New fills it in when it is empty
	Weight float64    // how much it matters: 0 < w ≤ 1024; 0 is read as 1
	Cols   []int      // marginal: its columns, at least one, all different
	Where  table.Expr // count: which rows; nil for a marginal
	// count: the columns of Where whose bins it cuts, and is about finer codes of; nil: none
	Fine map[int]Fine
}

// IsCount reports whether the item is a single number.
func (it Item) IsCount() bool { return it.Where != nil }

// Columns are the columns that the item depends on, increasing.
func (it Item) Columns() []int {
	if it.IsCount() {
		return table.Columns(it.Where, nil)
	}
	return slices.Sorted(slices.Values(it.Cols))
}

// Counts is the item as counts: itself, or one for each cell of a marginal, of sizes[c] codes in
// column c. More than limit of them are an error that wraps ErrTooLarge.
func (it Item) Counts(sizes []int, limit int) ([]Item, error) {
	if it.IsCount() {
		return []Item{it}, nil
	}
	cells := it.cells(sizes)
	if cells > float64(limit) {
		return nil, fmt.Errorf("%w counts: %q has %.4g cells", ErrTooLarge, it.Name, cells)
	}
	out := make([]Item, int(cells))
	for i := range out {
		var x table.And
		for k, left := len(it.Cols)-1, i; k >= 0; k-- {
			c := it.Cols[k]
			allow := make([]bool, sizes[c])
			allow[left%sizes[c]] = true
			left /= sizes[c]
			x = append(x, table.Condition{Column: c, Allow: allow})
		}
		out[i] = Item{Name: fmt.Sprintf("%s, cell %d", it.Name, i), Weight: it.Weight, Where: x}
	}
	return out, nil
}

// Workload is a checked list of items over the columns of a schema. It is immutable.
type Workload struct {
	schema *schema.Schema
	sizes  []int
	codecs []*schema.Codec
	items  []Item
}

// New checks items against a schema. Errors wrap ErrInvalid and name the item, numbered from 0.
func New(s *schema.Schema, items []Item) (*Workload, error) {
	w := &Workload{schema: s, sizes: s.Sizes(), items: slices.Clone(items)}
	if len(items) == 0 {
		return nil, fmt.Errorf("there is nothing in it: %w", ErrInvalid)
	}
	if len(items) > maxItems {
		return nil, fmt.Errorf("%w items: %d, the limit is %d: %w", ErrTooLarge,
			len(items), maxItems, ErrInvalid)
	}
	var err error
	if w.codecs, err = s.Codecs(); err != nil {
		return nil, err
	}
	for i := range w.items {
		it := &w.items[i]
		if it.Weight == 0 {
			it.Weight = 1
		}
		if err := w.check(*it); err != nil {
			return nil, fmt.Errorf("item %d: %w: %w", i, err, ErrInvalid)
		}
		if it.Name == "" && it.IsCount() {
			it.Name = fmt.Sprintf("count %d", i)
		} else if it.Name == "" {
			var names []string
			for _, c := range it.Cols {
				names = append(names, s.Columns[c].Name)
			}
			it.Name = strings.Join(names, ", ")
		}
	}
	return w, nil
}

// check says what is wrong with an item.
func (w *Workload) check(it Item) error {
	switch {
	case !(it.Weight > 0 && it.Weight <= maxWeight):
		return fmt.Errorf("weight %v must be in (0, %d]", it.Weight, maxWeight)
	case it.IsCount() == (len(it.Cols) > 0):
		return errors.New("it must be a marginal of at least one column or a count")
	case it.IsCount():
		_, err := table.CompileExprs(it.sizes(w.sizes), []table.Expr{it.Where})
		return err
	}
	for k, c := range it.Cols {
		if c < 0 || c >= len(w.sizes) || slices.Contains(it.Cols[:k], c) {
			return fmt.Errorf("column %d is not in the schema or is named twice", c)
		}
	}
	return nil
}

// Marginals is every marginal of a degree over the columns of s, those with more than maxCells
// cells left out; 0 is mostCells. There are maxItems+1 of them at most, and none of a degree below
// 1 or above the number of columns.
func Marginals(s *schema.Schema, degree, maxCells int) (out []Item) {
	sizes := s.Sizes()
	if degree < 1 || degree > len(sizes) {
		return nil
	}
	sets := combin.NewCombinationGenerator(len(sizes), degree)
	for len(out) <= maxItems && sets.Next() {
		it := Item{Cols: sets.Combination(nil), Weight: 1}
		if it.cells(sizes) <= float64(cmp.Or(maxCells, mostCells)) {
			out = append(out, it)
		}
	}
	return out
}

// cells is the number of cells of a marginal, 1 of a count.
func (it Item) cells(sizes []int) float64 {
	cells := 1.0
	for _, c := range it.Cols {
		cells *= float64(sizes[c])
	}
	return cells
}

// Schema is the schema that the items are about.
func (w *Workload) Schema() *schema.Schema { return w.schema }

// Items are what is asked. They must not be changed.
func (w *Workload) Items() []Item { return w.items }

// cells is the number of cells of a marginal, 1 of a count, that can be held.
func (w *Workload) cells(i int) (int, error) {
	cells := w.items[i].cells(w.sizes)
	if cells > mostCells {
		return 0, fmt.Errorf("%w cells: %q has %.4g, the limit is %d", ErrTooLarge,
			w.items[i].Name, cells, mostCells)
	}
	return int(cells), nil
}

// Label names cell k of item i: the codes' labels, joined by commas; "" for a count.
func (w *Workload) Label(i, k int) string {
	cols := w.items[i].Cols
	labels := make([]string, len(cols))
	for j := len(cols) - 1; j >= 0; j-- {
		n := w.sizes[cols[j]]
		labels[j] = w.codecs[cols[j]].Label(uint16(k % n))
		k /= n
	}
	return strings.Join(labels, ", ")
}
