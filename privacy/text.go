package privacy

import (
	"context"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// TextOptions say what is publicly known of a table that has no schema yet.
type TextOptions struct {
	Names          []string   // required: the names of the file's columns, in its order (see table.Header); public
	CSV            schema.CSV // of a CSV file
	Unit           string     // name of the id column; "" = every row is its own privacy unit
	MaxRowsPerUnit int        // ≥ 1 with Unit
}

// Text is a private table of texts that no schema describes yet. Like [Rows] it holds its data behind a function, and nothing is read
// before a session is opened on it.
type Text struct {
	names []string // without the unit
	unit  string
	k     int
	load  func(context.Context) (*texts, error)
}

// texts is a table of texts: a dictionary a column.
type texts struct {
	rows  int
	cols  []textColumn
	units []uint32 // nil without a unit
}

// textColumn holds the texts of a column once, and for every row its text.
type textColumn struct {
	of    []string
	cells []uint32
}

// TextFile names a private file (.csv or .parquet) whose columns nobody has described. The error is for names or a unit that cannot be.
func TextFile(path string, o TextOptions) (*Text, error) {
	t := &Text{unit: o.Unit, k: max(1, o.MaxRowsPerUnit)}
	unitAt := -1
	for i, name := range o.Names {
		switch {
		case name == "":
			return nil, fmt.Errorf("privacy: column %d has no name: %w", i+1, schema.ErrInvalid)
		case slices.Contains(o.Names[:i], name):
			return nil, fmt.Errorf("privacy: two columns have the name %q: %w", name, schema.ErrInvalid)
		case o.Unit != "" && name == o.Unit:
			unitAt = i
		default:
			t.names = append(t.names, name)
		}
	}
	switch {
	case o.Unit != "" && unitAt < 0:
		return nil, fmt.Errorf("privacy: there is no column %q to be the unit: %w", o.Unit, schema.ErrInvalid)
	case o.Unit != "" && o.MaxRowsPerUnit < 1, o.Unit == "" && o.MaxRowsPerUnit > 1, o.MaxRowsPerUnit < 0:
		return nil, fmt.Errorf("privacy: max_rows_per_unit is %d for unit %q: both or none: %w", o.MaxRowsPerUnit, o.Unit, schema.ErrInvalid)
	case len(t.names) == 0:
		return nil, fmt.Errorf("privacy: there is no column: %w", schema.ErrInvalid)
	}
	columns, csv := len(o.Names), o.CSV
	t.load = func(ctx context.Context) (*texts, error) { return scanTexts(ctx, path, csv, columns, unitAt) }
	return t, nil
}

// scanTexts reads the file by the rule of lenient schemas: no row of it is an error.
func scanTexts(ctx context.Context, path string, csv schema.CSV, columns, unitAt int) (*texts, error) {
	all := make([]textColumn, columns)
	index := make([]map[string]uint32, columns)
	for i := range index {
		index[i] = map[string]uint32{}
	}
	rows := 0
	scan := table.ScanOptions{CSV: csv, Lenient: true, Columns: columns}
	err := table.ScanText(path, scan, func(_, row []string) error {
		if rows%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if unitAt >= 0 && row[unitAt] == "" {
			return nil // it is nobody's, as for [File] under a lenient schema
		}
		rows++
		for i, cell := range row {
			n, ok := index[i][cell]
			if !ok {
				n = uint32(len(all[i].of))
				index[i][cell] = n
				all[i].of = append(all[i].of, cell)
			}
			all[i].cells = append(all[i].cells, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &texts{rows: rows}
	for i, c := range all {
		if i == unitAt {
			t.units = c.cells
		} else {
			t.cols = append(t.cols, c)
		}
	}
	return t, nil
}

// bound keeps a random k rows of each unit.
func (t *texts) bound(k int, src *noise.Source) {
	if t.units == nil {
		return
	}
	keep := boundUnits(t.units, k, src)
	for i, c := range t.cols {
		cells := make([]uint32, len(keep))
		for j, row := range keep {
			cells[j] = c.cells[row]
		}
		t.cols[i].cells = cells
	}
	t.rows, t.units = len(keep), nil
}

// counts is the number of rows of each text of a column, in the order of its dictionary; a text of no row has 0.
func (c textColumn) counts() []int64 {
	out := make([]int64, len(c.of))
	for _, n := range c.cells {
		out[n]++
	}
	return out
}

// Names are the public names of the columns, the unit left out.
func (t *Text) Names() []string { return slices.Clone(t.names) }

// Unit is the name of the id column, "" if there is none, and the most rows of a unit that count.
func (t *Text) Unit() (name string, maxRows int) { return t.unit, t.k }

// Neighbours is the relation of a session on the table. The zero adjacency is read as add/remove.
func (t *Text) Neighbours(adj accountant.Adjacency) Neighbours {
	if adj == 0 {
		adj = accountant.AddRemove
	}
	return Neighbours{Adjacency: adj, MaxRowsPerUnit: t.k}
}

// String says nothing about the rows.
func (t *Text) String() string { return "privacy.Text(private)" }

// GoString says nothing about the rows.
func (t *Text) GoString() string { return t.String() }

// Format says nothing about the rows, whatever the verb.
func (t *Text) Format(f fmt.State, _ rune) { fmt.Fprint(f, t.String()) }

// MarshalText refuses.
func (t *Text) MarshalText() ([]byte, error) { return nil, errPrivate }

// TextSession is an open run on a private table of texts. Its mechanisms tell what it takes to write a schema: of each column what its
// cells look like, how large its values are, which texts are frequent.
type TextSession struct{ *textSession }

type textSession struct {
	s     *session
	names []string
	texts func() *texts
}

// OpenText is [Open] for a table of texts: plan and budget are checked, the whole plan is reserved in the ledger, and only then are the rows read.
func OpenText(ctx context.Context, t *Text, o Options) (*TextSession, error) {
	s := &session{
		schema: &schema.Schema{Unit: t.unit, MaxRowsPerUnit: t.k}, // no columns: its ledger names no schema
		nb:     t.Neighbours(o.Adjacency),
	}
	if err := s.begin(ctx, o); err != nil {
		return nil, err
	}
	quiet, stop := deaf(ctx)
	defer stop()
	data, err := t.load(quiet)
	if err != nil {
		return nil, s.unread(err)
	}
	data.bound(t.k, s.src)
	return &TextSession{&textSession{s, t.names, func() *texts { return data }}}, nil
}

// Names are the public names of the columns, the unit left out.
func (s *textSession) Names() []string { return slices.Clone(s.names) }

// Neighbours is the session's neighbouring relation.
func (s *textSession) Neighbours() Neighbours { return s.s.nb }

// Run is the run's name in the ledger.
func (s *textSession) Run() string { return s.s.run }

// Ledger is a copy of this run's own ledger, as [Session.Ledger].
func (s *textSession) Ledger() *ledger.Ledger { return s.s.Ledger() }

// Released is [Session.Released].
func (s *textSession) Released() *ledger.Ledger { return s.s.Released() }

// Close is [Session.Close].
func (s *textSession) Close(status string) error { return s.end(s.s.Close(status)) }

// Finish is [Session.Finish].
func (s *textSession) Finish(err error, deliver func() error) error {
	return s.end(s.s.Finish(err, deliver))
}

// end lets go of the texts of a closed session.
func (s *textSession) end(err error) error {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	if s.s.closed {
		s.texts = nil
	}
	return err
}

// Format says nothing about the rows or the secret randomness, whatever the verb.
func (s *textSession) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "privacy.TextSession(%s)", s.s.run) }

// MarshalText refuses.
func (s *textSession) MarshalText() ([]byte, error) { return nil, errPrivate }

// column checks the number of a column.
func (s *textSession) column(column int) error {
	if column < 0 || column >= len(s.names) {
		return fmt.Errorf("privacy: there is no column %d", column)
	}
	return nil
}
