package schema

import "slices"

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
	return &c
}
