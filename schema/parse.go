package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// version is the version of the file format, the value of the key "decoy".
const version = 1

// Load reads the schema file at path, as Parse does.
func Load(path string) (*Schema, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// readFile reads what may be a schema file.
func readFile(path string) ([]byte, error) {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".csv" || ext == ".parquet" {
		return nil, &problem{text: fmt.Sprintf("%s has the name of a table; a schema is a YAML file",
			path)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return data, nil
}

// Parse reads a schema file and fills in the defaults. The error joins everything
// that is wrong with it, each with its line; each wraps ErrInvalid. Scalars are
// taken as they are written: no, 1.0, 0x10 and null are the categories "no",
// "1.0", "0x10" and "null". Tags, anchors and aliases are refused.
func Parse(data []byte) (*Schema, error) {
	s, open, err := parse(data)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(open, func(line int) bool { return line > 0 }); i >= 0 {
		return nil, &problem{line: open[i], column: "column " + yamlfile.Quote(s.Columns[i].Name),
			text: "is open (kind, categories, min, max or edges without a value), so the schema is not " +
				"complete: write the values, or buy them: decoy schema infer TABLE --schema FILE"}
	}
	return s, nil
}

// parse reads a schema, and says in which line each column is open; 0: it is not.
func parse(data []byte) (*Schema, []int, error) {
	if len(data) > maxFile {
		return nil, nil, &problem{text: fmt.Sprintf("the file is longer than %d MiB", maxFile>>20)}
	}
	if n := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte("\n")); n > maxItems {
		return nil, nil, &problem{text: fmt.Sprintf("the file has %d commas and lines; %d are the most",
			n, maxItems)}
	}
	f := &file{top: map[key]*yaml.Node{}}
	root := f.reader(-1, "").Document(data, "a schema", "decoy: 1")
	if root == nil {
		return nil, nil, f.ps.err()
	}
	f.root, f.ps.line = root, f.line
	s := f.schema()
	f.ps.schema(s, f.broken)
	codes := 0
	open := make([]int, len(s.Columns))
	whole := true
	codecs := make([]*Codec, len(s.Columns))
	for i := range s.Columns {
		if f.columns[i].open != 0 {
			f.open(i, s.Columns[i])
			open[i], whole = f.columns[i].node.Line, false
			continue
		}
		c := f.ps.column(i, &s.Columns[i], f.columns[i].given, f.columns[i].broken)
		if codecs[i] = c; c != nil {
			codes += c.Size()
		}
		if codes > maxCells {
			return nil, nil, &problem{text: fmt.Sprintf("the columns have more than %d codes together",
				maxCells)}
		}
	}
	if whole && !slices.Contains(codecs, nil) {
		newRowCodec(&f.ps, s, codecs)
	}
	if err := f.ps.err(); err != nil {
		return nil, nil, err
	}
	if whole {
		even := s.even()
		s = s.filled()
		for _, i := range even { // stays the default: see BuyDefaults
			s.Columns[i].Bins = 0
		}
	}
	return s, open, nil
}

// A file is a schema file that is being read.
type file struct {
	ps      problems
	root    *yaml.Node
	top     map[key]*yaml.Node
	broken  keys // of top: a problem is reported already
	columns []columnNodes
}

// columnNodes are the nodes that one column was read from.
type columnNodes struct {
	node          *yaml.Node
	fields        map[key]*yaml.Node
	given, broken keys
	open          keys // without a value: see Partial
}

// line gives the line of a place.
func (f *file) line(at place) int {
	whole, nodes := f.root, f.top
	if at.column >= 0 {
		whole, nodes = f.columns[at.column].node, f.columns[at.column].fields
	}
	node := nodes[at.key]
	switch {
	case node == nil:
		return whole.Line
	case at.item >= 0 && at.item < len(node.Content):
		return node.Content[at.item].Line
	}
	return node.Line
}

// schema reads the whole file.
func (f *file) schema() *Schema {
	s := &Schema{}
	values := f.reader(-1, "").Fields(f.root, "", keyNames[keyVersion:keyName])
	for k := keyVersion; k <= keyRules; k++ {
		if n := values[k.String()]; n != nil {
			f.top[k] = n
		}
	}
	read := func(k key, read func(n *yaml.Node) error) {
		if n := f.top[k]; n != nil {
			if err := read(n); err != nil {
				f.ps.addAt(n.Line, -1, "", "%s: %s", k, err)
				f.broken.add(k)
			}
		}
	}
	if f.top[keyVersion] == nil {
		f.ps.addAt(f.root.Line, -1, "",
			"the key decoy is missing: decoy: %d says which version of the format this is", version)
	}
	read(keyVersion, func(n *yaml.Node) error {
		v, err := wholeOf(n)
		if err == nil && v != version {
			return fmt.Errorf("version %d is not known; this program reads version %d", v, version)
		}
		return err
	})
	read(keyUnit, func(n *yaml.Node) (err error) {
		if s.Unit, err = yamlfile.Text(n); err == nil && s.Unit == "" {
			return errors.New("is empty; leave it out if every row is its own unit")
		}
		return err
	})
	read(keyMaxRows, func(n *yaml.Node) (err error) {
		if s.MaxRowsPerUnit, err = wholeOf(n); err == nil && s.MaxRowsPerUnit < 1 {
			return errors.New("must be at least 1")
		}
		return err
	})
	read(keyLenient, func(n *yaml.Node) (err error) { s.Lenient, err = yamlfile.Truth(n); return err })
	read(keyCSV, func(n *yaml.Node) error { f.csv(n, &s.CSV); return nil })
	read(keyColumns, func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return fmt.Errorf("must be a list, not %s", yamlfile.Kind(n))
		}
		if len(n.Content) > maxColumns {
			return fmt.Errorf("%d columns; %d are the most", len(n.Content), maxColumns)
		}
		for i, node := range n.Content {
			if isMade(node) {
				s.Made = append(s.Made, f.made(i, node))
				continue
			}
			s.Columns = append(s.Columns, f.column(len(s.Columns), node))
		}
		return nil
	})
	read(keyRules, func(n *yaml.Node) (err error) { s.Rules, err = f.rules(n); return err })
	return s
}

// csv reads the value of the key csv.
func (f *file) csv(n *yaml.Node, c *CSV) {
	form := struct {
		Header bool   `yaml:"header"`
		Comma  string `yaml:"comma"`
	}{true, "\x00"} // none is given
	f.reader(-1, "").Decode(n, "", &form)
	if c.NoHeader = !form.Header; len(form.Comma) != 1 {
		f.ps.addAt(n.Line, -1, "", "comma must be one ASCII character, such as \",\" or \"\\t\"")
		return
	}
	c.Comma = form.Comma[0]
}

// reader reports what is wrong in a column; −1: in none.
func (f *file) reader(column int, name string) yamlfile.Reader {
	return yamlfile.Reader{Report: func(line int, text string) {
		f.ps.addAt(line, column, name, "%s", text)
	}}
}

// wholeOf gives the value of a whole number.
func wholeOf(n *yaml.Node) (int, error) {
	x, err := yamlfile.Whole(n, 32)
	return int(x), err
}
