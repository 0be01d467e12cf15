package linked

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// Prediction is what a classifier learns from histories: trained on synthetic units and on real
// ones, tested on real units that the real ones do not have.
type Prediction struct {
	Table     string  `json:"table"`  // of the children that it learns from
	Column    string  `json:"column"` // what it predicts
	Next      bool    `json:"next"`   // of the next row; else of the parent
	Positive  string  `json:"positive"`
	Real      float64 `json:"auroc_real"`
	Synthetic float64 `json:"auroc_synthetic"`
}

const (
	testShare = 4 // a quarter of the real units is for the test
	levels    = 8 // that a share of the rows of a unit is cut into
	// rows that a classifier is trained on, and tested on: of a target, and of each of all columns
	mostOfTarget, mostOfAll = 100_000, 10_000
)

// Predict measures by AUROC how well a column of the parents is predicted from the rows of a unit
// (how many, the first, the last, the share of each group of codes) and its other columns, and how
// well a column of a child is predicted from the row before, its place, the number of rows and the
// parent. It predicts each column but the order, by a logistic regression; positive is what is
// above about the middle of the real rows, or the commonest category. With targets it predicts
// only these columns, by gradient boosting; they have the codes that are positive. A column of one
// class only is passed over.
//
// The real units of the test are a quarter, drawn from the public seed; the synthetic units may
// have been made from them. See [eval.TSTR]. Errors are those of [Families].
func Predict(
	real, synthetic *Tables, targets map[string][]uint16, seed uint64,
) (out []Prediction, err error) {
	all, err := compare([sides]*Tables{real, synthetic})
	if err != nil {
		return nil, err
	}
	u := rand.New(rand.NewPCG(seed, 57))
	units := u.Perm(real.Parents.Rows())
	made := u.Perm(synthetic.Parents.Rows())
	for _, c := range all {
		for _, t := range c.tasks(targets) {
			test, err1 := c.examples(t, 0, c.of(0, units[:len(units)/testShare]))
			train, err2 := c.examples(t, 0, c.of(0, units[len(units)/testShare:]))
			other, err3 := c.examples(t, 1, c.of(1, made))
			if err := errors.Join(err1, err2, err3); err != nil {
				return nil, fmt.Errorf("linked: %w", err)
			}
			k := eval.Task{Label: label, Positive: 1, Learner: t.learner}
			known, err1 := eval.TRTR(train, test, k)
			learnt, err2 := eval.TSTR(other, test, k)
			switch err := errors.Join(err1, err2); {
			case err == nil:
				out = append(out, Prediction{c.Name, t.of.name, t.next, t.text, known.AUROC, learnt.AUROC})
			case !errors.Is(err, eval.ErrOneClass) && !errors.Is(err, eval.ErrTables):
				return nil, err
			}
		}
	}
	return out, nil
}

// task is a column to predict.
type task struct {
	of       column
	next     bool // of the next row; else of the parent
	positive []bool
	text     string // what is positive
	learner  eval.Learner
	most     int // rows
}

// tasks are those of a child table.
func (c *comparison) tasks(targets map[string][]uint16) (out []task) {
	for i, of := range append(c.parents[:len(c.parents):len(c.parents)], c.columns...) {
		t := task{of: of, next: i >= len(c.parents), positive: make([]bool, of.size),
			learner: eval.GradientBoosting, most: mostOfTarget}
		codes, isTarget := targets[of.name]
		for _, code := range codes {
			t.positive[of.group[code]] = true
		}
		if targets == nil && i != len(c.parents)+c.By {
			t.learner, t.most, isTarget = eval.LogisticRegression, mostOfAll, true
			t.halve()
		}
		if isTarget {
			out = append(out, t)
		}
	}
	return out
}

// halve makes about half of the real rows positive: the upper ones of a number, or the commonest
// category, which is the first.
func (t *task) halve() {
	cut := 0
	if t.of.ordered {
		sorted := slices.Sorted(slices.Values(t.of.codes[0]))
		cut = max(1, int(sorted[len(sorted)/2]))
	}
	t.text = t.of.labels[min(cut, t.of.size-1)]
	for x := range t.positive {
		t.positive[x] = x == cut || x > cut && t.of.ordered && x != t.of.missing
	}
}

// Summaries are the histories of tables as rows, a table for each child table: a row for each unit
// with rows there, or other parent of these. Columns are the number of rows and, in the groups of
// codes of the real tables, those of the unit and the first, the last and the share of each group
// of those of its rows. Errors are those of [Families].
func Summaries(real, of *Tables) (out []*table.Table, err error) {
	all, err := compare([sides]*Tables{real, of})
	for i := 0; i < len(all) && err == nil; i++ {
		out = append(out, nil)
		out[i], err = all[i].examples(task{most: math.MaxInt}, 1, all[i].all[1])
	}
	return out, err
}

const label = "label"

// examples are the rows that the task is learned from in some units of a side: each but the first
// of a unit, or the last. First of their columns is the label, unless nothing is to be predicted;
// the others are what is known before the row, or of a unit.
func (c *comparison) examples(t task, side int, units []int) (*table.Table, error) {
	type example struct{ unit, first, row int }
	var rows []example
	for _, unit := range units {
		from, to := c.history[side].From[unit], c.history[side].From[unit+1]
		row := max(from, to-1)
		if t.next {
			row = from + 1
		}
		for ; row < to && len(rows) < t.most; row++ {
			rows = append(rows, example{unit, from, row})
		}
	}
	s := &schema.Schema{}
	var columns []table.Codes
	add := func(name string, size int, ordered bool, code func(e example) int) {
		size = max(size, 2)
		column := schema.CountColumn(name, size)
		if !ordered {
			column = schema.TextColumn(name, counting(size)...)
		}
		codes := table.NewCodes(size, len(rows))
		for i, e := range rows {
			codes.Set(i, uint16(code(e)))
		}
		s.Columns, columns = append(s.Columns, column), append(columns, codes)
	}
	ofUnit := func(e example) int { return e.unit }
	ofRow := func(e example) int { return e.row }
	known := func(name string, of column, at func(e example) int) {
		add(name, of.size, of.ordered, func(e example) int { return int(of.codes[side][at(e)]) })
	}
	at := ofUnit
	if t.next {
		at = ofRow
	}
	if t.positive != nil {
		add(label, 2, false, func(e example) int {
			return map[bool]int{true: 1}[t.positive[t.of.codes[side][at(e)]]]
		})
		add("place", c.rows.size, true, func(e example) int { return min(e.row-e.first, c.rows.size-1) })
	}
	known("rows", c.rows, ofUnit)
	for _, p := range c.parents {
		if t.next || p.name != t.of.name {
			known("parent "+p.name, p, ofUnit)
		}
	}
	for _, k := range c.columns {
		if t.next {
			known("before "+k.name, k, func(e example) int { return e.row - 1 })
			continue
		}
		known("last "+k.name, k, ofRow)
		known("first "+k.name, k, func(e example) int { return e.first })
		for x := range k.size {
			add(fmt.Sprint("share ", k.name, " ", x), levels+1, true, func(e example) int {
				n, all := bytes.Count(k.codes[side][e.first:e.row+1], []byte{uint8(x)}), e.row+1-e.first
				return (n*levels + all - 1) / all
			})
		}
	}
	return table.FromColumns(s, columns, nil)
}
