package table

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
)

// layout says what becomes of the columns of a file: codes, texts or nothing.
type layout struct {
	lenient bool
	header  bool // the file says the names of its columns
	comma   byte
	bind    func(names []string) error // sets what follows from the names; nil for none
	columns []destination              // of the file
	ignored []int                      // 1-based positions of those that the schema does not name
	texts   int                        // how many of them become texts
	unit    int                        // of the texts: which are ids; −1: none
	keys    []string                   // of the schema's columns of texts: their names

	csv      schema.CSV // how a CSV file is said to be, and what its header shows besides
	numbered bool       // rows have one more cell before the first column
	framed   bool       // it is a framed file; and
	objects  bool       // JSON lines
	spaced   bool       // cells without quotes have blanks around them, which are no part of them

	schema *schema.Schema // nil if all columns become texts
	sizes  []int          // this and what follows by column of the schema
	codecs []*schema.Codec
	rows   *schema.RowCodec // nil if no cell has to do with others of its row
	absent []uint16         // where the file lacks the column: the code of all its rows
	place  []int            // in the file; −1: nowhere
}

// destination is where the cells of a file column go.
type destination struct {
	name    string // the schema's; "" if it does not name the column
	to      target
	at      int           // in the list that it goes to
	codec   *schema.Codec // toCode
	related bool          // toCode: settled with others of its row
}

// target is what cells become.
type target uint8

const (
	toNothing target = iota
	toCode           // of a column of the schema
	toText           // one of the texts of a part
	toUnit           // likewise: the id of a privacy unit, which must not be empty
)

// maxRows is the most rows of a file of that length.
func (l *layout) maxRows(length int64) int64 {
	return atLeast(maxCells, length) / int64(len(l.sizes)+max(1, l.texts))
}

// newLayout is for the columns of a schema. The columns of keys become texts, in place of its unit.
func newLayout(s *schema.Schema, keys []string) (*layout, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	l := &layout{
		lenient: s.Lenient, header: !s.CSV.NoHeader, comma: s.CSV.Separator(), csv: s.CSV, unit: -1,
		schema: s, sizes: s.Sizes(), codecs: rows.Codecs(), absent: make([]uint16, len(s.Columns)),
		place: slices.Repeat([]int{-1}, len(s.Columns)),
	}
	if rows.Relates() {
		l.rows = rows
	}
	var columns []destination
	for i, name := range keys {
		columns = append(columns, destination{name: name, to: toText, at: i})
	}
	if l.texts, l.keys = len(keys), keys; keys == nil && s.Unit != "" {
		l.texts, l.unit, l.keys = 1, 0, []string{s.Unit}
		columns = append(columns, destination{name: s.Unit, to: toUnit})
	}
	for _, f := range rows.Columns() {
		switch {
		case f.Column >= 0:
			columns = append(columns, destination{f.Name, toCode, f.Column, l.codecs[f.Column],
				l.rows != nil && rows.Related(f.Column)})
		case slices.Contains(l.keys, f.Name):
		default:
			columns = append(columns, destination{name: f.Name})
		}
	}
	l.bind = func(names []string) (err error) {
		if l.columns = columns; l.header {
			err = l.bindNames(names, columns)
		}
		for i := range l.place {
			l.place[i] = -1
		}
		for i, d := range l.columns {
			if d.to == toCode {
				l.place[d.at] = i
			}
		}
		if err == nil && l.header {
			err = l.checkAbsent(names)
		}
		return err
	}
	return l, nil
}

// bindNames lays out a file by its column names, of which some are known.
func (l *layout) bindNames(names []string, columns []destination) error {
	l.columns, l.ignored = make([]destination, len(names)), nil
	known, position := map[string]destination{}, map[string]int{}
	for _, d := range columns {
		known[d.name] = d
	}
	for i, name := range names {
		d, is := known[name]
		if !is {
			l.ignored = append(l.ignored, i+1)
			continue
		}
		if before := position[name]; before > 0 {
			return fmt.Errorf("table: columns %d and %d both have the name %q: %w",
				before, i+1, name, schema.ErrSchema)
		}
		l.columns[i], position[name] = d, i+1
	}
	return nil
}

