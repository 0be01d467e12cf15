package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/decoy-dp/decoy/schema"
)

// layout says what becomes of the columns of a file: codes, texts or nothing.
type layout struct {
	columns []destination // of the file
	lenient bool
	header  bool // of a CSV file
	comma   byte
	known   map[string]bool // names that its header may have; nil: the separator is sure
	texts   int             // how many columns become texts

	schema *schema.Schema      // nil if all columns become texts
	file   []schema.FileColumn // of its files
	sizes  []int               // this and what follows by column of the schema
	codecs []*schema.Codec
	rows   *schema.RowCodec // nil if no cell has to do with others of its row
	absent []uint16         // where the file lacks the column: the code of all its rows
	has    []bool           // whether the file has it
}

// destination is where the cells of a file column go.
type destination struct {
	name  string        // the schema's; "" if it does not name the column
	code  int           // of the schema's columns, whose codes they become; −1: none
	text  int           // of the texts of a part, which they become; −1: none
	unit  bool          // these texts are ids of privacy units, which must not be empty
	check int           // of the schema's made columns, with which they are compared; −1: none
	codec *schema.Codec // of code
}

// relates reports whether a column is settled with others of its row.
func (l *layout) relates(d destination) bool {
	return l.rows != nil && (d.check >= 0 || d.code >= 0 && l.rows.Related(d.code))
}

// used reports whether the cells are of any use.
func (d destination) used() bool { return d.codec != nil || d.text >= 0 || d.check >= 0 }

// newLayout is for the columns of a schema; bindPositions or bindNames completes it.
func newLayout(s *schema.Schema) (*layout, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	n := len(s.Columns)
	l := &layout{
		lenient: s.Lenient, header: !s.CSV.NoHeader, comma: s.CSV.Separator(), known: namesOf(s),
		schema: s, sizes: s.Sizes(), codecs: rows.Codecs(), absent: make([]uint16, n),
		has:  make([]bool, n),
		file: rows.Columns(),
	}
	if rows.Relates() {
		l.rows = rows
	}
	return l, nil
}

// bind adds a column of the file that becomes column code of the schema or, if that is −1, texts.
func (l *layout) bind(name string, code int, unit bool) {
	d := destination{name: name, code: code, text: -1, unit: unit, check: -1}
	if code >= 0 {
		d.codec, l.has[code] = l.codecs[code], true
	} else {
		d.text = l.texts
		l.texts++
	}
	l.columns = append(l.columns, d)
}

// idOf is the id of a privacy unit in a cell.
func idOf(cell []byte) []byte { return bytes.Trim(cell, schema.IDBlanks) }

// bindPositions lays out a file without a header: the unit column first, if
// there is one, then the columns in the order of the schema.
func (l *layout) bindPositions() {
	if u := l.schema.Unit; u != "" {
		l.bind(u, -1, true)
	}
	for _, f := range l.file {
		if f.Column >= 0 {
			l.bind(f.Name, f.Column, false)
		} else if f.Name != l.schema.Unit {
			l.bindMade(f.Name, f.Made)
		}
	}
}

// bindMade adds a column of the file that is made column k of the schema: its cells are compared
// with what they follow from, or not looked at.
func (l *layout) bindMade(name string, k int) {
	d := destination{name: name, code: -1, text: -1, check: -1}
	if l.rows.Checked(k) {
		d.check = k
	}
	l.columns = append(l.columns, d)
}

// bindNames lays out a file by its column names. It returns the 1-based
// positions of the columns that the schema does not name.
func (l *layout) bindNames(names []string) (ignored []int, err error) {
	codes, made, position := map[string]int{}, map[string]int{}, map[string]int{}
	for _, f := range l.file {
		if f.Column >= 0 {
			codes[f.Name] = f.Column
		} else {
			made[f.Name] = f.Made
		}
	}
	if l.schema.Unit != "" {
		codes[l.schema.Unit] = -1
	}
	for i, name := range names {
		code, known := codes[name]
		k, madeUp := made[name]
		if !known && !madeUp {
			l.columns = append(l.columns, destination{code: -1, text: -1, check: -1})
			ignored = append(ignored, i+1)
			continue
		}
		if before := position[name]; before > 0 {
			return nil, fmt.Errorf("table: columns %d and %d both have the name %q: %w",
				before, i+1, name, schema.ErrSchema)
		}
		position[name] = i + 1
		if known {
			l.bind(name, code, code < 0)
		} else {
			l.bindMade(name, k)
		}
	}
	like := map[string]bool{}
	for _, i := range ignored {
		like[letters(names[i-1])] = true
	}
	return ignored, l.checkAbsent(position, like)
}

