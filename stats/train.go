package stats

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/mech/logistic"
)

// ErrTarget is wrapped by every error about columns that cannot be predicted, or predicted from.
var ErrTarget = errors.New("see 'decoy help train'")

// Training is what a classifier is to predict, and how.
type Training struct {
	Target string   // column to predict: categorical, boolean, or a number of two values
	Drop   []string // columns not to predict from
	By     string   // how: one of [Ways]; "" is [Descent]
	// number of rows, if that is public; 0: a part of the budget buys it, for a descent or teachers
	Rows int
	Teaching
}

// From is the schema of public rows for a student: of the columns that are predicted from.
func (o Training) From(s *schema.Schema) (*schema.Schema, error) {
	t, err := newTask(s, o.Target, o.Drop)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range t.problem.Columns {
		names = append(names, s.Columns[c].Name)
	}
	s = s.Clone()
	s.Lenient = false
	return columnsOnly(s, names)
}

// trained is the name of such a run in the ledger.
const trained = "train"

// Train fits a logistic regression over the one-hot codes of the columns, without a synthetic table
// in between, and returns it verified. Errors before the reservation have spent nothing; the
// session is nil then.
func Train(
	ctx context.Context, rows *privacy.Rows, o Training, r Run[*Classifier],
) (*Classifier, *privacy.Session, error) {
	s := rows.Schema()
	p, err := newPlan(s, privacy.NeighboursOf(s, r.Adjacency), o, r.Budget)
	if err != nil {
		return nil, nil, err
	}
	if r.Program = ", " + runtime.GOARCH; p.o.By == PATE {
		r.Program += ", " + p.o.about()
	}
	c, session, err := r.buy(ctx, rows, trained, p.composition(),
		func(session *privacy.Session) (*Classifier, error) {
			c, err := p.fit(ctx, session, r.report)
			if err != nil {
				return nil, err
			}
			return c, p.complete(c, session, o.Target, r.Tool)
		})
	if err == nil && o.Cost != "" {
		err = p.taught.shards.SaveCost(o.Cost, r.Budget.Delta)
	}
	return c, session, err
}

// Classes reports whether the codes of a column are classes: of a column of numbers, if these are
// two whole ones, such as 0 and 1.
func Classes(c *schema.Codec) bool {
	if !c.Column().Kind.Ordered() {
		return true
	}
	bins := c.Size() - min(1, len(c.Column().Missing))
	if !c.Column().Kind.Whole() || bins != 2 {
		return false
	}
	least, _ := c.Bin(0)
	_, most := c.Bin(1)
	return most-least == 1
}

// task is what is predicted from what.
type task struct {
	schema  *schema.Schema
	codecs  []*schema.Codec
	problem logistic.Problem
	classes []string
}

func newTask(s *schema.Schema, target string, drop []string) (*task, error) {
	fail := func(format string, args ...any) (*task, error) {
		return nil, fmt.Errorf(""+format+"; %w", append(args, ErrTarget)...)
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	t := &task{schema: s, codecs: codecs}
	at, err := columnOf(s, target)
	switch {
	case err != nil:
		return fail("%v", err)
	case !Classes(codecs[at]):
		return fail("column %q is %v, and a classifier predicts categories: in a copy of the schema, "+
			"make it categorical with its values as categories", target, s.Columns[at].Kind)
	}
	t.problem.Target = at
	for code := range codecs[at].Values() {
		t.problem.Classes = append(t.problem.Classes, code)
		t.classes = append(t.classes, codecs[at].Label(uint16(code)))
	}
	if len(t.classes) < codecs[at].Size() { // missing
		t.problem.Classes = append(t.problem.Classes, -1)
	}
	if len(t.classes) < 2 {
		return fail("column %q has one value", target)
	}
	for _, name := range drop {
		if s.Index(name) < 0 {
			return fail("the schema has no column %q to drop%s", name, s.Hint(name))
		}
	}
	for i, c := range s.Columns {
		if i == at || slices.Contains(drop, c.Name) {
			continue
		}
		if _, err := columnOf(s, c.Name); err != nil {
			return fail("%v", err)
		}
		t.problem.Columns = append(t.problem.Columns, i)
	}
	if len(t.problem.Columns) == 0 {
		return fail("no column is left to predict %q from", target)
	}
	return t, nil
}
