package table

import (
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/schema"
)

// Targets of a file column besides the numbers of schema columns.
const (
	toNothing = -1 // the schema does not name it
	toUnit    = -2 // it holds the privacy unit
)

// layout says which column of a file is which column of a schema.
type layout struct {
	schema *schema.Schema
	sizes  []int
	codecs []*schema.Codec
	target []int    // per file column: a schema column, toUnit or toNothing
	absent []uint16 // per schema column that the file lacks: the code of all its rows
	has    []bool   // per schema column: whether the file has it
}

func newLayout(s *schema.Schema) (*layout, error) {
	codecs, err := s.Codecs()
	if err != nil {
		return nil, err
	}
	n := len(s.Columns)
	return &layout{schema: s, sizes: s.Sizes(), codecs: codecs, absent: make([]uint16, n),
		has: make([]bool, n)}, nil
}

// bindPositions lays out a file without a header: the unit column first, if
// there is one, then the columns in the order of the schema.
func (l *layout) bindPositions() {
	if l.schema.Unit != "" {
		l.target = append(l.target, toUnit)
	}
	for i := range l.schema.Columns {
		l.target = append(l.target, i)
		l.has[i] = true
	}
}

// bindNames lays out a file by its column names. It returns the 1-based
// positions of the columns that the schema does not name.
func (l *layout) bindNames(names []string) (ignored []int, err error) {
	byName := map[string]int{}
	for i, c := range l.schema.Columns {
		byName[c.Name] = i
	}
	if l.schema.Unit != "" {
		byName[l.schema.Unit] = toUnit
	}
	position := map[string]int{}
	for i, name := range names {
		target, known := byName[name]
		if !known {
			l.target = append(l.target, toNothing)
			ignored = append(ignored, i+1)
			continue
		}
		if before := position[name]; before > 0 {
			return nil, fmt.Errorf("table: columns %d and %d both have the name %q: %w", before, i+1, name,
				schema.ErrSchema)
		}
		position[name] = i + 1
		l.target = append(l.target, target)
		if target >= 0 {
			l.has[target] = true
		}
	}
	return ignored, l.checkAbsent(position)
}

// checkAbsent decides about the columns that the file lacks; position holds
// those that it has.
func (l *layout) checkAbsent(position map[string]int) error {
	if len(position) == 0 {
		return fmt.Errorf("table: %w", errNoneOfThese)
	}
	if u := l.schema.Unit; u != "" && position[u] == 0 {
		return fmt.Errorf("table: the file has no column %q, which holds the privacy unit: %w", u,
			schema.ErrSchema)
	}
	var missing []string
	for i, c := range l.schema.Columns {
		if l.has[i] {
			continue
		}
		code, err := l.codecs[i].Absent()
		if err != nil {
			missing = append(missing, fmt.Sprintf("%q", c.Name))
		}
		l.absent[i] = code
	}
	if missing != nil {
		return fmt.Errorf("table: the file has no column %s: %w", strings.Join(missing, ", "),
			schema.ErrSchema)
	}
	return nil
}

// name returns the schema's name of file column i, "" if it has none.
func (l *layout) name(i int) string {
	if i >= len(l.target) {
		return ""
	}
	switch t := l.target[i]; t {
	case toNothing:
		return ""
	case toUnit:
		return l.schema.Unit
	default:
		return l.schema.Columns[t].Name
	}
}

// part is a run of rows of a file in codes.
type part struct {
	rows  int
	cols  []Codes  // by schema column; empty where the file lacks the column
	units []uint32 // per row a position in ids; nil without a unit column
	ids   []string // the units of these rows, in order of appearance
}

// dropNobody leaves out the rows that are of no unit.
func (p *part) dropNobody() {
	keep := 0
	for row, u := range p.units {
		if u == nobody {
			continue
		}
		p.units[keep] = u
		for _, c := range p.cols {
			if c.Len() > 0 {
				c.Set(keep, c.At(row))
			}
		}
		keep++
	}
	if p.units == nil {
		return
	}
	for i, c := range p.cols {
		if c.Len() > 0 {
			p.cols[i] = c.slice(0, keep)
		}
	}
	p.units, p.rows = p.units[:keep], keep
}

// assembly puts the parts of a table together.
type assembly struct {
	*layout
	parts []part
	rows  int
	units map[string]uint32 // number of every unit so far
}

// add appends p, whose unit numbers it replaces by those of the whole table.
func (a *assembly) add(p part) {
	if p.units != nil && a.units == nil {
		a.units = map[string]uint32{}
	}
	global := make([]uint32, len(p.ids))
	for i, id := range p.ids {
		n, ok := a.units[id]
		if !ok {
			n = uint32(len(a.units))
			a.units[id] = n
		}
		global[i] = n
	}
	for i, u := range p.units {
		p.units[i] = global[u]
	}
	p.ids = nil
	a.rows += p.rows
	a.parts = append(a.parts, p)
}

// table joins the parts column by column, freeing them on the way.
func (a *assembly) table() *Table {
	t := &Table{schema: a.schema, sizes: a.sizes, rows: a.rows, cols: make([]Codes, len(a.sizes))}
	a.units = nil
	for i, size := range a.sizes {
		col := NewCodes(size, a.rows)
		if !a.has[i] {
			col.fill(a.absent[i])
		}
		at := 0
		for j := range a.parts {
			p := &a.parts[j]
			if a.has[i] {
				copy(col.slice(at, at+p.rows).U8, p.cols[i].U8)
				copy(col.slice(at, at+p.rows).U16, p.cols[i].U16)
				p.cols[i] = Codes{}
			}
			at += p.rows
		}
		t.cols[i] = col
	}
	if a.schema.Unit != "" {
		t.units = make([]uint32, 0, a.rows)
		for j := range a.parts {
			t.units = append(t.units, a.parts[j].units...)
			a.parts[j].units = nil
		}
	}
	a.parts = nil
	return t
}

// units numbers the privacy units of one part.
type units struct {
	number map[string]uint32
	ids    []string
}

// of returns the number of the unit with this id.
func (u *units) of(id []byte) uint32 {
	n, ok := u.number[string(id)]
	if !ok {
		if u.number == nil {
			u.number = map[string]uint32{}
		}
		n = uint32(len(u.ids))
		text := string(id)
		u.number[text] = n
		u.ids = append(u.ids, text)
	}
	return n
}

// take returns the ids in order of their numbers and starts again from 0.
func (u *units) take() []string {
	ids := u.ids
	u.ids = nil
	clear(u.number)
	return ids
}
