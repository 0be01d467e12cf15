package gatetest

import (
	"bytes"
	"context"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// PollCounter is a context that counts how often it is looked at.
type PollCounter struct {
	context.Context
	Asked int
}

// Err counts.
func (c *PollCounter) Err() error { c.Asked++; return nil }

// Done counts.
func (c *PollCounter) Done() <-chan struct{} {
	c.Asked++
	return nil
}

// Parquet is a file of n rows of three texts in groups of a thousand: its reader looks at the
// context that it is given for each column of each group.
func Parquet(n int) ([]byte, error) {
	fields := make([]arrow.Field, 3)
	columns := make([]arrow.Array, len(fields))
	for j, name := range []string{"a", "b", "c"} {
		fields[j] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for range n {
			b.Append(name + strconv.Itoa(j))
		}
		columns[j] = b.NewArray()
	}
	rows := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
	var out bytes.Buffer
	err := pqarrow.WriteTable(array.NewTableFromRecords(rows.Schema(), []arrow.Record{rows}), &out,
		1000, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	return out.Bytes(), err
}
