package table

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

var (
	errArrowNested = errors.New("an Arrow type that is not supported (nested, binary, a time of " +
		"day, an interval, or a string_view, which is to be written as string)")
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
func (f *typedFile) openArrow() error {
	m := &arrowMessages{source: f.source, end: f.size}
	if err := m.findEnd(); err != nil {
		return err
	}
	r := &arrowFile{arrowMessages: m}
	err := catch(func() (err error) {
		r.reader, err = ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(m))
		return err
	})
	if err != nil || r.reader.Schema() == nil {
		return m.refusal()
	}
	for _, field := range r.reader.Schema().Fields() {
		c := typedColumn{name: field.Name, leaf: arrowLeaf(field.Type)}
		if c.leaf == nil {
			c.err = errArrowNested
		}
		f.columns = append(f.columns, c)
	}
	f.runs = r
	return nil
}

// next goes on to the next batch.
func (f *arrowFile) next() (rows int64, err error) {
	f.batch = nil
	err = catch(func() error {
		if f.reader.Next() {
			f.batch = f.reader.Record()
		}
		return f.reader.Err()
	})
	switch {
	case err != nil && err != io.EOF:
		return 0, f.refusal()
	case f.batch == nil:
		return 0, io.EOF
	}
	return f.batch.NumRows(), nil
}

// column hands on the values of a column of the batch.
func (f *arrowFile) column(i int, s *sink) error {
	a, n := f.batch.Column(i), s.out.rows
	if a.Len() != n {
		return errDamaged
	}
	for row := range n {
		b := s.arrowValue(a, row)
		if s.form == formText {
			if err := f.take(len(b)); err != nil {
				return err
			}
		}
		if err := s.add(b, -1); err != nil {
			return err
		}
	}
	return nil
}

// arrowLeaf is what the values of an Arrow type are; nil if it is not supported.
func arrowLeaf(t arrow.DataType) *leaf {
	l, ok := map[arrow.Type]leaf{
		arrow.STRING: {}, arrow.LARGE_STRING: {}, arrow.NULL: {form: formNull},
		arrow.BOOL: {form: formBool},
		arrow.INT8: {form: formInt}, arrow.INT16: {form: formInt}, arrow.INT32: {form: formInt},
		arrow.INT64: {form: formInt}, arrow.UINT8: {form: formInt, unsigned: true},
		arrow.UINT16: {form: formInt, unsigned: true}, arrow.UINT32: {form: formInt, unsigned: true},
		arrow.UINT64: {form: formUint}, arrow.FLOAT16: {form: formFloat},
		arrow.FLOAT32: {form: formFloat}, arrow.FLOAT64: {form: formFloat},
		arrow.DECIMAL128: {form: formDecimal, little: true}, arrow.DATE32: {form: formDate, ticks: 1},
		arrow.DATE64: {form: formDate, ticks: 86_400_000}, arrow.TIMESTAMP: {form: formTime},
		arrow.DICTIONARY: {},
	}[t.ID()]
	switch t := t.(type) {
	case *arrow.DictionaryType:
		id := t.ValueType.ID()
		ok = id == arrow.STRING || id == arrow.LARGE_STRING
	case *arrow.TimestampType:
		l.ticks = map[arrow.TimeUnit]int64{arrow.Second: 1, arrow.Millisecond: 1e3,
			arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}[t.Unit]
		ok = l.ticks > 0
	case *arrow.Decimal128Type:
		l.scale = int(t.Scale)
		ok = l.scale >= 0 && l.scale <= 76
	}
	if !ok {
		return nil
	}
	if fixed, is := t.(arrow.FixedWidthDataType); is {
		l.width = fixed.BitWidth() / 8
	}
	return &l
}

// arrowValue is value i of an array of the leaf's type, as it is stored; nil if it is missing,
// itself or in the dictionary. It panics outside of the array.
func (l *leaf) arrowValue(a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Null:
		return nil
	case *array.String:
		return []byte(a.Value(i))
	case *array.LargeString:
		return []byte(a.Value(i))
	case *array.Dictionary:
		return l.arrowValue(a.Dictionary(), a.GetValueIndex(i))
	case *array.Boolean:
		if a.Value(i) {
			return []byte{1}
		}
		return []byte{0}
	}
	data := a.Data()
	at := (data.Offset() + i) * l.width
	return data.Buffers()[1].Bytes()[at : at+l.width]
}
