package schema

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/decoy-dp/decoy/internal/spelling"
)

// ErrSchema is wrapped by every error about data that the schema does not allow.
var ErrSchema = errors.New("the data breaks the schema")

// ErrInvalid is wrapped by every error about the schema itself.
var ErrInvalid = errors.New("invalid schema")

// Schema describes a table.
type Schema struct {
	// name of the id column, which is not one of Columns; "" = every row is its own privacy unit
	Unit           string   // of whose cells IDBlanks at both ends are no part of the id
	MaxRowsPerUnit int      // ≥ 1 when Unit is set, else 0 or 1
	Lenient        bool     // no row of a public table is an error: see the package comment
	CSV            CSV      // how CSV files of this table are written
	Columns        []Column // those that a model has; at least one
	Made           []Made   // the others of its files, which cost nothing
	Rules          []Rule   // combinations of cells that no row has
}

// IDBlanks are the bytes that are no part of an id at its ends: space and tab, no other white space
// (a no-break space is one). Engines leave out the same.
const IDBlanks = " \t"

// CSV describes the CSV files of a table.
type CSV struct {
	NoHeader bool // the first line is a row; columns are found by position
	Comma    byte // default ','
	// of single bytes, or utf-16le, utf-16be: a name of [CSV.Text]; default UTF-8, or UTF-16 where a
	// byte-order mark says so
	Encoding string
	// the header stands in one of the first lines up to this, title lines above it; default: it is the
	// first line that is neither blank nor a comment
	HeaderLine int
	Sheet      string // of a spreadsheet; default the first
	Quoted     bool   // written: quotes around all cells; default around those that need them
	CRLF       bool   // written: lines end with CR LF; default LF
}

// Separator is Comma, or ',' if none is set.
func (c CSV) Separator() byte {
	if c.Comma == 0 {
		return ','
	}
	return c.Comma
}

// Column describes one column.
type Column struct {
	Name string
	Kind Kind
	// Categorical: codes 0..K-1 in this order. Boolean: the texts of false and true, default false,
	// true
	Categories []string
	Min, Max   float64 // Integer, Real; Date: days; Timestamp: microseconds. Both inclusive
	// 0 = default: one a value for an Integer of ≤ 100 values, else 32, or fewer where there are fewer
	// days or seconds. Parse leaves 0 where BuyDefaults may buy them
	Bins    int
	Spacing Spacing // default Linear
	// explicit increasing edges from Min to Max; bin i is [e_i, e_{i+1}), the last is closed
	Edges []float64
	// Date, Timestamp: Go layout; default 2006-01-02 and RFC 3339 (which reads 2006-01-02 15:04:05
	// too)
	Format string
	// tokens that mean missing; none = a cell is never missing. Output writes Missing[0]
	Missing   []string
	OnInvalid Policy // default Refuse
	Other     string // the category that takes disallowed cells when OnInvalid is Other
	Decimals  int    // Real: digits written after the point; 0 = chosen from the bin widths
	// Integer, Real: cells are not numbers of this column but values of the column of that name plus
	// such a number: of days to a date, of seconds to a timestamp (minutes, hours or days if its
	// format tells nothing finer apart). A model knows the number only
	After string
	// numeric: > 0 = so many bins at most, whose edges a fit buys among those of the Bins (default
	// 1024) cells of a fine grid
	BuyBins int
	// of ε that the fit may spend on these edges, with BuyBins, ≤ 0.5; 0: the fit decides
	BuyShare float64
}

// TextColumn is a column of these texts.
func TextColumn(name string, texts ...string) Column {
	return Column{Name: name, Kind: Categorical, Categories: texts}
}

// UnknownColumn is a column of which nothing but the name is known: all its cells are others.
func UnknownColumn(name string) Column {
	c := TextColumn(name, "(other)")
	c.OnInvalid, c.Other = Other, "(other)"
	return c
}

// CountColumn is a column of the whole numbers from 0 to size − 1, each with a code.
func CountColumn(name string, size int) Column {
	return Column{Name: name, Kind: Integer, Max: float64(size - 1), Bins: size}
}

