package text

import (
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/mech/linked"
)

// Kinds returns the number of rows whose cell in a column has each class of package schema
// (schema.Classify), plus independent round(N(0, sigma²)): the cells of a public partition of all
// texts, so a marginal like any other (docs/claims/kinds.md). Event:
// [privacy.Neighbours.MeasureEvent].
func (s *session) Kinds(column int, sigma float64) ([]int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	if err := s.column(column); err != nil {
		return nil, err
	}
	column += s.first
	m := access.Call{Length: schema.Classes(), Noise: g}
	m.What, m.Of = fmt.Sprintf("classes of column %d", column+1),
		access.Ask("classes").Ints(int64(column)).Floats(sigma)
	m.Cost = access.Once(s.Neighbours().MeasureEvent(privacy.Marginal{}, sigma))
	m.Exact = func(access.Rows) ([]int64, error) { return s.classes(column) }
	return access.Numbers(s.s, m)
}

// classes is the number of rows of each class.
func (s *session) classes(column int) ([]int64, error) {
	if s.far != nil {
		return s.far.classes(column)
	}
	c, out := s.texts().Columns[column], make([]int64, schema.Classes())
	for i, rows := range c.Counts() {
		out[schema.Classify([]byte(c.Texts[i]))] += rows
	}
	return out, nil
}

// As goes over to a schema that was bought: from here on the run is that of a table with its codes,
// and what is left of the reservation pays for what is asked of that. The texts are gone. Nothing
// is released, so nothing is charged: each row is read on its own, by a rule that the caller took
// from public or noised knowledge (docs/claims/values.md). The schema is lenient, as the texts were
// read, has the unit of the table, and names columns of it; else the error wraps schema.ErrInvalid.
// The ledger's reservation names no schema. It must not run at the same time as a mechanism.
//
// Linked tables are read anew, and whole: what counts of a unit's rows is then decided by
// [linked.Files]. l describes them in their order, each with the unit that it has here.
func (s *session) As(ctx context.Context, l *schema.Linked) (*privacy.Session, error) {
	if err := s.column(0); err != nil {
		return nil, err
	}
	if s.far != nil {
		return nil, privacy.ErrElsewhere
	}
	l = l.Clone()
	if !l.Single() {
		return s.asLinked(ctx, l)
	}
	to := l.Tables[0].Schema
	if err := to.Validate(); err != nil {
		return nil, err
	}
	nb := privacy.NeighboursOf(to, s.Neighbours().Adjacency)
	// rows of linked tables are no rows of one: row i of each is of another unit
	if s.parts != nil || !to.Lenient || to.Unit != s.unit || nb != s.Neighbours() {
		return nil, fmt.Errorf("the schema is strict, or its units are not those of the "+
			"texts, or these are of linked tables: %w", schema.ErrInvalid)
	}
	from := make([]int, len(to.Columns))
	for i, c := range to.Columns {
		if from[i] = slices.Index(s.names, c.Name); from[i] < 0 {
			return nil, fmt.Errorf("there is no column %q: %w", c.Name, schema.ErrInvalid)
		}
	}
	return s.goOver(to, func(next *access.Rows) error {
		t, err := s.texts().Encode(to, from)
		next.Table = func() *table.Table { return t }
		return err
	})
}

// goOver goes over to other rows.
func (s *session) goOver(
	to *schema.Schema, make func(next *access.Rows) error,
) (*privacy.Session, error) {
	err := access.Hold(s.s,
		func(_ *schema.Schema, next access.Rows) (*schema.Schema, access.Rows, error) {
			err := make(&next)
			return to, next, err
		})
	if err != nil {
		return nil, err
	}
	s.texts = nil
	return s.s, nil
}

// asLinked is As for several tables.
func (s *session) asLinked(ctx context.Context, l *schema.Linked) (*privacy.Session, error) {
	var paths []string
	for _, t := range s.parts {
		paths = append(paths, t.path)
	}
	if !slices.EqualFunc(l.Tables, s.parts, func(t schema.LinkedTable, own *Table) bool {
		return t.Schema.Unit == own.unit
	}) {
		return nil, fmt.Errorf("the schema is not of these linked tables: %w",
			schema.ErrInvalid)
	}
	rows, err := linked.Files(l, paths)
	if err != nil {
		return nil, err
	}
	return s.goOver(rows.Schema(), func(next *access.Rows) error {
		quiet, stop := access.Deaf(ctx)
		defer stop()
		read, err := access.LoadOf(rows)(quiet, func() error { return nil }, nil)
		next.Table, next.Units, next.Joint = nil, nil, read.Joint
		return err
	})
}
