package table

import (
	"context"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
)

// Texts is a table of texts, which no schema describes: a dictionary a column.
type Texts struct {
	Columns []TextColumn
	Units   []uint32 // the unit of each row, numbered as they come; nil without an id column
}

// TextColumn holds the texts of a column once, and for every row the number of its text.
type TextColumn struct {
	Texts []string
	Cells []uint32
}

// ReadTexts reads the file by the rule of lenient schemas: no row of it is an error. It has so many
// columns; the one at unitAt, unless that is negative, holds ids, and a row without one is nobody's
// and left out. begin, if it is not nil, is as in ReadOptions. The error is that of ctx, or of a
// file that cannot be read.
func ReadTexts(
	ctx context.Context, path string, csv schema.CSV, columns, unitAt int, begin func() error,
) (*Texts, error) {
	f, err := open(path, csv)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.texts(ctx, ScanOptions{CSV: csv, Lenient: true, Columns: columns, Begin: begin}, unitAt)
}

// ReadArrowTexts reads the bytes of an Arrow stream or file, as [ReadTexts] does a file on disk.
func ReadArrowTexts(ctx context.Context, data []byte, columns, unitAt int) (*Texts, error) {
	return inBytes(data).texts(ctx, ScanOptions{Lenient: true, Columns: columns}, unitAt)
}

// texts is ReadTexts.
func (f *opened) texts(ctx context.Context, o ScanOptions, unitAt int) (*Texts, error) {
	l := o.layout(unitAt, func([]string) error { return nil })
	a := assembly{layout: l, words: make([]numbering, o.Columns)}
	if err := f.read(ctx, l, ReadOptions{Begin: o.Begin, maxCell: o.maxCell}, a.add); err != nil {
		return nil, err
	}
	t := &Texts{}
	for i, w := range a.words {
		t.Columns = append(t.Columns, firstUsed(w.words, a.numbers(i)))
	}
	if unitAt >= 0 {
		t.Units = t.Columns[unitAt].Cells
		t.Columns = slices.Delete(t.Columns, unitAt, unitAt+1)
	}
	return t, nil
}

// firstUsed is a column of these texts, without those of no row, in the order of the rows.
func firstUsed(texts []string, cells []uint32) (c TextColumn) {
	c.Cells = cells
	place := make([]uint32, len(texts)) // from 1
	for row, n := range cells {
		if place[n] == 0 {
			c.Texts = append(c.Texts, texts[n])
			place[n] = uint32(len(c.Texts))
		}
		cells[row] = place[n] - 1
	}
	return c
}

// Counts is the number of rows of each text of a column, in the order of its dictionary; a text of
// no row has 0.
func (c TextColumn) Counts() []int64 {
	out := make([]int64, len(c.Texts))
	for _, n := range c.Cells {
		out[n]++
	}
	return out
}

// Select is the rows at those places.
func (t *Texts) Select(rows []int) *Texts {
	pick := func(cells []uint32) []uint32 {
		out := make([]uint32, len(rows))
		gather(out, cells, rows)
		return out
	}
	out := &Texts{Units: pick(t.Units)}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, TextColumn{c.Texts, pick(c.Cells)})
	}
	return out
}

// Encode is the table in the codes of a valid, lenient schema, whose i-th column is column from[i]
// of the texts. Each row has the codes that it alone decides.
func (t *Texts) Encode(s *schema.Schema, from []int) (*Table, error) {
	rows, err := s.RowCodec()
	if err != nil {
		return nil, err
	}
	codecs := rows.Codecs()
	cols, values := make([]Codes, len(codecs)), make([][]value, len(codecs))
	for i, codec := range codecs {
		c := t.Columns[from[i]]
		values[i] = make([]value, len(c.Texts))
		for n, text := range c.Texts {
			// a lenient codec has a code for any text
			values[i][n].code, values[i][n].x, _ = rows.Cell(i, []byte(text))
		}
		cols[i] = NewCodes(codec.Size(), len(c.Cells))
		for row, n := range c.Cells {
			cols[i].Set(row, values[i][n].code)
		}
	}
	if rows.Relates() {
		t.relate(rows, cols, values, from)
	}
	return FromColumns(s, cols, t.Units)
}

// relate settles the codes of each row.
func (t *Texts) relate(rows *schema.RowCodec, cols []Codes, values [][]value, from []int) {
	codes, x := make([]uint16, len(cols)), make([]float64, len(cols))
	for row := range t.Columns[from[0]].Cells {
		for i := range cols {
			v := &values[i][t.Columns[from[i]].Cells[row]]
			codes[i], x[i] = v.code, v.x
		}
		rows.Row(codes, x) // lenient: no row is an error
		for i := range cols {
			if rows.Related(i) {
				cols[i].Set(row, codes[i])
			}
		}
	}
}
