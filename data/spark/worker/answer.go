package worker

import (
	"encoding/json"
	"slices"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// texts answers questions about cells as texts (engine.Classes, Values and Spelled).
type texts struct {
	kind   string
	of     []engine.Text
	at     []int   // of the columns, among those of the lines
	cells  []int64 // of the answer
	keys   *engine.Keys
	listed map[int64]int64   // rows of the texts that have cells of their own
	wanted map[int64][]int64 // numbers of the texts that are to be spelled, and are not yet
	out    func(cell, n int64)
}

func newTexts(p *Plan, cells []int64, out func(cell, n int64)) (*texts, error) {
	x := &texts{kind: p.Question.Kind, cells: cells, listed: map[int64]int64{},
		wanted: map[int64][]int64{}, out: out}
	if json.Unmarshal(p.Question.Of, &x.of) != nil {
		return nil, errPlan
	}
	length := 0
	for _, t := range x.of {
		at := -1
		if t.Column >= 0 && t.Column < len(p.s.Columns) {
			is := func(c Column) bool { return c.Name == p.s.Columns[t.Column].Name }
			at = slices.IndexFunc(p.Columns, is)
		}
		if length += t.Length(x.kind); at < 0 || length > len(cells) {
			return nil, errPlan
		}
		x.at = append(x.at, at)
		if x.kind == engine.Spelled {
			to := cells[length-t.Length(x.kind):]
			for i, cell := range t.Cells {
				x.wanted[cell] = to[i*engine.TextCells:][:engine.TextCells]
			}
		}
	}
	if length != len(cells) || len(p.Nonce) == 0 {
		return nil, errPlan
	}
	x.keys = engine.NewKeys(p.Nonce, len(p.s.Columns))
	return x, nil
}

// maxListed is how many texts are held before what is known of them is told.
const maxListed = 1 << 19

// add adds the rows of a table.
func (x *texts) add(t *table.Texts) {
	cells := x.cells
	for i, of := range x.of {
		x.column(cells, of, t.Columns[x.at[i]])
		cells = cells[of.Length(x.kind):]
	}
	if len(x.listed) > maxListed {
		x.tell()
	}
}

func (x *texts) column(cells []int64, of engine.Text, c table.TextColumn) {
	for i, rows := range c.Counts() {
		text := []byte(c.Texts[i])
		switch x.kind {
		case engine.Classes:
			cells[schema.Classify(text)] += rows
		case engine.Values:
			if at, ok := of.Magnitudes.Of(text); ok {
				cells[at] += rows
			} else if of.Listed && rows > 0 && len(text) <= engine.MaxText {
				x.listed[x.keys.Cell(of.Column, text)] += rows
			}
		case engine.Spelled:
			if rows == 0 || len(text) > engine.MaxText {
				continue
			}
			cell := x.keys.Cell(of.Column, text)
			if to, ok := x.wanted[cell]; ok {
				engine.PutText(to, text)
				delete(x.wanted, cell)
			}
		}
	}
}

// tell tells of the texts that were listed, and forgets them.
func (x *texts) tell() {
	for cell, rows := range x.listed {
		x.out(cell, rows)
	}
	clear(x.listed)
}

// answer makes ready for the question of a plan.
func (c *counter) answer() (err error) {
	q := c.plan.Question
	if q.Length < 0 || q.Length > maxAnswer {
		return errPlan
	}
	c.counts = make([]int64, q.Length)
	switch q.Kind {
	case engine.Sets:
		c.sets, err = engine.AskedSets(q, c.plan.s.Sizes())
	case engine.GradientKind:
		c.sum, err = sums.New(c.plan.s, q)
	case engine.Classes, engine.Values, engine.Spelled:
		c.texts, err = newTexts(c.plan, c.counts, c.put)
	default:
		err = errPlan
	}
	return err
}

// maxAnswer is the most numbers of an answer.
const maxAnswer = 1 << 27
