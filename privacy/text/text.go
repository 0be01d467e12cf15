// Package text releases what it takes to write a schema of a private table that has none: what the
// cells of a column look like, how large its values are, which texts are frequent.
package text

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Options say what is publicly known of a table that has no schema yet.
type Options struct {
	// required: the names of the file's columns, in its order (see table.Header); public
	Names          []string
	CSV            schema.CSV // of a CSV file
	Unit           string     // name of the id column; "" = every row is its own privacy unit
	MaxRowsPerUnit int        // ≥ 1 with Unit
}

// Table is a private table of texts that no schema describes yet. Like [privacy.Rows] it holds its
// data behind a function, and nothing is read before a session is opened on it.
type Table struct {
	names []string // without the unit
	unit  string
	k     int
	load  func(ctx context.Context, begin func() error) (*table.Texts, error)
	far   *far // in place of load, of rows that are counted elsewhere
}

// File names a private file (.csv or .parquet) whose columns nobody has described. The error is for
// names or a unit that cannot be.
func File(path string, o Options) (*Table, error) {
	t := &Table{unit: o.Unit, k: max(1, o.MaxRowsPerUnit)}
	unitAt := -1
	for i, name := range o.Names {
		switch {
		case name == "":
			return nil, fmt.Errorf("privacy: column %d has no name (row numbers, as pandas writes them, "+
				"need none: to_csv(..., index=False)): %w", i+1, schema.ErrInvalid)
		case slices.Contains(o.Names[:i], name):
			return nil, fmt.Errorf("privacy: two columns have the name %q: %w", name, schema.ErrSchema)
		case o.Unit != "" && name == o.Unit:
			unitAt = i
		default:
			t.names = append(t.names, name)
		}
	}
	switch {
	case o.Unit != "" && unitAt < 0:
		return nil, fmt.Errorf("privacy: there is no column %q to be the unit: %w", o.Unit,
			schema.ErrInvalid)
	case o.Unit != "" && o.MaxRowsPerUnit < 1,
		o.Unit == "" && o.MaxRowsPerUnit > 1,
		o.MaxRowsPerUnit < 0:
		return nil, fmt.Errorf(
			"privacy: max_rows_per_unit is %d for unit %q: both or none: %w", o.MaxRowsPerUnit, o.Unit,
			schema.ErrInvalid,
		)
	case len(t.names) == 0:
		return nil, fmt.Errorf("privacy: there is no column: %w", schema.ErrInvalid)
	}
	columns, csv := len(o.Names), o.CSV
	t.load = func(ctx context.Context, begin func() error) (*table.Texts, error) {
		return table.ReadTexts(ctx, path, csv, columns, unitAt, begin)
	}
	return t, nil
}

// Names are the public names of the columns, the unit left out.
func (t *Table) Names() []string { return slices.Clone(t.names) }

// Unit is the name of the id column, "" if there is none, and the most rows of a unit that count.
func (t *Table) Unit() (name string, maxRows int) { return t.unit, t.k }

// Neighbours is the relation of a session on the table. The zero adjacency is read as add/remove.
func (t *Table) Neighbours(adj accountant.Adjacency) privacy.Neighbours {
	if adj == 0 {
		adj = accountant.AddRemove
	}
	return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: t.k}
}

// String says nothing about the rows.
func (t *Table) String() string { return "text.Table(private)" }

// GoString says nothing about the rows.
func (t *Table) GoString() string { return t.String() }

// Format says nothing about the rows, whatever the verb.
func (t *Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, t.String()) }

// MarshalText refuses.
func (t *Table) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }

// Session is an open run on a private table of texts. A copy is the same session.
type Session struct{ *session }

type session struct {
	s     *privacy.Session
	names []string
	unit  string
	texts func() *table.Texts // nil when the session is closed, or goes by a schema
	far   *far                // in place of texts
}

// Open is [privacy.Open] for a table of texts: plan and budget are checked, the whole plan is
// reserved in the ledger, and only then are the rows read.
func Open(ctx context.Context, given *Table, o privacy.Options) (*Session, error) {
	t, data := *given, (*table.Texts)(nil) // a copy, as in privacy.Open
	if t.far != nil {
		own := *t.far
		t.far = &own
	}
	sch := &schema.Schema{Unit: t.unit, MaxRowsPerUnit: t.k} // no columns: its ledger names no schema
	load := func(ctx context.Context, begin func() error, bound access.Bound) (
		*access.Joint, error) {
		if t.far != nil {
			return nil, t.far.read(begin)
		}
		var err error
		if data, err = t.load(ctx, begin); err == nil && sch.Unit != "" {
			data = data.Select(bound(data.Units))
		}
		return nil, err
	}
	// its ledger names no column: a run goes on with those that it was begun on
	o.Program += fmt.Sprintf(", on the columns %q", t.names)
	s, err := privacy.Open(ctx, privacy.FromLoader(access.Loader{Schema: sch, Load: load}), o)
	if err != nil {
		return nil, err
	}
	return &Session{&session{s, t.names, t.unit, func() *table.Texts { return data }, t.far}}, nil
}

// Names are the public names of the columns, the unit left out.
func (s *session) Names() []string { return slices.Clone(s.names) }

// Neighbours is the session's neighbouring relation.
func (s *session) Neighbours() privacy.Neighbours { return s.s.Neighbours() }

// Run is the run's name in the ledger.
func (s *session) Run() string { return s.s.Run() }

// Ledger is a copy of this run's own ledger, as [privacy.Session.Ledger].
func (s *session) Ledger() *ledger.Ledger { return s.s.Ledger() }

// Deliver is [privacy.Session.Deliver].
func (s *session) Deliver(outputs string) { s.s.Deliver(outputs) }

// Finish is [privacy.Session.Finish], and lets go of the texts.
func (s *session) Finish(err error, deliver func() error) error {
	err = s.s.Finish(err, deliver)
	s.texts = nil
	return err
}

// Format says nothing about the rows or the secret randomness, whatever the verb.
func (s *session) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "text.Session(%s)", s.s.Run()) }

// MarshalText refuses.
func (s *session) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }

// column checks the number of a column, and that there are texts.
func (s *session) column(column int) error {
	if column < 0 || column >= len(s.names) {
		return fmt.Errorf("privacy: there is no column %d", column)
	}
	if s.texts == nil && !access.StateOf(s.s).Closed {
		return errors.New("privacy: the texts are gone: the session went over to a schema")
	}
	return nil
}
