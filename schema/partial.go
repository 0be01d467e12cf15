package schema

import (
	"slices"
	"strconv"
)

// Partial is a schema of which not all is known. In its file a column has keys without a value, as
// in
//
//   - {name: fee, kind: }                # anything
//   - {name: paid, kind: real, min: , max: }
//   - {name: ward, kind: categorical, categories: }
//
// and such a column is open. Imports from other tools are written so; package infer buys what is
// open.
type Partial struct {
	Schema        // an open column has what is known of it; the others are valid
	Open   []bool // of each column
}

// LoadPartial reads the file at path, as [Load] does, but for open columns.
func LoadPartial(path string) (*Partial, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s, open, err := parse(data)
	if err != nil {
		return nil, err
	}
	p := &Partial{Schema: *s}
	for _, line := range open {
		p.Open = append(p.Open, line > 0)
	}
	return p, nil
}

// openKeys are those that may be without a value.
const openKeys keys = 1<<keyKind | 1<<keyCategories | 1<<keyMin | 1<<keyMax | 1<<keyEdges

// open checks what is known of an open column, with other values for what is not.
func (f *file) open(i int, c Column) {
	nodes := &f.columns[i]
	given := nodes.given
	unit := c.Kind.facts().unit
	switch {
	case nodes.broken != 0: // said already
		return
	case nodes.open.has(keyKind):
		c.Kind = Boolean
		given.add(keyKind)
	case c.Kind.Ordered() && (given.has(keyMin) || given.has(keyMax) || given.has(keyEdges)):
		f.ps.add(place{i, keyMin, -1}, c.Name, "min and max are open, or none of them")
		return
	case c.Kind.Ordered():
		if c.Min, c.Max = 0, 1e5; unit > 0 {
			c.Max = float64(1e4 * microsPerDay / unit) // a midnight, which every format can write
		}
		c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
			_, err := strconv.ParseFloat(token, 64) // the bounds may be such that it is no value
			return err == nil
		})
		given |= 1<<keyMin | 1<<keyMax
	case c.Kind == Categorical:
		c.Categories = []string{c.Other}
		if c.OnInvalid != Other {
			c.Categories[0] += "?"
		}
		given.add(keyCategories)
	}
	f.ps.column(i, &c, given, 0)
}
