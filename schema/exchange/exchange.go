// Package exchange imports descriptions of tables in the forms of other tools: the domain files of
// mbi (private-pgm), the metadata of SDV, and Frictionless Table Schemas.
//
// Some forms say less than a schema needs: SDV knows no bounds and no categories. What is not said
// is left open in a [Draft], for a person to fill in or for schema infer to buy; it is never
// guessed.
package exchange

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	list, err := forms[i].read(data, table)
	if err != nil {
		return nil, err
	}
	d := &Draft{Notes: []string{forms[i].note}}
	for _, x := range list {
		if err := d.add(x); err != nil {
			return nil, err
		}
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

// said is what a form says of a column.
type said struct {
	schema.Column
	min, max string // as they are written; "": not said
	pattern  string // of dates and timestamps, as schema.Layout reads it; "": the usual one
	leftOut  string // why a schema cannot have the column; "": it can
	note     string // for people
}

// add makes a column, or a note that there is none. What is not said stays open.
func (d *Draft) add(x said) (err error) {
	if x.leftOut != "" {
		x.note = "left out: " + x.leftOut
	}
	if x.note != "" {
		d.Notes = append(d.Notes, fmt.Sprintf("column %q: %s", x.Name, x.note))
	}
	if x.leftOut != "" {
		return nil
	}
	c := Column{Column: x.Column}
	switch {
	case x.Kind == schema.Boolean:
	case len(x.Categories) > 0:
		c.Kind = schema.Categorical
	case x.Kind == 0:
		c.Open = "the kind, and what belongs to it"
	case x.Kind == schema.Categorical:
		c.Open = "the categories"
	default:
		if err = c.bound(x); err != nil {
			err = invalid("column %q: %v", x.Name, err)
		}
	}
	c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
		number, err := strconv.ParseFloat(token, 64)
		return slices.Contains(c.Categories, token) ||
			err == nil && c.Open == "" && c.Kind.Ordered() && number >= c.Min && number <= c.Max
	})
	d.Columns = append(d.Columns, c)
	return err
}

// bound sets the format and the bounds of a column of an ordered kind.
func (c *Column) bound(x said) error {
	moment := c.Kind == schema.Date || c.Kind == schema.Timestamp
	c.Open = "the bounds min and max, inclusive"
	if moment {
		c.Open = "the bounds min and max, in the format"
	}
	layout, ok := schema.Layout(x.pattern)
	switch {
	case ok && moment:
		c.Format = layout
	case moment && x.pattern != "":
		c.Open += fmt.Sprintf("; and the format, as a Go layout (the file says %q)", x.pattern)
		return nil
	}
	var ends [2]float64
	for i, text := range []string{x.min, x.max} {
		if text == "" {
			continue
		}
		if ends[i], ok = c.ParseValue(text); !ok && moment {
			return fmt.Errorf("the bound %q is no date", text)
		} else if !ok {
			return fmt.Errorf("the bound %q is no number", text)
		}
		if x.min == "" || x.max == "" {
			c.Open += fmt.Sprintf(" (the file says only %s %q)", []string{"min", "max"}[i], text)
		}
	}
	if x.min == "" || x.max == "" {
		return nil
	}
	if c.Kind == schema.Integer { // the whole numbers within
		ends[0], ends[1] = math.Ceil(ends[0]), math.Floor(ends[1])
	}
	c.Open, c.Min, c.Max = "", ends[0], ends[1]
	return nil
}
