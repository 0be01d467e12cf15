// Package train fits a classifier to a private table within a privacy budget, without a synthetic
// table in between: a logistic regression over the one-hot codes of the columns.
//
// It is the yardstick beside a table: who wants to predict one column, and nothing else, may be
// better off with it. What [Run] returns is (ε, δ)-differentially private and carries the ledger
// that proves it ([Classifier.Verify]).
package train

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/logistic"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

// ErrTarget is wrapped by every error about columns that cannot be predicted, or predicted from.
var ErrTarget = errors.New("it cannot be predicted")

// Options of [Run].
type Options struct {
	privacy.Options          // without Plan, Price, Method and Program, which are filled in
	Target          string   // column to predict: categorical or boolean
	Drop            []string // columns not to predict from
	By              string   // how: one of [Ways]; "" is [Descent]
	// number of rows, if that is public; 0: for a descent, a part of the budget buys it
	Rows     int
	Progress func(stage string, fraction float64)
	// makes the result durable: the run is closed after it. May be nil
	Deliver func(*Classifier) error
}

// methodName is the name of such a run in the ledger.
const methodName = "train"

// Run opens a session on the rows, trains, and returns the classifier, verified. Errors before the
// reservation have spent nothing; the session is nil then.
func Run(
	ctx context.Context, rows *privacy.Rows, o Options,
) (*Classifier, *privacy.Session, error) {
	s := rows.Schema()
	t, err := newTask(s, o.Target, o.Drop)
	if err != nil {
		return nil, nil, err
	}
	nb := privacy.NeighboursOf(s, o.Adjacency)
	p, err := NewPlan(s, nb, o)
	if err != nil {
		return nil, nil, err
	}
	o.Plan, o.Price, o.Method = p.Composition(), nil, methodName
	o.Program = o.Tool + ", " + runtime.GOARCH
	return release.Run(ctx, privacy.Open, rows, o.Options,
		func(session *privacy.Session) (*Classifier, error) {
			c, err := p.fit(ctx, session, o)
			if err != nil {
				return nil, err
			}
			return c, t.complete(c, session, o)
		}, o.Deliver)
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
		return nil, fmt.Errorf("train: "+format+": %w", append(args, ErrTarget)...)
	}
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	t := &task{schema: s, codecs: codecs}
	at := s.Index(target)
	switch {
	case at < 0:
		return fail("the schema has no column %q%s", target, s.Hint(target))
	case s.Columns[at].Kind.Ordered():
		return fail("column %q is %v: a classifier predicts categories, so a question about a number "+
			"needs a column of its own, such as a boolean one", target, s.Columns[at].Kind)
	}
	t.problem.Target = at
	missing, hasMissing := codecs[at].MissingCode()
	for code := range codecs[at].Size() {
		if hasMissing && code == int(missing) {
			t.problem.Classes = append(t.problem.Classes, -1)
			continue
		}
		t.problem.Classes = append(t.problem.Classes, len(t.classes))
		t.classes = append(t.classes, codecs[at].Label(uint16(code)))
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
		if c.BuyBins > 0 {
			return fail("column %q has bins that are bought (bins: dp): write bins, or drop it", c.Name)
		}
		t.problem.Columns = append(t.problem.Columns, i)
	}
	if len(t.problem.Columns) == 0 {
		return fail("no column is left to predict %q from", target)
	}
	return t, nil
}
