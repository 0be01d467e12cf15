package schema

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// maxFile is the longest schema file that is read, in bytes.
const maxFile = 16 << 20

// The bounds of what a schema may say, so that a small file cannot ask for much memory or time: the
// values in the file, counted as its commas and lines; columns; and the codes of all columns
// together.
const (
	maxItems   = 1 << 20
	maxColumns = 10_000
	maxCells   = 1 << 22
)

// formatVersion is the version of the file format, the value of the key "decoy".
const formatVersion = 1

// Partial is a schema of which not all is known. In its file a column has keys without a value, as
// in
//
//   - {name: fee, kind: }                # anything
//   - {name: paid, kind: real, min: , max: }
//   - {name: ward, kind: categorical, categories: }
//
// and such a column is open. Imports from other tools are written so; package infer buys
// what is open.
type Partial struct {
	Schema        // an open column has what is known of it; the others are valid
	Open   []bool // of each column
}

// openKeys are those that may be without a value.
var openKeys = []string{"kind", "categories", "min", "max", "edges"}

// Load reads the schema file at path, as Parse does.
func Load(path string) (*Schema, error) { return load(path, Parse) }

// LoadPartial reads the file at path, as [Load] does, but for open columns.
func LoadPartial(path string) (*Partial, error) {
	return load(path, func(data []byte) (*Partial, error) {
		p, _, err := parse(data)
		return p, err
	})
}

// load reads and parses what may be a schema file.
func load[T any](path string, parse func(data []byte) (T, error)) (none T, err error) {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".csv" || ext == ".parquet" {
		return none, &problem{text: fmt.Sprintf("%s has the name of a table; a schema is a YAML file",
			path)}
	}
	data, err := yamlfile.ReadFile(path, maxFile)
	if err != nil {
		return none, fmt.Errorf("schema: %w", err)
	}
	return parse(data)
}

// Parse reads a schema file and fills in the defaults. The error joins everything
// that is wrong with it, each with its line; each wraps ErrInvalid. Scalars are
// taken as they are written: no, 1.0, 0x10 and null are the categories "no",
// "1.0", "0x10" and "null". Tags, anchors and aliases are refused.
func Parse(data []byte) (*Schema, error) {
	p, ps, err := parse(data)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(p.Open, true); i >= 0 {
		ps.add(i, "", -1, "is open (kind, categories, min, max or edges without a value), so the schema "+
			"is not complete: write the values, or buy them: decoy schema infer TABLE --schema FILE")
		return nil, ps.found[0]
	}
	return &p.Schema, nil
}

// parse reads a schema with open columns or none.
func parse(data []byte) (*Partial, *problems, error) {
	ps, err := document(data)
	switch {
	case err != nil:
		return nil, nil, err
	case valueOf(ps.root, "tables") != nil, valueOf(ps.root, "order") != nil:
		return nil, nil, ErrLinked
	}
	p := &Partial{}
	ps.s = &p.Schema
	ps.rows(p, []field{{"decoy", nil}, {"unit", &p.Unit}, {"max_rows_per_unit", &p.MaxRowsPerUnit},
		{"lenient", &p.Lenient}})
	if err := ps.err(); err != nil {
		return nil, nil, err
	}
	return p, ps, nil
}

// document is the keys and values of a file, whose version has been looked at.
func document(data []byte) (*problems, error) {
	if len(data) > maxFile {
		return nil, &problem{text: fmt.Sprintf("the file is longer than %d MiB", maxFile>>20)}
	}
	if n := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte("\n")); n > maxItems {
		return nil, &problem{text: fmt.Sprintf("the file has %d commas and lines; %d are the most",
			n, maxItems)}
	}
	ps := &problems{}
	r := ps.reader("")
	if ps.root = r.Document(data, "a schema", "decoy: 1"); ps.root == nil {
		return nil, ps.err()
	}
	version, n := 0, valueOf(ps.root, "decoy")
	if n == nil {
		ps.add(-1, "", -1,
			"the key decoy is missing: decoy: %d says which version of the format this is", formatVersion)
	} else if (field{"decoy", &version}).read(r, n, "", nil); version > formatVersion {
		ps.add(-1, "decoy", -1, "decoy: version %d is not known; this program reads version %d", version,
			formatVersion)
	}
	return ps, nil
}