// checkAbsent decides about the columns that a file of these names lacks. A file that has columns
// of the schema, and others that it does not name, may lack none: it is rather misspelt. An error
// does not show names of the file: the first line may be a row after all.
func (l *layout) checkAbsent(names []string) error {
	if len(l.ignored) == len(names) {
		return fmt.Errorf("table: %w", errNoneOfThese)
	}
	near := ""
	missed := func(name string) string {
		for _, i := range l.ignored {
			if strings.EqualFold(strings.TrimSpace(names[i-1]), name) {
				near = " (it has one that differs in upper and lower case or spaces alone)"
			}
		}
		return fmt.Sprintf("%q", name)
	}
	for _, key := range l.keys {
		if what := "the privacy unit"; !slices.Contains(names, key) {
			if l.unit < 0 {
				what = "ids"
			}
			return fmt.Errorf("table: the file has no column %s, which holds %s%s: %w", missed(key), what,
				near, schema.ErrSchema)
		}
	}
	has := slices.ContainsFunc(l.place, func(at int) bool { return at >= 0 })
	var missing []string
	for i, c := range l.schema.Columns {
		if l.place[i] >= 0 {
			continue
		}
		code, err := l.codecs[i].Absent()
		if err != nil || len(l.ignored) > 0 && has {
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

// idOf is the id of a privacy unit in a cell.
func idOf(cell []byte) []byte { return bytes.Trim(cell, schema.IDBlanks) }

// wrap puts before err where it is: in the row or line of a number, from 1, unless that is 0, and
// in a column of the file, from 0, unless that is negative.
func (l *layout) wrap(unit string, number, column int, err error) error {
	var where []string
	if number > 0 {
		where = append(where, fmt.Sprintf("%s %d", unit, number))
	}
	if column >= 0 {
		where = append(where, fmt.Sprintf("column %d", column+1))
	}
	if column >= 0 && column < len(l.columns) && l.columns[column].name != "" {
		where[len(where)-1] += fmt.Sprintf(" (%q)", l.columns[column].name)
	}
	return fmt.Errorf("table: %s: %w", strings.Join(where, ", "), err)
}

// part is a run of rows of a file.
type part struct {
	rows  int
	codes []Codes      // by schema column; empty where the file lacks the column
	texts []TextColumn // in the order of the file, each text once
	// of a file of typed columns whose schema relates cells, by schema column, until the codes are
	// settled
	values []values
}

// newPart has room for n rows.
func (l *layout) newPart(n int) part {
	out := part{rows: n, codes: make([]Codes, len(l.sizes)), texts: make([]TextColumn, l.texts)}
	for i, size := range l.sizes {
		if l.place[i] >= 0 {
			out.codes[i] = NewCodes(size, n)
		}
	}
	for i := range out.texts {
		out.texts[i].Cells = make([]uint32, n)
	}
	return out
}

// cut drops the rows from n on.
func (p *part) cut(n int) {
	for i, c := range p.codes {
		if c.Len() > 0 {
			p.codes[i] = c.slice(0, n)
		}
	}
	for i := range p.texts {
		p.texts[i].Cells = p.texts[i].Cells[:n]
	}
	p.rows = n
}

// assembly puts the parts of a table together.
type assembly struct {
	*layout
	parts []part
	rows  int
	words []numbering // of each column of texts, so far
}

// add appends p, whose numbers of texts it replaces by those of the whole table.
func (a *assembly) add(p part) error {
	a.rows += p.rows
	a.parts = append(a.parts, p)
	if a.words == nil {
		a.words = make([]numbering, len(p.texts))
	}
	for i := range p.texts {
		t := &p.texts[i]
		global := make([]uint32, len(t.Texts))
		for k, text := range t.Texts {
			global[k] = a.words[i].add(text)
		}
		for row, k := range t.Cells {
			t.Cells[row] = global[k]
		}
		t.Texts = nil
	}
	return nil
}

// table joins the parts column by column, freeing them on the way.
func (a *assembly) table() *Table {
	t := &Table{schema: a.schema, sizes: a.sizes, rows: a.rows, cols: make([]Codes, len(a.sizes))}
	if a.unit < 0 && a.words != nil {
		for i, w := range a.words {
			t.keys = append(t.keys, TextColumn{w.words, a.numbers(i)})
		}
	}
	a.words = nil
	for i, size := range a.sizes {
		col := NewCodes(size, a.rows)
		if a.place[i] < 0 {
			col.fill(a.absent[i])
		}
		at := 0
		for j := range a.parts {
			p := &a.parts[j]
			if a.place[i] >= 0 {
				copy(col.slice(at, at+p.rows).U8, p.codes[i].U8)
				copy(col.slice(at, at+p.rows).U16, p.codes[i].U16)
				p.codes[i] = Codes{}
			}
			at += p.rows
		}
		t.cols[i] = col
	}
	if a.unit >= 0 {
		t.units = a.numbers(a.unit)
	}
	return t
}

// numbers joins a column of texts: the number of each row's.
func (a *assembly) numbers(i int) []uint32 {
	out := make([]uint32, 0, a.rows)
	for _, p := range a.parts {
		out = append(out, p.texts[i].Cells...)
		p.texts[i].Cells = nil
	}
	return out
}

// numbering numbers the texts of a column.
type numbering struct {
	number map[string]uint32
	words  []string // in order of appearance
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
