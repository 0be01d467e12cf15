package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// Asked are the numbers of the columns of a table that are asked about: those that are declared to
// be open. A column that is not declared is neither asked about nor in the schema, unless nothing
// is. The error, for a column that the table does not have or for none that is open, wraps
// schema.ErrInvalid.
func (o *Inference) Asked(names []string) (asked []int, err error) {
	if o.Declared == nil {
		o.Declared = &schema.Partial{}
		for _, name := range names {
			o.Declared.Columns = append(o.Declared.Columns, schema.Column{Name: name})
			o.Declared.Open = append(o.Declared.Open, true)
		}
	}
	for i, c := range o.Declared.Columns {
		at := slices.Index(names, c.Name)
		if at < 0 {
			return nil, fmt.Errorf("the table has no column %q%s: %w", c.Name,
				spelling.Hint(c.Name, names), schema.ErrInvalid)
		}
		if o.Declared.Open[i] {
			asked = append(asked, at)
		}
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("no column is open, so there is nothing to buy: %w",
			schema.ErrInvalid)
	}
	slices.Sort(asked)
	return asked, nil
}

// declare takes what is declared of an open column for granted.
func (v *verdict) declare(c *schema.Column) {
	if c.Kind != 0 {
		if v.kind == 0 {
			v.note = "declared to be " + c.Kind.String() + "; " + strings.TrimPrefix(v.note, "left out: ")
		}
		v.declared = c.Kind
		v.kind, v.format, v.mixed = c.Kind, c.Format, false
		v.asks = !c.Kind.Ordered() || c.Kind.Stored() == schema.StoredDays
		if c.Kind.Stored() == schema.StoredText {
			v.readAsTexts()
		}
		if c.Kind.Stored() != schema.StoredFloat {
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
