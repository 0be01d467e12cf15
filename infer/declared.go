package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
)

// Declared is what a person says of the columns of a table before anything is bought. A column that
// it does not list is neither asked about nor in the result.
type Declared = schema.Partial

// AllOpen declares nothing but the names.
func AllOpen(names []string) *Declared {
	d := &Declared{Open: make([]bool, len(names))}
	for i, name := range names {
		d.Columns, d.Open[i] = append(d.Columns, schema.Column{Name: name}), true
	}
	return d
}

// Asked are the numbers of the columns of a table that are asked about: those that are declared to
// be open. The error, for a column that the table does not have or for none that is open, wraps
// schema.ErrInvalid.
func Asked(d *Declared, names []string) ([]int, error) {
	var asked []int
	for i, c := range d.Columns {
		at := slices.Index(names, c.Name)
		if at < 0 {
			return nil, fmt.Errorf("infer: the table has no column %q%s: %w", c.Name,
				spelling.Hint(c.Name, names), schema.ErrInvalid)
		}
		if d.Open[i] {
			asked = append(asked, at)
		}
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("infer: no column is open, so there is nothing to buy: %w",
			schema.ErrInvalid)
	}
	slices.Sort(asked)
	return asked, nil
}

// declare takes what is declared of an open column for granted.
func (v *judged) declare(c *schema.Column) {
	if c.Kind != 0 {
		if v.kind == 0 {
			v.note = "declared to be " + c.Kind.String() + "; " + strings.TrimPrefix(v.note, "left out: ")
		}
		v.kind, v.format, v.mixed, v.seeks = c.Kind, c.Format, false, !c.Kind.Ordered()
		if c.Kind == schema.Categorical {
			v.list()
		}
		if c.Kind != schema.Real {
			v.decimals = 0
		}
	}
	if c.Decimals > 0 {
		v.decimals = c.Decimals
	}
	if len(c.Missing) > 0 { // what was found stays: it is there
		for _, token := range v.missing {
			if !slices.Contains(c.Missing, token) {
				c.Missing = append(slices.Clone(c.Missing), token)
			}
		}
		v.missing = c.Missing
	}
}
