// Package text releases what it takes to write a schema of a private table that has none: what the
// cells of a column look like, how large its values are, which texts are frequent.
package text

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/ledger"
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
	path  string
	load  func(ctx context.Context, begin func() error) (*table.Texts, error)
	far   *far     // in place of load, of rows that are counted elsewhere
	parts []*Table // in place of both: linked tables
}

// Linked is private tables of which one session asks, such as patients and their visits. A unit has
// its id in the unit column of each, and in each one row that is drawn among its rows. Tables but
// the first have a last column, by which the unit has so many rows there. A first table that is nil
// is the ids of the second. The error is for a table without a unit, or of units of more rows.
func Linked(tables ...*Table) (*Table, error) {
	out := &Table{k: 1}
	for i, one := range tables {
		own := Table{unit: tables[max(i, 1)].unit, k: 1, load: noRows}
		if one != nil {
			own = *one
		}
		if own.unit == "" || own.k != 1 || own.load == nil {
			return nil, fmt.Errorf("linked tables are files, with ids, one row of each id: %w",
				schema.ErrInvalid)
		}
		if i > 0 {
			name := "rows"
			for name == own.unit || slices.Contains(own.names, name) {
				name += " "
			}
			own.names = append(own.Names(), name)
		}
		out.names, out.parts = append(out.names, own.names...), append(out.parts, &own)
	}
	out.unit = out.parts[0].unit
	return out, nil
}

// noRows is a table without rows, and without a file.
func noRows(_ context.Context, begin func() error) (*table.Texts, error) {
	return &table.Texts{Units: []uint32{}}, begin()
}

// File names a private file (.csv or .parquet) whose columns nobody has described. The error is for
// names or a unit that cannot be.
func File(path string, o Options) (*Table, error) {
	t := &Table{unit: o.Unit, k: max(1, o.MaxRowsPerUnit), path: path}
	unitAt := -1
	for i, name := range o.Names {
		switch {
		case name == "":
			return nil, fmt.Errorf("column %d has no name: give it one in the file, or, if the names stand "+
				"below title lines, say in which line: --header-line N: %w", i+1, schema.ErrInvalid)
		case slices.Contains(o.Names[:i], name):
			return nil, fmt.Errorf("two columns have the name %q: rename one in the file: %w", name,
				schema.ErrSchema)
		case o.Unit != "" && name == o.Unit:
			unitAt = i
		default:
			t.names = append(t.names, name)
		}
	}
	switch {
	case o.Unit != "" && unitAt < 0:
		return nil, fmt.Errorf("there is no column %q to be the unit: %w", o.Unit,
			schema.ErrInvalid)
	case o.Unit != "" && o.MaxRowsPerUnit < 1, o.Unit == "" && o.MaxRowsPerUnit > 1,
		o.MaxRowsPerUnit < 0:
		return nil, fmt.Errorf("max_rows_per_unit is %d for unit %q: both or none: %w",
			o.MaxRowsPerUnit, o.Unit, schema.ErrInvalid)
	case len(t.names) == 0:
		return nil, fmt.Errorf("there is no column: %w", schema.ErrInvalid)
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
	*opened
	names []string
	unit  string
	first int // column of all those that were opened
}

// opened is what the session on linked tables shares with those on each of them.
type opened struct {
	s     *privacy.Session
	k     int
	texts func() *table.Texts // nil when the session is closed, or goes by a schema
	far   *far                // in place of texts
	parts []*Table            // of linked tables
}

// Open is [privacy.Open] for a table of texts: plan and budget are checked, the whole plan is
// reserved in the ledger, and only then are the rows read.
func Open(ctx context.Context, given *Table, o privacy.Options) (*Session, error) {
	t, data := *given, (*table.Texts)(nil) // a copy, as in privacy.Open
	if t.far != nil {
		own := *t.far
		t.far = &own
	}
	load := func(ctx context.Context, begin func() error, bound access.Bound) (
		none access.Loaded, err error) {
		if t.far != nil {
			return none, t.far.read(begin)
		}
		parts := t.parts
		if parts == nil {
			parts = []*Table{&t}
		}
		data, err = texts(ctx, parts, begin, bound)
		return none, err
	}
	// its ledger names no column: a run goes on with those that it was begun on
	o.Program += fmt.Sprintf(", on the columns %q", t.names)
	s, err := privacy.Open(ctx, privacy.FromLoader(access.Loader{Texts: true, Load: load,
		Tables: schema.One(&schema.Schema{Unit: t.unit, MaxRowsPerUnit: t.k})}), o)
	if err != nil {
		return nil, err
	}
	return &Session{&session{names: t.names, unit: t.unit, opened: &opened{
		s, t.k, func() *table.Texts { return data }, t.far, t.parts}}}, nil
}

// texts are those of tables, one after the other: of each unit the rows that count. begin is called
// when there is nothing wrong with the header of any.
func texts(
	ctx context.Context, parts []*Table, begin func() error, bound access.Bound,
) (*table.Texts, error) {
	of, out := make([]*table.Texts, len(parts)), &table.Texts{}
	var from func(i int) error
	from = func(i int) (err error) {
		if i == len(parts) {
			return begin()
		}
		of[i], err = parts[i].load(ctx, func() error { return from(i + 1) })
		return err
	}
	if err := from(0); err != nil {
		return nil, err
	}
	for i, t := range of {
		if parts[i].unit != "" {
			all := t.Units
			if t = t.Select(bound(all)); i > 0 {
				t.Columns = append(t.Columns, rowsOf(all, t.Units))
			}
		}
		out.Columns, out.Units = append(out.Columns, t.Columns...), t.Units
	}
	return out, nil
}

// rowsOf is a column of the number of rows that each of some units has among all.
func rowsOf(all, units []uint32) (c table.TextColumn) {
	rows, at := map[uint32]int{}, map[int]uint32{}
	for _, u := range all {
		rows[u]++
	}
	for _, u := range units {
		n := rows[u]
		if _, ok := at[n]; !ok {
			at[n] = uint32(len(c.Texts))
			c.Texts = append(c.Texts, strconv.Itoa(n))
		}
		c.Cells = append(c.Cells, at[n])
	}
	return c
}

// Of is the session on one of linked tables: the same run, which asks about its columns.
func (s *session) Of(table int) *Session {
	t, first := s.parts[table], 0
	for _, before := range s.parts[:table] {
		first += len(before.names)
	}
	return &Session{&session{s.opened, t.names, t.unit, first}}
}

// Unit is as that of the table.
func (s *session) Unit() (name string, maxRows int) { return s.unit, s.k }

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
		return fmt.Errorf("there is no column %d", column)
	}
	if s.texts == nil && !access.StateOf(s.s).Closed {
		return errors.New("the texts are gone: the session went over to a schema")
	}
	return nil
}