// Names are those of s.Columns.
func (s *Schema) Names() []string {
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Hint asks, as the end of a sentence, whether the column nearest to a name that s does not have
// was meant; "" if none is near.
func (s *Schema) Hint(name string) string { return spelling.Hint(name, s.Names()) }

// Index gives the position of the named column in s.Columns, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Width is the number of columns of the files, the unit's not counted.
func (s *Schema) Width() int { return len(s.Columns) + len(s.Made) }

// Sizes gives the number of codes of every column, the missing code included.
// The schema must be valid.
func (s *Schema) Sizes() []int {
	sizes := make([]int, len(s.Columns))
	for i := range s.Columns {
		sizes[i] = s.Columns[i].filled().size()
	}
	return sizes
}

// filled gives the schema with its defaults written out: two schemas that mean
// the same are then equal. It shares no memory with s that filling would change.
func (s *Schema) filled() *Schema {
	f := *s
	if f.MaxRowsPerUnit == 0 {
		f.MaxRowsPerUnit = 1
	}
	if f.CSV.Comma == 0 {
		f.CSV.Comma = ','
	}
	f.Columns = make([]Column, len(s.Columns))
	for i := range s.Columns {
		f.Columns[i] = s.Columns[i].filled()
	}
	return &f
}

// Default numbers of bins.
const (
	defaultBins  = 32
	defaultGrid  = 1024
	singleValues = 100   // an Integer with at most this many values has one bin a value
	maxCodes     = 65536 // a code is a uint16
)

// filled gives the column with its defaults written out.
func (c Column) filled() Column {
	t := c.Kind.facts()
	if len(c.Categories) == 0 {
		c.Categories = t.pair
	}
	c.Format = cmp.Or(c.Format, t.format)
	if len(c.Missing) == 0 {
		c.Missing = nil
	}
	switch k := len(c.Edges); {
	case !c.Kind.Ordered():
	case k > 0:
		c.Min, c.Max = c.Edges[0], c.Edges[k-1]
	case c.Bins == 0 && c.BuyBins > 0:
		c.Bins = c.evenBins(defaultGrid, defaultGrid)
	case c.Bins == 0:
		c.Bins = c.evenBins(t.singles, defaultBins)
	}
	return c
}

// evenBins is the default number of bins, among whose edges some may be bought: one a value, where
// there are not more than singles, else most.
func (c Column) evenBins(singles float64, most int) int {
	step, ok := c.Kind.facts().step(c.Format, c.Min, c.Max)
	if !ok {
		step = 1 // the format is refused later
	}
	if values := (c.Max-c.Min)/float64(step) + 1; values <= singles {
		return max(int(values), 1)
	}
	return most
}

// size is the number of codes of a filled, valid column.
func (c Column) size() int {
	n := len(c.Categories)
	if c.Kind.Ordered() {
		n = max(c.Bins, len(c.Edges)-1)
	}
	if len(c.Missing) > 0 {
		n++
	}
	return n
}

// Clone returns a schema that shares no memory with s.
func (s *Schema) Clone() *Schema {
	c := *s
	c.Columns = each(s.Columns, func(c Column) Column {
		c.Categories, c.Edges, c.Missing = slices.Clone(c.Categories), slices.Clone(c.Edges),
			slices.Clone(c.Missing)
		return c
	})
	c.Made = each(s.Made, func(m Made) Made {
		m.Of, m.Less, m.Map = slices.Clone(m.Of), slices.Clone(m.Less), maps.Clone(m.Map)
		return m
	})
	cells := func(x Cells) Cells {
		x.Values = slices.Clone(x.Values)
		return x
	}
	c.Rules = each(s.Rules, func(r Rule) Rule {
		return Rule{each(r.When, cells), each(r.Then, cells)}
	})
	return &c
}

// ForPrivate returns the schema by which private rows are read: s, and lenient whatever s says, as
// an error about a row is an answer without noise.
func (s *Schema) ForPrivate() *Schema {
	c := s.Clone()
	c.Lenient = true
	return c
}

// ForSynthetic returns the schema by which synthetic rows are read, which belong to no unit, and
// about which an error hides nothing.
func (s *Schema) ForSynthetic() *Schema {
	out := *s
	out.Unit, out.MaxRowsPerUnit, out.Lenient = "", 0, false
	return &out
}

// Linked describes the tables of a run: one table of single rows ([One]), or a table of units, such
// as patients, tables whose rows each belong to one of them, such as visits, and tables whose rows
// belong to those:
//
//	decoy: 1
//	unit: patient_id
//	tables:
//	  - name: patients
//	    columns: [...]
//	  - name: visits
//	    parent: patients
//	    key: patient_id
//	    order: {by: date, rows: 15}
//	    weight: 1
//	    remember: [diagnosis]
//	    id: visit_id
//	    columns: [...]
//	  - name: drugs
//	    parent: visits
//	    key: visit_id
//	    ...
type Linked struct {
	Unit   string        // what a unit is: the names of the id columns of the first table
	Tables []LinkedTable // the first is that of the units, parents are before children
	// the second is described by itself: the first has no columns and no file, and its ids
	Alone bool
}

// One is one table of single rows, which has no name.
func One(s *Schema) *Linked {
	return &Linked{Unit: s.Unit, Tables: []LinkedTable{{Schema: s}}}
}

// Clone is a copy that shares nothing with l.
func (l *Linked) Clone() *Linked {
	out := &Linked{l.Unit, slices.Clone(l.Tables), l.Alone}
	for i := range out.Tables {
		t := &out.Tables[i]
		t.ID, t.Key = slices.Clone(t.ID), slices.Clone(t.Key)
		t.Remember, t.Schema = slices.Clone(t.Remember), t.Schema.Clone()
	}
	return out
}

// Single reports whether it is one table of single rows.
func (l *Linked) Single() bool { return len(l.Tables) == 1 }

// Folder reports whether there are several files of rows, which go into a folder.
func (l *Linked) Folder() bool { return len(l.Described()) > 1 }

// MostRows is how many rows of a unit are used where each row is by itself; 0: there is no unit, or
// what counts of its rows is said by the order and the weight of each table.
func (l *Linked) MostRows() int {
	if l.Unit == "" || !l.Single() {
		return 0
	}
	return max(1, l.Tables[0].Schema.MaxRowsPerUnit)
}

// LinkedTable is one of the tables.
type LinkedTable struct {
	Name   string
	Parent string   // "" in the first table
	ID     []string // columns of the file that hold the id of a row; nil where no table is its child
	Key    []string // those that hold the id of its parent; nil in the first table
	Order  Order    // of the rows of a parent; none in the first table
	// how many rows of a unit count fully in questions about its rows; with more rows than that, each
	// counts less. ≥ 1, 0 in the first table
	Weight int
	// columns of whose categories it is asked whether an earlier row had them
	Remember []string
	// of several tables, Unit names ID in the first, and Key in others; MaxRowsPerUnit is Order.Rows,
	// 1 in the first
	Schema *Schema
}
