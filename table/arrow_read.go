package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
)

var (
	errArrowNested = errors.New(
		"an Arrow type that is not supported (nested, binary, a time of day or an interval)")
	errArrowZstd = errors.New("buffers compressed with Zstandard: write the Arrow file " +
		"uncompressed or with LZ4")
)

// arrowFile is an open Arrow stream or file of flat columns of booleans, integers, floating point,
// decimals, dates, timestamps of any unit, strings, strings in a dictionary, and nulls (no row has
// a value); uncompressed or LZ4. Else it is as in parquetFile, a record batch being a row group.
type arrowFile struct {
	*arrowMessages
	reader *ipc.Reader
	batch  arrow.Record // that is read
}

// openArrow reads the schema of a file.
func openArrow(ctx context.Context, r parquet.ReaderAtSeeker) (*arrowFile, error) {
	src, err := newSource(ctx, r)
	if err != nil {
		return nil, readingError(err)
	}
	m := &arrowMessages{source: src, end: src.size}
	if err := m.findEnd(); err != nil {
		return nil, src.failure(fmt.Errorf("table: %w", err))
	}
	f := &arrowFile{arrowMessages: m}
	err = catch(func() (err error) {
		f.reader, err = ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(m))
		return err
	})
	if err != nil || f.reader.Schema() == nil || f.reader.Schema().NumFields() > maxColumns {
		return nil, m.failure(fmt.Errorf("table: %w", m.refusal()))
	}
	return f, nil
}

func (f *arrowFile) names() []string {
	var names []string
	for _, field := range f.reader.Schema().Fields() {
		names = append(names, field.Name)
	}
	return names
}

func (f *arrowFile) unreadable(i int) error {
	if formOf(f.reader.Schema().Field(i).Type) == nil {
		return errArrowNested
	}
	return nil
}

// next goes on to the next batch.
func (f *arrowFile) next() (rows int64, read float64, err error) {
	f.batch = nil
	err = catch(func() error {
		if f.reader.Next() {
			f.batch = f.reader.Record()
		}
		return f.reader.Err()
	})
	switch {
	case err != nil && err != io.EOF:
		return 0, 0, f.refusal()
	case f.batch == nil:
		return 0, 0, io.EOF
	}
	return f.batch.NumRows(), 0, nil
}

// column takes the values of a column of the batch.
func (f *arrowFile) column(i int, rows int64, l *layout, out *part, maxCell int) error {
	a, n := f.batch.Column(i), int(rows)
	form := formOf(a.DataType())
	if a.Len() != n || form == nil {
		return errDamaged
	}
	c, done := f.consumerOf(&leaf{form: *form}, l, l.columns[i], out, maxCell)
	defer done()
	var v vector
	var cells [stride]uint32
	for at := 0; at < n; at += stride {
		k := min(stride, n-at)
		for j := range k {
			var err error
			if isNull(a, at+j) {
				cells[j], err = c.null()
			} else {
				v.reset()
				if err = v.add(a, at+j); err == nil && len(v.texts) > 0 {
					err = f.take(len(v.texts[0]))
				}
				if err == nil {
					cells[j], err = c.cell(&v, 0)
				}
			}
			if err != nil {
				return ofCell(int64(at+j), err)
			}
		}
		c.put(cells[:k])
	}
	return nil
}

// formOf is what the values of an Arrow type stand for; nil if it is not supported.
func formOf(t arrow.DataType) *form {
	if d, ok := t.(*arrow.DictionaryType); ok {
		if id := d.ValueType.ID(); id == arrow.STRING || id == arrow.LARGE_STRING {
			return new(form) // formText
		}
		return nil
	}
	if u, ok := t.(*arrow.TimestampType); ok {
		f := map[arrow.TimeUnit]form{arrow.Second: formMicros, arrow.Millisecond: formMillis,
			arrow.Microsecond: formMicros, arrow.Nanosecond: formNanos}[u.Unit]
		return &f
	}
	f, ok := map[arrow.Type]form{
		arrow.STRING: formText, arrow.LARGE_STRING: formText, arrow.BOOL: formBool, arrow.NULL: formText,
		arrow.INT8: formInt, arrow.INT16: formInt, arrow.INT32: formInt, arrow.INT64: formInt,
		arrow.UINT8: formInt, arrow.UINT16: formInt, arrow.UINT32: formInt, arrow.UINT64: formUint,
		arrow.FLOAT16: formFloat32, arrow.FLOAT32: formFloat32, arrow.FLOAT64: formFloat64,
		arrow.DECIMAL128: formText, arrow.DATE32: formDate, arrow.DATE64: formDate,
	}[t.ID()]
	if !ok {
		return nil
	}
	return &f
}

// isNull reports whether value i is missing, itself or in the dictionary.
func isNull(a arrow.Array, i int) bool {
	d, ok := a.(*array.Dictionary)
	return a.IsNull(i) || a.DataType().ID() == arrow.NULL ||
		ok && d.Dictionary().IsNull(d.GetValueIndex(i))
}

// add appends value i of an array of a supported type.
func (v *vector) add(a arrow.Array, i int) error {
	switch a := a.(type) {
	case *array.String:
		v.texts = append(v.texts, []byte(a.Value(i)))
	case *array.LargeString:
		v.texts = append(v.texts, []byte(a.Value(i)))
	case *array.Dictionary:
		return v.add(a.Dictionary(), a.GetValueIndex(i))
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		v.texts = append(v.texts, []byte(a.Value(i).ToString(scale)))
	case *array.Boolean:
		v.ints = append(v.ints, 0)
		if a.Value(i) {
			v.ints[0] = 1
		}
	case *array.Int8:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Int16:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Int32:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Int64:
		v.ints = append(v.ints, a.Value(i))
	case *array.Uint8:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Uint16:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Uint32:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Uint64:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Float16:
		v.floats = append(v.floats, float64(a.Value(i).Float32()))
	case *array.Float32:
		v.floats = append(v.floats, float64(a.Value(i)))
	case *array.Float64:
		v.floats = append(v.floats, a.Value(i))
	case *array.Date32:
		v.ints = append(v.ints, int64(a.Value(i)))
	case *array.Date64:
		v.ints = append(v.ints, int64(math.Floor(float64(a.Value(i))/86_400_000)))
	case *array.Timestamp:
		x := int64(a.Value(i))
		if a.DataType().(*arrow.TimestampType).Unit == arrow.Second {
			x = min(max(x, math.MinInt64/1_000_000), math.MaxInt64/1_000_000) * 1_000_000
		}
		v.ints = append(v.ints, x)
	default:
		return errDamaged
	}
	return nil
}
