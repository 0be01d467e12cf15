package table

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	pqschema "github.com/apache/arrow/go/v15/parquet/schema"
)

// parquetWriter writes record batches of flat columns as row groups. Arrow's own package for that
// (pqarrow) writes the same, and brings 8 MB of compute kernels and remote calls into the program.
type parquetWriter struct{ *file.Writer }

// growing allocates twice as much when a buffer grows. Arrow v15 lets the buffer of the levels of a
// column with nulls grow by 64 bytes at every 504 rows of the file, and takes it from Arrow's
// own allocator.
type growing struct{ memory.Allocator }

func (g growing) Reallocate(size int, b []byte) []byte {
	if size > cap(b) {
		b = g.Allocator.Reallocate(max(size, 2*cap(b)), b)
	}
	return b[:size]
}

func init() { memory.DefaultAllocator = growing{memory.DefaultAllocator} }

func newParquetWriter(w io.Writer, s *arrow.Schema) (*parquetWriter, error) {
	var fields pqschema.FieldList
	for _, f := range s.Fields() {
		kind, logical, err := parquetType(f.Type)
		if err != nil {
			return nil, err
		}
		repetition := map[bool]parquet.Repetition{true: parquet.Repetitions.Optional}[f.Nullable]
		node, err := pqschema.NewPrimitiveNodeLogical(f.Name, repetition, logical, kind, -1, -1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	root, err := pqschema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	meta, err := arrowMetadata(s)
	if err != nil {
		return nil, err
	}
	return &parquetWriter{file.NewParquetWriter(w, root, file.WithWriteMetadata(meta),
		file.WithWriterProps(parquet.NewWriterProperties(
			parquet.WithCreatedBy("decoy"),
			parquet.WithCompression(compress.Codecs.Snappy),
			parquet.WithDictionaryPageSizeLimit(1<<30), // a category list of any length stays a dictionary
			parquet.WithStats(false),
			// Arrow v15 miscounts in the second batch of a dictionary column that could have nulls and has
			// none
			parquet.WithBatchSize(batchRows),
		)))}, nil
}

// parquetType is how Parquet stores a type of Arrow, and what it says of it.
func parquetType(t arrow.DataType) (parquet.Type, pqschema.LogicalType, error) {
	switch t := t.(type) {
	case *arrow.StringType:
		return parquet.Types.ByteArray, pqschema.StringLogicalType{}, nil
	case *arrow.DictionaryType:
		return parquetType(t.ValueType)
	case *arrow.BooleanType:
		return parquet.Types.Boolean, pqschema.NoLogicalType{}, nil
	case *arrow.Int64Type:
		return parquet.Types.Int64, pqschema.NewIntLogicalType(64, true), nil
	case *arrow.Float64Type:
		return parquet.Types.Double, pqschema.NoLogicalType{}, nil
	case *arrow.Date32Type:
		return parquet.Types.Int32, pqschema.DateLogicalType{}, nil
	case *arrow.TimestampType:
		return parquet.Types.Int64, pqschema.NewTimestampLogicalTypeForce(t.TimeZone != "",
			pqschema.TimeUnitMicros), nil // as all are
	}
	return 0, nil, fmt.Errorf("table: a column of type %v cannot be written as Parquet", t)
}

// arrowMetadata is the schema as a message of Arrow, from which readers know that a column was a
// dictionary.
func arrowMetadata(s *arrow.Schema) (metadata.KeyValueMetadata, error) {
	var stream bytes.Buffer
	if err := ipc.NewWriter(&stream, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	return meta, meta.Append("ARROW:schema", base64.StdEncoding.EncodeToString(stream.Bytes()))
}

// Write writes a batch as a row group.
func (p *parquetWriter) Write(batch arrow.Record) error {
	group := p.AppendRowGroup()
	for i, a := range batch.Columns() {
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		err = writeColumn(column, a, batch.Schema().Field(i).Nullable)
		if err = cmp.Or(err, column.Close()); err != nil {
			return err
		}
	}
	return group.Close()
}

// writeColumn writes the values of a, without its nulls, and the levels that say where these are.
func writeColumn(column file.ColumnChunkWriter, a arrow.Array, nullable bool) error {
	var levels []int16 // 1 for a value, 0 for a null
	if nullable {
		levels = slices.Repeat([]int16{1}, a.Len())
		for i := 0; a.NullN() > 0 && i < len(levels); i++ {
			if a.IsNull(i) {
				levels[i] = 0
			}
		}
	}
	var err error
	switch w := column.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Boolean).Value), levels, nil)
	case *file.Int32ColumnChunkWriter:
		days := a.(*array.Date32)
		_, err = w.WriteBatch(present(a, func(i int) int32 { return int32(days.Value(i)) }), levels, nil)
	case *file.Int64ColumnChunkWriter:
		values := arrow.Int64Traits.CastFromBytes(a.Data().Buffers()[1].Bytes()) // of times, too
		_, err = w.WriteBatch(present(a, func(i int) int64 { return values[i] }), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(present(a, a.(*array.Float64).Value), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		if d, ok := a.(*array.Dictionary); ok {
			words := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
			if err := words.PutDictionary(d.Dictionary()); err != nil {
				return err
			}
			return w.WriteDictIndices(d.Indices(), levels, nil)
		}
		text := func(i int) parquet.ByteArray { return []byte(a.(*array.String).Value(i)) }
		_, err = w.WriteBatch(present(a, text), levels, nil)
	}
	return err
}

// present are the values of a that are not null.
func present[T any](a arrow.Array, value func(i int) T) []T {
	out := make([]T, 0, a.Len()-a.NullN())
	for i := range a.Len() {
		if cap(out) == a.Len() || a.IsValid(i) {
			out = append(out, value(i))
		}
	}
	return out
}
