// Package exchange reads and writes descriptions of tables in the forms of other tools: it imports
// the domain files of mbi (private-pgm) and dpsynth, the metadata of SDV, Frictionless, CSVW and
// Croissant, and JSON Schemas of one row, and exports a schema as such a one.
//
// Some forms say less than a schema needs: SDV knows no bounds and no categories. What is not said
// is left open in a [Draft], for a person to fill in or for schema infer to buy; it is never
// guessed.
package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
)

// maxFile is the longest file that is read, in bytes.
const maxFile = 16 << 20

// Draft is an imported schema, complete or not.
type Draft struct {
	Unit    string // id column, "" if none is named
	Columns []Column
	Notes   []string // what the form says that a schema cannot, and what was left out
	wrong   error    // with the first column that cannot be made
}

// Column is an imported column. With Open it lacks what Open says and is no valid column yet.
type Column struct {
	schema.Column
	Open string // "" or, for people, what has to be filled in
}

// Formats are the names of the forms that [Import] reads.
func Formats() []string {
	return []string{"mbi", "dpsynth", "sdv", "frictionless", "csvw", "croissant", "json-schema"}
}

// Import reads a file in one of the [Formats]. table names the table of a file that has several;
// "" is the only one. Errors wrap schema.ErrInvalid.
func Import(format string, data []byte, table string) (*Draft, error) {
	if len(data) > maxFile {
		return nil, invalid("the file is longer than %d MiB", maxFile>>20)
	}
	var d *Draft
	var err error
	switch format {
	case "mbi":
		d, err = fromMBI(data)
	case "dpsynth":
		d, err = fromDPSynth(data)
	case "sdv":
		d, err = fromSDV(data, table)
	default:
		read := map[string]func(object, string) (*Draft, error){"frictionless": fromFrictionless,
			"csvw": fromCSVW, "croissant": fromCroissant, "json-schema": fromJSONSchema}[format]
		if read == nil {
			return nil, invalid("unknown form %q: there is %s", format, strings.Join(Formats(), ", "))
		}
		top, ok := objectOf(data)
		if !ok {
			return nil, invalid("not a JSON object")
		}
		d, err = read(top, table)
	}
	if err == nil {
		err = d.wrong
	}
	if err != nil {
		return nil, err
	}
	if len(d.Columns) == 0 {
		return nil, invalid("no column is left: %s", strings.Join(d.Notes, "; "))
	}
	return d, d.check()
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("exchange: %w: %s", schema.ErrInvalid, spelling.Visible(fmt.Sprintf(format,
		args...)))
}

// schema is the columns that are complete.
func (d *Draft) schema() *schema.Schema {
	s := &schema.Schema{Unit: d.Unit}
	if d.Unit != "" {
		s.MaxRowsPerUnit = 1
	}
	for _, c := range d.Columns {
		if c.Open == "" {
			s.Columns = append(s.Columns, c.Column)
		}
	}
	return s
}

// check validates the complete columns.
func (d *Draft) check() error {
	seen := map[string]bool{}
	for _, c := range d.Columns {
		if c.Name == "" || seen[c.Name] {
			return invalid("column %q has no name, or that of another", c.Name)
		}
		seen[c.Name] = true
	}
	if s := d.schema(); len(s.Columns) > 0 {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("exchange: %w", err)
		}
	}
	return nil
}

// YAML is the schema file. What is open stands there as a key without a value, which decoy refuses
// by its line, and with a comment.
func (d *Draft) YAML() ([]byte, error) {
	var b bytes.Buffer
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "# %s\n", spelling.Visible(note))
	}
	fmt.Fprintf(&b, "decoy: 1\n")
	if d.Unit != "" {
		text, err := (&schema.Schema{Unit: d.Unit, MaxRowsPerUnit: 1,
			Columns: []schema.Column{{Name: d.Unit + "_", Kind: schema.Boolean}}}).YAML()
		if err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		fmt.Fprintf(&b, "%s", between(string(text), "decoy: 1\n", "columns:\n"))
	}
	fmt.Fprintf(&b, "columns:\n")
	for _, c := range d.Columns {
		whole := c.Column
		if c.Open != "" { // written as a boolean, whose other keys are then replaced
			whole = schema.Column{Name: c.Name, Kind: schema.Boolean}
		}
		text, err := (&schema.Schema{Columns: []schema.Column{whole}}).YAML()
		if err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		_, item, _ := strings.Cut(string(text), "columns:\n")
		if c.Open != "" {
			item = between(item, "", "    kind: ") + c.openKeys()
		}
		b.WriteString(item)
	}
	return b.Bytes(), nil
}

// openKeys is the lines of a column that is not complete.
func (c Column) openKeys() string {
	out := fmt.Sprintf("    # fill in: %s\n", spelling.Visible(c.Open))
	if c.Kind == 0 {
		return out + "    kind:\n" + c.missingKey()
	}
	out += fmt.Sprintf("    kind: %v\n", c.Kind)
	if c.Format != "" {
		out += fmt.Sprintf("    format: %s\n", quoted(c.Format))
	}
	out += c.missingKey()
	if c.Kind == schema.Categorical {
		return out + "    categories:\n"
	}
	return out + "    min:\n    max:\n"
}

// missingKey is the tokens of a column that is not complete.
func (c Column) missingKey() string {
	if len(c.Missing) == 0 {
		return ""
	}
	var tokens []string
	for _, token := range c.Missing {
		tokens = append(tokens, quoted(token))
	}
	return fmt.Sprintf("    missing: [%s]\n", strings.Join(tokens, ", "))
}

// quoted is a YAML scalar in double quotes: JSON strings are such.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}

// between is the part of text after the first from and before the first to.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// member is one entry of a JSON object, in the order of the file.
type member struct {
	key   string
	value json.RawMessage
}

// members takes an object apart. A key that is there twice is an error.
func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, invalid("not a JSON object")
	}
	var out []member
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, invalid("not JSON")
		}
		if seen[key] {
			return nil, invalid("key %q is there twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, invalid("not JSON, at key %q", key)
		}
		out = append(out, member{key, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, invalid("not JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, invalid("something follows the JSON object")
	}
	return out, nil
}
