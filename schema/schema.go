// Package schema is the public domain of a table: its columns, their kinds,
// categories, bounds and bins, and whether a cell may be missing. It parses and
// checks that description and turns one cell into a small integer code and back.
//
// A schema is public. It is written by a person, drafted from a public sample
// (Drafter) or bought with privacy budget elsewhere; nothing here reads a
// private table, and no error of this package contains a cell.
package schema

import "errors"

// ErrSchema is wrapped by every error about data that the schema does not allow.
var ErrSchema = errors.New("the data breaks the schema")

// ErrInvalid is wrapped by every error about the schema itself.
var ErrInvalid = errors.New("invalid schema")

// Kind is what the cells of a column are.
type Kind uint8

// The kinds. The zero Kind is not valid.
const (
	Categorical Kind = iota + 1 // one of a declared list of texts
	Integer                     // a whole number, |x| ≤ 2^53
	Real                        // a finite number
	Boolean                     // one of two texts
	Date                        // a day, as days since 1970-01-01
	Timestamp                   // an instant, as microseconds since 1970-01-01 UTC
)

// Policy says what becomes of a cell (or an absent column) that the schema does not allow.
type Policy uint8

// The policies.
const (
	Refuse Policy = iota // the table is refused
	Clamp                // the nearest bin; what has no nearest bin becomes missing
	Other                // a declared category takes it
)

// Spacing says how the edges of bins are laid out.
type Spacing uint8

// The spacings.
const (
	Linear Spacing = iota // equal widths
	Log                   // widths that grow geometrically from Min
)

// Schema describes a table.
type Schema struct {
	Unit           string   // name of the id column, which is not one of Columns; "" = every row is its own privacy unit
	MaxRowsPerUnit int      // ≥ 1 when Unit is set, else 0 or 1
	CSV            CSV      // how CSV files of this table are written
	Columns        []Column // at least one
}

// CSV describes the CSV files of a table.
type CSV struct {
	NoHeader bool // the first line is a row, and columns are found by position
	Comma    byte // default ','
}

// Column describes one column.
type Column struct {
	Name       string
	Kind       Kind
	Categories []string  // Categorical: codes 0..K-1 in this order. Boolean: the texts of false and true, default false, true
	Min, Max   float64   // Integer, Real; Date: days; Timestamp: microseconds. Both inclusive
	Bins       int       // 0 = default: an Integer with ≤ 100 values has one bin a value, all else 32
	Spacing    Spacing   // default Linear
	Edges      []float64 // explicit increasing edges from Min to Max; bin i is [e_i, e_{i+1}), the last is closed
	Format     string    // Date, Timestamp: Go layout; default 2006-01-02 and RFC 3339
	Missing    []string  // tokens that mean missing; none = a cell is never missing. Output writes Missing[0]
	OnInvalid  Policy    // default Refuse
	Other      string    // the category that takes disallowed cells when OnInvalid is Other
	Decimals   int       // Real: digits written after the point; 0 = chosen from the bin width
}

// Parse reads a schema file.
func Parse(yaml []byte) (*Schema, error) { panic("schema: not yet") }

// Load reads the schema file at path.
func Load(path string) (*Schema, error) { panic("schema: not yet") }

// Validate reports everything that is wrong with s.
func (s *Schema) Validate() error { panic("schema: not yet") }

// YAML writes s in its canonical form.
func (s *Schema) YAML() ([]byte, error) { panic("schema: not yet") }

// Fingerprint is the hexadecimal SHA-256 of YAML.
func (s *Schema) Fingerprint() string { panic("schema: not yet") }

// Sizes gives the number of codes of every column, missing included.
func (s *Schema) Sizes() []int { panic("schema: not yet") }

// Index gives the position of the named column, or -1.
func (s *Schema) Index(name string) int { panic("schema: not yet") }

// Codecs makes one codec a column.
func (s *Schema) Codecs() ([]*Codec, error) { panic("schema: not yet") }

func (k Kind) String() string                       { panic("schema: not yet") }
func (k Kind) MarshalText() ([]byte, error)         { panic("schema: not yet") }
func (k *Kind) UnmarshalText(text []byte) error     { panic("schema: not yet") }
func (p Policy) String() string                     { panic("schema: not yet") }
func (p Policy) MarshalText() ([]byte, error)       { panic("schema: not yet") }
func (p *Policy) UnmarshalText(text []byte) error   { panic("schema: not yet") }
func (sp Spacing) String() string                   { panic("schema: not yet") }
func (sp Spacing) MarshalText() ([]byte, error)     { panic("schema: not yet") }
func (sp *Spacing) UnmarshalText(text []byte) error { panic("schema: not yet") }
