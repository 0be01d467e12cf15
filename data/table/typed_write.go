package table

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/data/schema"
)

const batchRows = 1 << 15 // rows of a record batch, which becomes a row group

// typedWriter writes Parquet or Arrow, batch by batch.
type typedWriter struct {
	decoder
	sink     *stickySink
	file     batchWriter
	arrow    *arrow.Schema
	batch    []*batchColumn // by file column
	rows     int            // in the batch
	maxBatch int
}

// batchWriter is a file that batches of rows are written to.
type batchWriter interface {
	Write(batch arrow.Record) error
	Close() error
}

// newTypedWriter writes the columns of these names as their texts in the schema.
func newTypedWriter(w io.Writer, f Format, d decoder, texts []string) (*typedWriter, error) {
	p := &typedWriter{decoder: d, sink: &stickySink{w: w}, maxBatch: batchRows}
	var fields []arrow.Field
	for _, f := range d.columns {
		c := newBatchColumn(f, d.codec, slices.Contains(texts, f.Name))
		c.builder.Reserve(batchRows)
		p.batch = append(p.batch, c)
		fields = append(fields, arrow.Field{Name: f.Name, Type: c.kind, Nullable: f.Nullable})
	}
	p.arrow = arrow.NewSchema(fields, nil)
	err := p.guard(func() (err error) {
		if f == Arrow {
			p.file, err = ipc.NewFileWriter(p.sink, ipc.WithSchema(p.arrow))
			return err
		}
		p.file, err = newParquetWriter(p.sink, p.arrow)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// batchColumn collects one column of a batch.
type batchColumn struct {
	schema.FileColumn
	codec   *schema.RowCodec // not nil: values are the texts that they have in CSV
	text    []byte
	kind    arrow.DataType
	builder array.Builder
	words   arrow.Array // of categories, all that are declared
}

// newBatchColumn collects categories as positions in the declared list.
func newBatchColumn(f schema.FileColumn, codec *schema.RowCodec, asText bool) *batchColumn {
	micros := &arrow.TimestampType{Unit: arrow.Microsecond}
	if f.Zoned {
		micros.TimeZone = "UTC"
	}
	c := &batchColumn{FileColumn: f, kind: map[schema.Stored]arrow.DataType{
		schema.StoredText: arrow.BinaryTypes.String, schema.StoredBool: arrow.FixedWidthTypes.Boolean,
		schema.StoredInt: arrow.PrimitiveTypes.Int64, schema.StoredFloat: arrow.PrimitiveTypes.Float64,
		schema.StoredDays: arrow.FixedWidthTypes.Date32, schema.StoredMicros: micros,
	}[f.Stored]}
	mem := memory.DefaultAllocator
	switch {
	case f.Stored == schema.StoredText && f.Categories != nil:
		words := array.NewStringBuilder(mem)
		words.AppendValues(f.Categories, nil)
		c.words = words.NewArray()
		c.builder = array.NewInt32Builder(mem)
		c.kind = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.kind}
		return c
	case f.Stored != schema.StoredText && asText:
		c.codec, c.kind = codec, arrow.BinaryTypes.String
	}
	c.builder = array.NewBuilder(mem, c.kind)
	return c
}

func (c *batchColumn) append(v *schema.Value) {
	if v.Missing {
		c.builder.AppendNull()
		return
	}
	switch b := c.builder.(type) {
	case *array.StringBuilder:
		if c.codec != nil {
			c.text = c.codec.AppendText(c.text[:0], c.FileColumn, *v)
			v.Text = string(c.text)
		}
		b.Append(v.Text)
	case *array.Int32Builder:
		b.UnsafeAppend(int32(v.Int))
	case *array.BooleanBuilder:
		b.UnsafeAppend(v.Int != 0)
	case *array.Int64Builder:
		b.UnsafeAppend(v.Int)
	case *array.Float64Builder:
		b.UnsafeAppend(v.Float)
	case *array.Date32Builder:
		b.UnsafeAppend(arrow.Date32(v.Int))
	case *array.TimestampBuilder:
		b.UnsafeAppend(arrow.Timestamp(v.Int))
	}
}

// take is what was appended, which starts anew.
func (c *batchColumn) take() arrow.Array {
	a := c.builder.NewArray()
	c.builder.Reserve(batchRows) // append relies on it
	if c.words == nil {
		return a
	}
	defer a.Release()
	return array.NewDictionaryArray(c.kind, a, c.words)
}

// Write appends the rows of t.
func (p *typedWriter) Write(t *Table) error {
	if err := p.check(t); err != nil {
		return err
	}
	for row := range t.rows {
		p.draw(t, row)
		for _, c := range p.batch {
			c.append(&p.values[c.At])
		}
		if p.rows++; p.rows == p.maxBatch {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close writes the last batch and the footer.
func (p *typedWriter) Close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.guard(p.file.Close)
}

// flush writes the batch, if it has rows, as a row group.
func (p *typedWriter) flush() error {
	if p.rows == 0 {
		return nil
	}
	arrays := make([]arrow.Array, len(p.batch))
	for i, c := range p.batch {
		arrays[i] = c.take()
	}
	batch := array.NewRecord(p.arrow, arrays, int64(p.rows))
	p.rows = 0
	return p.guard(func() error { return p.file.Write(batch) })
}

// guard calls f and turns its panic into an error, and so does it with an
// error of the stream that f has swallowed: Arrow does both.
func (p *typedWriter) guard(f func() error) (err error) {
	defer func() {
		r := recover()
		switch {
		case p.sink.err != nil:
			err = p.sink.err
		case r != nil:
			err = fmt.Errorf("table: writing: %v", r)
		}
	}()
	return f()
}

// stickySink remembers the first error of a stream, and stops writing there.
type stickySink struct {
	w       io.Writer
	written int64
	err     error
}

// Seek tells where the stream is, which is all that Arrow asks.
func (s *stickySink) Seek(int64, int) (int64, error) { return s.written, s.err }

func (s *stickySink) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.written, s.err = s.written+int64(n), err
	return n, err
}