// rows reads what is said of the rows of a table, beside keys of its own.
func (ps *problems) rows(p *Partial, own []field) {
	broken := ps.read(p, own)
	codes := 0
	codecs := make([]*Codec, len(p.Columns))
	for i := range p.Columns {
		switch {
		case broken[i]: // said already
		case p.Open[i]:
			ps.open(i)
		default:
			codecs[i] = ps.column(i, &p.Columns[i])
		}
		if c := &p.Columns[i]; p.Open[i] || c.Edges != nil || !c.Kind.Ordered() {
			c.Min, c.Max = 0, 0 // nothing is NaN any more
		}
		if c := codecs[i]; c != nil {
			codes += c.Size()
		}
		if codes > maxCells {
			ps.found = []*problem{{column: ps.table, text: fmt.Sprintf(
				"the columns have more than %d codes together", maxCells)}}
			return
		}
	}
	if !slices.Contains(codecs, nil) {
		newRowCodec(ps, &p.Schema, codecs)
	}
	if ps.found == nil && !slices.Contains(p.Open, true) {
		even := p.even()
		p.Schema = *p.filled()
		for _, i := range even { // stays the default: see BuyDefaults
			p.Columns[i].Bins = 0
		}
	}
}

// read reads all keys, checks what is not about one column alone, and says which columns have a
// problem.
func (ps *problems) read(p *Partial, own []field) (columns []bool) {
	s, before, r := &p.Schema, len(ps.found), ps.reader("")
	fields := append(own, field{"csv", &s.CSV}, field{"columns", nil}, field{"rules", &s.Rules})
	nodes := r.Fields(ps.root, "", keysOf(fields))
	unknown := len(ps.found) - before
	for _, f := range fields {
		if n := nodes[f.key]; n != nil {
			f.read(r, n, "", nil)
		}
	}
	if nodes["unit"] != nil && s.Unit == "" {
		ps.add(-1, "unit", -1, "unit: is empty; leave it out if every row is its own unit")
	}
	broken := len(ps.found) > unknown
	switch n := nodes["columns"]; {
	case n == nil:
	case n.Kind != yaml.SequenceNode:
		ps.add(-1, "columns", -1, "columns: must be a list, not %s", yamlfile.Kind(n))
		broken = true
	case len(n.Content) > maxColumns:
		ps.add(-1, "columns", -1, "columns: %d columns; %d are the most", len(n.Content), maxColumns)
		broken = true
	default:
		for i, node := range n.Content {
			if kind, ok := madeNames.value(scalarOf(node, "kind")); ok {
				m := Made{At: i, Kind: madeKind(kind)}
				label := "column " + yamlfile.Quote(scalarOf(node, "name"))
				readAll(ps.reader(label), node, "", nil, m.fields())
				s.Made = append(s.Made, m)
				continue
			}
			before := len(ps.found)
			p.Open = append(p.Open, ps.readColumn(node))
			columns = append(columns, len(ps.found) > before)
		}
	}
	if !broken {
		ps.schema()
	}
	return columns
}

// readColumn reads an item of the list of columns, and says whether it is open. Bounds that it does
// not say are NaN.
func (ps *problems) readColumn(node *yaml.Node) (open bool) {
	i := len(ps.s.Columns)
	ps.nodes = append(ps.nodes, node)
	ps.s.Columns = append(ps.s.Columns, Column{Name: scalarOf(node, "name"), Min: math.NaN(),
		Max: math.NaN()})
	c := &ps.s.Columns[i]
	r := ps.reader(ps.label(i))
	nodes := r.Fields(node, "", keysOf(c.fields()))
	for _, f := range c.fields() {
		n := nodes[f.key]
		switch {
		case n == nil:
			continue
		case slices.Contains(openKeys, f.key) && yamlfile.Open(n):
			open = true
			continue
		}
		known := len(ps.found)
		if f.read(r, n, "", c); f.key == "format" && len(ps.found) > known {
			break // there is no telling of bounds
		}
	}
	return open
}

// scalarOf gives the scalar of a key early, for what is said of the rest.
func scalarOf(node *yaml.Node, key string) string {
	if n := valueOf(node, key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// valueOf is the value of a key, nil if there is none.
func valueOf(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// open checks what is known of an open column, with other values for what is not.
func (ps *problems) open(i int) {
	c := ps.s.Columns[i]
	switch {
	case c.Kind == 0 && valueOf(ps.nodes[i], "kind") != nil:
		c.Kind = Boolean
	case c.Kind.Ordered() && !(math.IsNaN(c.Min) && math.IsNaN(c.Max) && c.Edges == nil):
		ps.add(i, "min", -1, "min and max are open, or none of them")
		return
	case c.Kind.Ordered():
		if c.Min, c.Max = 0, 1e5; c.Kind.facts().unit > 0 {
			c.Max = float64(1e4 * microsPerDay / c.Kind.facts().unit) // a midnight: every format has it
		}
		c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
			_, err := strconv.ParseFloat(token, 64) // the bounds may be such that it is no value
			return err == nil
		})
	case c.Kind == Categorical:
		c.Categories = []string{c.Other}
		if c.OnInvalid != Other {
			c.Categories[0] += "?"
		}
	}
	ps.column(i, &c)
}
