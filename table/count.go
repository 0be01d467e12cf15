package table

// CountTo adds the marginal over cols to dst.
func (t *Table) CountTo(dst []int64, cols []int) { panic("table: not implemented") }

// Condition allows some codes of one column.
type Condition struct {
	Column int
	Allow  []bool // Allow[code]
}

// Predicate is a conjunction of conditions.
type Predicate []Condition

// CountWhere returns the number of rows that satisfy p.
func (t *Table) CountWhere(p Predicate) int64 { panic("table: not implemented") }
