package table

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/schema"
)

const batchRows = 1 << 17 // rows of a record batch, which becomes a row group

// typedWriter writes Parquet or Arrow, batch by batch.
type typedWriter struct {
	decoder
	sink     *stickySink
	file     batchWriter
	arrow    *arrow.Schema
	batch    []batchColumn // by file column
	rows     int           // in the batch
	maxBatch int
}

// batchWriter is a file that batches of rows are written to.
type batchWriter interface {
	Write(batch arrow.Record) error
	Close() error
}

// batchColumn collects one column of a batch.
type batchColumn struct {
	append func(v schema.Value)
	take   func() arrow.Array // what was appended, which starts anew
}

// newTypedWriter writes the columns of these names as their texts in the schema.
func newTypedWriter(w io.Writer, f Format, d decoder, texts []string) (*typedWriter, error) {
	p := &typedWriter{decoder: d, sink: &stickySink{w: w}, maxBatch: batchRows}
	var fields []arrow.Field
	for _, f := range d.columns {
		column, kind := newBatchColumn(f)
		if f.Stored != schema.StoredText && slices.Contains(texts, f.Name) {
			column, kind = newTextColumn(f, d.codec)
		}
		p.batch = append(p.batch, column)
		fields = append(fields, arrow.Field{Name: f.Name, Type: kind, Nullable: f.Nullable})
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

// newBatchColumn returns a collector for the values of a column, and their type.
func newBatchColumn(f schema.FileColumn) (batchColumn, arrow.DataType) {
	mem := memory.DefaultAllocator
	switch f.Stored {
	case schema.StoredText:
		if f.Categories != nil {
			return newCategoryColumn(f.Categories)
		}
		b := array.NewStringBuilder(mem)
		return collector(b, func(v schema.Value) { b.Append(v.Text) }), arrow.BinaryTypes.String
	case schema.StoredBool:
		b := array.NewBooleanBuilder(mem)
		return collector(b, func(v schema.Value) { b.Append(v.Int != 0) }), arrow.FixedWidthTypes.Boolean
	case schema.StoredInt:
		b := array.NewInt64Builder(mem)
		return collector(b, func(v schema.Value) { b.Append(v.Int) }), arrow.PrimitiveTypes.Int64
	case schema.StoredFloat:
		b := array.NewFloat64Builder(mem)
		return collector(b, func(v schema.Value) { b.Append(v.Float) }), arrow.PrimitiveTypes.Float64
	case schema.StoredDays:
		b := array.NewDate32Builder(mem)
		return collector(b, func(v schema.Value) {
			b.Append(arrow.Date32(v.Int))
		}), arrow.FixedWidthTypes.Date32
	case schema.StoredMicros:
		kind := &arrow.TimestampType{Unit: arrow.Microsecond}
		if f.Zoned {
			kind.TimeZone = "UTC"
		}
		b := array.NewTimestampBuilder(mem, kind)
		return collector(b, func(v schema.Value) { b.Append(arrow.Timestamp(v.Int)) }), kind
	}
	panic("table: a column of no kind")
}

// newTextColumn collects values as the texts that they have in CSV.
func newTextColumn(f schema.FileColumn, codec *schema.RowCodec) (batchColumn, arrow.DataType) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	var text []byte
	return collector(b, func(v schema.Value) {
		text = codec.AppendText(text[:0], f, v)
		b.Append(string(text))
	}), arrow.BinaryTypes.String
}

// collector collects values in b.
func collector(b array.Builder, add func(schema.Value)) batchColumn {
	return batchColumn{
		append: func(v schema.Value) {
			if v.Missing {
				b.AppendNull()
				return
			}
			add(v)
		},
		take: b.NewArray,
	}
}

// newCategoryColumn collects categories as positions in the declared list.
func newCategoryColumn(categories []string) (batchColumn, arrow.DataType) {
	mem := memory.DefaultAllocator
	words := array.NewStringBuilder(mem)
	position := map[string]int32{}
	for i, text := range categories {
		words.Append(text)
		position[text] = int32(i)
	}
	var (
		dictionary = words.NewArray()
		kind       = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32,
			ValueType: arrow.BinaryTypes.String}
		indices = array.NewInt32Builder(mem)
		column  = collector(indices, func(v schema.Value) { indices.Append(position[v.Text]) })
	)
	column.take = func() arrow.Array {
		i := indices.NewArray()
		defer i.Release()
		return array.NewDictionaryArray(kind, i, dictionary)
	}
	return column, kind
}

// Write appends the rows of t.
func (p *typedWriter) Write(t *Table) error {
	if err := p.check(t); err != nil {
		return err
	}
	for row := range t.rows {
		p.draw(t, row)
		for k, f := range p.columns {
			p.batch[k].append(p.value(f))
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
	if p.rows > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.guard(p.file.Close)
}

// flush writes the batch as a row group.
func (p *typedWriter) flush() error {
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