// checkAbsent decides about the columns that the file lacks; position holds those it has, like the
// letters of its names that the schema does not have. A file that has columns of the schema, and
// such names too, may lack none: it is rather misspelt. An error does not show names of the file:
// the first line may be a row after all.
func (l *layout) checkAbsent(position map[string]int, like map[string]bool) error {
	near := ""
	missed := func(name string) string {
		if key := letters(name); key != "" && like[key] {
			near = " (it has one that differs in upper and lower case, spaces or punctuation alone)"
		}
		return fmt.Sprintf("%q", name)
	}
	if len(position) == 0 {
		return fmt.Errorf("table: %w", errNoneOfThese)
	}
	if u := l.schema.Unit; u != "" && position[u] == 0 {
		return fmt.Errorf("table: the file has no column %s, which holds the privacy unit%s: %w",
			missed(u), near, schema.ErrSchema)
	}
	var missing []string
	for i, c := range l.schema.Columns {
		if l.has[i] {
			continue
		}
		code, err := l.codecs[i].Absent()
		if err != nil || len(like) > 0 && slices.Contains(l.has, true) {
			missing = append(missing, missed(c.Name))
		}
		l.absent[i] = code
	}
	if missing != nil {
		return fmt.Errorf("table: the file has no column %s%s: %w", strings.Join(missing, ", "), near,
			schema.ErrSchema)
	}
	return nil
}

// letters are the letters and digits of a name, in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// at is the position of file column i; its zero fields are to be set.
func (l *layout) at(unit string, number, i int) place {
	p := place{unit: unit, number: number, column: i + 1}
	if i < len(l.columns) {
		p.name = l.columns[i].name
	}
	return p
}

// part is a run of rows of a file.
type part struct {
	rows  int
	codes []Codes // by schema column; empty where the file lacks the column
	texts []texts // in the order of the file; the privacy unit, if there is one
	// of a file of typed columns whose schema relates cells, by schema column, then by made column,
	// until the codes are settled
	values []values
}

// texts are the cells of a column, each text once.
type texts struct {
	number []uint32 // per row a position in words
	words  []string // in order of appearance
}

// dropNobody leaves out the rows that are of no unit.
func (p *part) dropNobody() {
	units, keep := p.texts[0].number, 0
	for row, u := range units {
		if u == nobody {
			continue
		}
		units[keep] = u
		for _, c := range p.codes {
			if c.Len() > 0 {
				c.Set(keep, c.At(row))
			}
		}
		keep++
	}
	p.cut(keep)
}

// cut drops the rows from n on.
func (p *part) cut(n int) {
	for i, c := range p.codes {
		if c.Len() > 0 {
			p.codes[i] = c.slice(0, n)
		}
	}
	for i := range p.texts {
		p.texts[i].number = p.texts[i].number[:n]
	}
	p.rows = n
}

// assembly puts the parts of a table together.
type assembly struct {
	*layout
	parts []part
	rows  int
	units numbering // so far
}

// add appends p, whose unit numbers it replaces by those of the whole table.
func (a *assembly) add(p part) error {
	a.rows += p.rows
	a.parts = append(a.parts, p)
	if len(p.texts) == 0 {
		return nil
	}
	ids := &p.texts[0]
	global := make([]uint32, len(ids.words))
	for i, id := range ids.words {
		global[i] = a.units.add(id)
	}
	for i, u := range ids.number {
		ids.number[i] = global[u]
	}
	ids.words = nil
	return nil
}

// table joins the parts column by column, freeing them on the way.
func (a *assembly) table() *Table {
	t := &Table{schema: a.schema, sizes: a.sizes, rows: a.rows, cols: make([]Codes, len(a.sizes))}
	a.units = numbering{}
	for i, size := range a.sizes {
		col := NewCodes(size, a.rows)
		if !a.has[i] {
			col.fill(a.absent[i])
		}
		at := 0
		for j := range a.parts {
			p := &a.parts[j]
			if a.has[i] {
				copy(col.slice(at, at+p.rows).U8, p.codes[i].U8)
				copy(col.slice(at, at+p.rows).U16, p.codes[i].U16)
				p.codes[i] = Codes{}
			}
			at += p.rows
		}
		t.cols[i] = col
	}
	if a.schema.Unit != "" {
		t.units = make([]uint32, 0, a.rows)
		for j := range a.parts {
			t.units = append(t.units, a.parts[j].texts[0].number...)
			a.parts[j].texts = nil
		}
	}
	a.parts = nil
	return t
}

// numbering numbers the texts of a column of one part.
type numbering struct {
	number map[string]uint32
	words  []string
}

// addBytes is add for a cell, which is copied where it is new.
func (u *numbering) addBytes(text []byte) uint32 {
	if n, ok := u.number[string(text)]; ok {
		return n
	}
	return u.add(string(text))
}

// add returns the number of a text.
func (u *numbering) add(text string) uint32 {
	n, ok := u.number[text]
	if !ok {
		if u.number == nil {
			u.number = map[string]uint32{}
		}
		n = uint32(len(u.words))
		u.number[text] = n
		u.words = append(u.words, text)
	}
	return n
}

// take returns the texts in order of their numbers and starts again from 0.
func (u *numbering) take() []string {
	words := u.words
	u.words = nil
	clear(u.number)
	return words
}
