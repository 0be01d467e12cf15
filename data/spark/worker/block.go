package worker

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/decoy-dp/decoy/data/table"
)

// Type is what the text of a cell stands for.
type Type string

// The types, by the names of the classes of package sql.
const (
	Text   Type = "text"
	truth  Type = "truth"  // true, false
	whole  Type = "whole"  // 64 bits
	real   Type = "real"   // 64 bits
	Days   Type = "date"   // since 1970
	Micros Type = "moment" // since 1970, UTC
)

// arrowTypes are the types as a reader of decoy knows them.
var arrowTypes = map[Type]arrow.DataType{
	Text: arrow.BinaryTypes.String, truth: arrow.FixedWidthTypes.Boolean,
	whole: arrow.PrimitiveTypes.Int64, real: arrow.PrimitiveTypes.Float64,
	Days:   arrow.FixedWidthTypes.Date32,
	Micros: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
}

// A line is a row: its cells with a separator between them. Inside a cell the separator, the end of
// a line and the escape itself are escaped; a NULL is the escape and an N.
const (
	separator = '\x01'
	null      = `\N`
)

// block collects rows for the reader of package table.
type block struct {
	rows   *array.RecordBuilder
	schema *arrow.Schema
	n      int
}

func newBlock(columns []Column) (*block, error) {
	var fields []arrow.Field
	for _, c := range columns {
		t, ok := arrowTypes[c.Type]
		if !ok {
			return nil, errPlan
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
	}
	b := &block{schema: arrow.NewSchema(fields, nil)}
	b.rows = array.NewRecordBuilder(memory.NewGoAllocator(), b.schema)
	return b, nil
}

// add adds the row of a line.
func (b *block) add(line []byte) error {
	fields := b.schema.NumFields()
	for i := range fields {
		cell, rest, more := bytes.Cut(line, []byte{separator})
		if more != (i+1 < fields) {
			return errLine
		}
		if err := appendCell(b.rows.Field(i), cell); err != nil {
			return err
		}
		line = rest
	}
	b.n++
	return nil
}

// appendCell adds a cell, escaped, to its column.
func appendCell(to array.Builder, cell []byte) error {
	if string(cell) == null {
		to.AppendNull()
		return nil
	}
	var err error
	switch to := to.(type) {
	case *array.StringBuilder:
		if bytes.IndexByte(cell, '\\') >= 0 { // seldom
			cell = []byte(unescaped.Replace(string(cell)))
		}
		to.BinaryBuilder.Append(cell)
	case *array.Date32Builder:
		var x int64
		x, err = strconv.ParseInt(string(cell), 10, 32)
		to.Append(arrow.Date32(x))
	case *array.TimestampBuilder:
		var x int64
		x, err = strconv.ParseInt(string(cell), 10, 64)
		to.Append(arrow.Timestamp(x))
	default: // a boolean, or a number
		err = to.AppendValueFromString(string(cell))
	}
	if err != nil {
		return errLine // and nothing of the cell
	}
	return nil
}

// unescaped is the text of a cell.
var unescaped = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\1`, string(separator))

// table is the rows as codes, by the rules of a local run; the block starts anew. Its error is one
// of package table, which has nothing of a cell.
func (b *block) table(p *Plan) (*table.Table, error) {
	file, err := b.file()
	if err != nil {
		return nil, err
	}
	t, _, err := table.ReadArrow(context.Background(), file, p.s, table.ReadOptions{})
	return t, err
}

// texts is the rows as texts, by the rules of a local run, and so many columns; the block starts
// anew.
func (b *block) texts(columns int) (*table.Texts, error) {
	file, err := b.file()
	if err != nil {
		return nil, err
	}
	return table.ReadArrowTexts(context.Background(), file, columns, -1)
}

// file is the rows as an Arrow stream; the block starts anew.
func (b *block) file() ([]byte, error) {
	record := b.rows.NewRecord()
	defer record.Release()
	b.n = 0
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(b.schema))
	if err := w.Write(record); err != nil {
		return nil, errLine
	}
	if err := w.Close(); err != nil {
		return nil, errLine
	}
	return file.Bytes(), nil
}
