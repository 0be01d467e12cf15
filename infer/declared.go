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

// conventions are columns that everybody takes for the same by their names, for where the rows are
// too few for the noise to say more, or what it says is beyond what there is.
var conventions = map[string]schema.Column{
	"age":    ages,
	"alter":  ages,
	"year":   {Kind: schema.Integer, Min: 1900, Max: 2099, Bins: 40},
	"month":  {Kind: schema.Integer, Min: 1, Max: 12},
	"hour":   {Kind: schema.Integer, Max: 23},
	"gcs":    {Kind: schema.Integer, Min: 3, Max: 15},
	"sofa":   {Kind: schema.Integer, Max: 24},
	"bmi":    {Kind: schema.Real, Min: 10, Max: 70, Bins: 20, Decimals: 1},
	"gender": sexes,
	"sex":    sexes,
}

var ages = schema.Column{Kind: schema.Integer, Max: 120, Bins: 24}

var sexes = schema.Column{Kind: schema.Categorical, OnInvalid: schema.Other, Other: "(other)",
	Categories: []string{"0", "1", "2", "F", "Female", "M", "Male", "f", "female", "m", "male",
		"(other)"}}

// byName is the convention for a column that may replace found, which may be nil: if it holds all
// that was found.
func byName(name string, found *schema.Column, missing []string) *schema.Column {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == '_' || r == ' ' || r == '-' || r == '.' || r == '(' || r == ')'
	})
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"in", "at", "of", "years", "jahre", "jahren", "admission",
			"patient"}, w)
	})
	if len(words) != 1 {
		return nil
	}
	c, ok := conventions[words[0]]
	if !ok || found != nil && (!c.Kind.Ordered() || found.Kind != c.Kind ||
		found.Min >= c.Max || found.Max > 3*c.Max) {
		return nil
	}
	zero := found != nil && found.Min == 0 && c.Min > 1 && c.Min <= nearZero*found.Max
	if found != nil && found.Min < c.Min && !zero { // which bounds would have been moved to
		return nil
	}
	c.Name, c.Missing = name, missing
	if c.Kind.Ordered() {
		c.OnInvalid = schema.Clamp
		if len(missing) == 0 {
			c.Missing = []string{""}
		}
	}
	return &c
}

// byNameNote says so in the file.
const byNameNote = "the usual one of this name, as the noise does not say more"
