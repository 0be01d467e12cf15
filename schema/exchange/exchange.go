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
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
)

// maxFile is the longest file that is read, in bytes.
const maxFile = 16 << 20

// Draft is an imported schema, complete or not.
type Draft struct {
	Columns []Column
	Notes   []string // what the form says that a schema cannot, and what was left out
}

// Column is an imported column. With Open it lacks what Open says and is no valid column yet.
type Column struct {
	schema.Column
	Open string // "" or, for people, what has to be filled in
}

// Formats are the names of the forms that [Import] reads.
func Formats() (names []string) {
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Import reads a file in one of the [Formats]. table names the table of a file that has several;
// "" is the only one. Errors wrap schema.ErrInvalid.
func Import(format string, data []byte, table string) (*Draft, error) {
	if len(data) > maxFile {
		return nil, invalid("the file is longer than %d MiB", maxFile>>20)
	}
	i := slices.Index(Formats(), format)
	if i < 0 {
		return nil, invalid("unknown form %q: there is %s", format, strings.Join(Formats(), ", "))
	}
	file, err := treeOf(data, forms[i].yaml)
	if err != nil {
		return nil, err
	}
	r := &reading{form: forms[i], file: file}
	d, err := r.draft(table)
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

// check validates the names, and the columns that are complete.
func (d *Draft) check() error {
	s := &schema.Schema{}
	for _, c := range d.Columns {
		if c.Open != "" {
			c.Column = schema.Column{Name: c.Name, Kind: schema.Boolean}
		}
		s.Columns = append(s.Columns, c.Column)
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("exchange: %w", err)
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
	fmt.Fprintf(&b, "decoy: 1\ncolumns:\n")
	for _, c := range d.Columns {
		item, err := c.YAML(c.Open != "")
		if err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		if c.Open != "" {
			name, rest, _ := strings.Cut(item, "\n")
			item = fmt.Sprintf("%s\n    # fill in: %s\n%s", name, spelling.Visible(c.Open), rest)
		}
		b.WriteString(item)
	}
	return b.Bytes(), nil
}

// quoted is a text in double quotes, as JSON and YAML have it.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}
