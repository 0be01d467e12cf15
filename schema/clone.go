package schema

import (
	"maps"
	"slices"
)

// Clone returns a schema that shares no memory with s.
func (s *Schema) Clone() *Schema {
	c := *s
	c.Columns = slices.Clone(s.Columns)
	for i := range c.Columns {
		col := &c.Columns[i]
		col.Categories = slices.Clone(col.Categories)
		col.Edges = slices.Clone(col.Edges)
		col.Missing = slices.Clone(col.Missing)
	}
	c.Made = slices.Clone(s.Made)
	for k := range c.Made {
		c.Made[k].Of, c.Made[k].Map = slices.Clone(c.Made[k].Of), maps.Clone(c.Made[k].Map)
	}
	c.Rules = slices.Clone(s.Rules)
	for j := range c.Rules {
		c.Rules[j] = Rule{cloneCells(c.Rules[j].When), cloneCells(c.Rules[j].Then)}
	}
	return &c
}

func cloneCells(list []Cells) []Cells {
	list = slices.Clone(list)
	for i := range list {
		list[i].Values = slices.Clone(list[i].Values)
	}
	return list
}

// ForPrivate returns the schema by which private rows are read: s, and lenient whatever s says, as
// an error about a row is an answer without noise.
func (s *Schema) ForPrivate() *Schema {
	c := s.Clone()
	c.Lenient = true
	return c
}
