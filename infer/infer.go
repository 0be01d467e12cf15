// Package infer buys a schema: it writes one for a private table that nobody has described, from
// noisy counts alone, within a budget.
//
// For each column it asks the gate what the cells look like (text.Session.Kinds), decides on
// a kind by the rule of this package, and asks for the magnitudes of a column of numbers, dates or
// timestamps, or for the frequent texts of another. Kinds, bounds, categories and missing tokens
// follow from these counts and from nothing else. The names of the columns are public. All is one
// reservation.
package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// method is the name of such a run in the ledger.
const method = "schema infer"

// ErrNothing is returned when no column could be described: the budget was too small for the table,
// and stays spent.
var ErrNothing = errors.New("no column stands out of the noise")

// kindShare is the part of ρ for the first question; the second, whose cells are finer, has the
// rest.
const kindShare = 0.2

// deltaShare is the part of δ for texts that only one unit has; noise has the rest.
const deltaShare = 0.5

// Options of [Run].
type Options struct {
	// δ > 0; without Plan, Price, Method and Program, which are filled in
	privacy.Options
	CSV           schema.CSV    // of the file, for the schema
	MaxCategories int           // most categories of a column, the most frequent ones; 0 = 1000
	Progress      func(float64) // may be nil; says nothing of the data
	// of [Run]: makes the result durable; the run is closed after it. May be nil
	Deliver func(*Result) error
}

// Noise is what the answers have in common.
type Noise struct {
	Kinds  float64        // σ of the classes of a column, in rows
	Values text.Selection // σ of magnitudes and texts, in rows; δ of the texts of a column
}

// Plan gives the noise for a table of so many columns, and the composition that is reserved for it.
func Plan(
	columns int, nb privacy.Neighbours, b accountant.Budget,
) (Noise, accountant.Composition, error) {
	if err := b.Validate(); err != nil {
		return Noise{}, nil, err
	}
	if b.Delta == 0 {
		return Noise{}, nil, fmt.Errorf("infer: categories can only be found with delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	if columns < 1 {
		return Noise{}, nil, fmt.Errorf("infer: there is no column: %w", schema.ErrInvalid)
	}
	d := float64(columns)
	unit := 1 / nb.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier // Δ₂
	at := func(scale float64) Noise {
		return Noise{
			Kinds: unit * scale * math.Sqrt(d/(2*kindShare)),
			Values: text.Selection{Sigma: unit * scale * math.Sqrt(d/(2*(1-kindShare))),
				Delta: b.Delta * deltaShare / d},
		}
	}
	composition := func(n Noise) accountant.Composition {
		c := accountant.Composition{{Event: nb.MeasureEvent(privacy.Marginal{}, n.Kinds), Count: columns}}
		for _, e := range text.SelectionEvents(nb, n.Values) {
			c = append(c, accountant.Charge{Event: e.Event, Count: columns})
		}
		return c
	}
	scale, err := accountant.Calibrate(b, nb.Adjacency,
		func(scale float64) accountant.Composition { return composition(at(scale)) })
	if err != nil {
		return Noise{}, nil, fmt.Errorf("infer: %w", err)
	}
	return at(scale), composition(at(scale)), nil
}

// Run opens a session on the table, asks, and writes the schema. The session is closed. Errors
// before the reservation have spent nothing; the session is nil then.
func Run(ctx context.Context, t *text.Table, o Options) (*Result, *text.Session, error) {
	names := t.Names()
	nb := t.Neighbours(o.Adjacency)
	noise, plan, err := Plan(len(names), nb, o.Budget)
	if err != nil {
		return nil, nil, err
	}
	o.Plan, o.Price, o.Method, o.Program = plan, nil, method, o.Tool
	s, err := text.Open(ctx, t, o.Options)
	if err != nil {
		return nil, nil, err
	}
	r := &Result{Budget: o.Budget, Noise: noise, Neighbours: nb, threshold: text.SelectionThreshold(nb,
		noise.Values)}
	r.unit, r.maxRows = t.Unit()
	r.csv = o.CSV
	var unusable error // a result all the same
	err = s.Finish(r.ask(ctx, s, names, o), func() error {
		if unusable = r.check(); unusable != nil || o.Deliver == nil {
			return nil
		}
		return o.Deliver(r)
	})
	if err != nil {
		return nil, s, err
	}
	return r, s, unusable
}

// ask runs the mechanisms, two a column at most.
func (r *Result) ask(ctx context.Context, s *text.Session, names []string, o Options) error {
	classes := make([][]int64, len(names))
	rows := 0.0
	for i := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if classes[i], err = s.Kinds(i, r.Noise.Kinds); err != nil {
			return err
		}
		for _, n := range classes[i] {
			rows += float64(n) / float64(len(names))
		}
	}
	r.Rows, r.asked = math.Max(0, rows), len(names)
	limit := o.MaxCategories
	if limit <= 0 {
		limit = 1000
	}
	for i, name := range names {
		if o.Progress != nil {
			o.Progress(float64(i) / float64(len(names)))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		v := verdict(classes[i], r.Rows, r.rowsNoise(), r.Noise.Kinds)
		c := Column{Name: name}
		switch {
		case v.kind == 0:
			c.Note = v.note
		case v.kind.Ordered():
			m := schema.Magnitudes{Kind: v.kind, PerPower: perPower(r.Rows, r.Noise.Values.Sigma)}
			counts, err := s.Magnitudes(i, m, r.Noise.Values.Sigma)
			if err != nil {
				return err
			}
			c.Found, c.Note = bounds(name, m, counts, v, r.Noise.Values.Sigma)
		case v.kind.Stored() == schema.StoredText:
			found, err := s.PartitionSelection(i, r.Noise.Values)
			if err != nil {
				return err
			}
			c.Found, c.Note = categories(name, found, v, limit, r.threshold, r.Noise.Values.Sigma)
		default: // the kind says what the values are
			c.Found, c.Note = &schema.Column{Name: name, Kind: v.kind, Missing: v.missing}, v.note
			if len(v.missing) > 0 {
				c.Found.OnInvalid = schema.Clamp
			}
		}
		r.Columns = append(r.Columns, c)
	}
	return nil
}

// rowsNoise is that of Rows, a mean over the columns of a sum over the classes.
func (r *Result) rowsNoise() float64 {
	return r.Noise.Kinds * math.Sqrt(float64(schema.Classes)/float64(r.asked))
}

// perPower is how fine the magnitudes are asked for: the more rows for the noise, the finer.
func perPower(rows, sigma float64) int {
	switch ratio := rows / sigma; {
	case ratio < 150:
		return 1
	case ratio < 500:
		return 2
	case ratio < 1500:
		return 4
	}
	return 8
}
