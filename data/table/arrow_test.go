package table

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// arrowTypes has a column of each type that is read, of a value and a null, in JSON, and how the
// value is written as a text.
var arrowTypes = []struct {
	kind       arrow.DataType
	json, text string
}{
	{arrow.BinaryTypes.String, `"é"`, "é"}, {arrow.Null, `null`, ""},
	{arrow.BinaryTypes.LargeString, `"x"`, "x"},
	{arrow.FixedWidthTypes.Boolean, `true`, "true"},
	{arrow.PrimitiveTypes.Int8, `-8`, "-8"},
	{arrow.PrimitiveTypes.Int16, `-16`, "-16"},
	{arrow.PrimitiveTypes.Int32, `-32`, "-32"},
	{arrow.PrimitiveTypes.Int64, `-64`, "-64"},
	{arrow.PrimitiveTypes.Uint8, `8`, "8"},
	{arrow.PrimitiveTypes.Uint16, `16`, "16"},
	{arrow.PrimitiveTypes.Uint32, `4000000000`, "4000000000"},
	{arrow.PrimitiveTypes.Uint64, `9223372036854775808`, "9223372036854775808"},
	{arrow.FixedWidthTypes.Float16, `1.5`, "1.5"},
	{arrow.PrimitiveTypes.Float32, `0.1`, "0.1"},
	{arrow.PrimitiveTypes.Float64, `0.1`, "0.1"},
	{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `"12.50"`, "12.50"},
	{arrow.FixedWidthTypes.Date32, `"2020-02-29"`, "2020-02-29"},
	{arrow.FixedWidthTypes.Date64, `"1969-12-31"`, "1969-12-31"},
	{&arrow.TimestampType{Unit: arrow.Second}, `"2020-02-29 12:34:56"`, "2020-02-29T12:34:56Z"},
	{arrow.FixedWidthTypes.Timestamp_ms, `"2020-02-29 12:34:56.789"`, "2020-02-29T12:34:56.789Z"},
	{arrow.FixedWidthTypes.Timestamp_us, `"2020-02-29 12:34:56.5"`, "2020-02-29T12:34:56.5Z"},
	{arrow.FixedWidthTypes.Timestamp_ns, `"2020-02-29 12:34:56.5"`, "2020-02-29T12:34:56.5Z"},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		`"word"`, "word"},
}

// arrowStream writes a batch of two rows, a value and a null, of each type; and a nested column.
func arrowStream(t testing.TB, o ...ipc.Option) []byte {
	var fields []arrow.Field
	var columns []arrow.Array
	add := func(name string, kind arrow.DataType, json string) {
		a, _, err := array.FromJSON(memory.DefaultAllocator, kind, strings.NewReader("["+json+", null]"))
		if err != nil {
			t.Fatal(kind, err)
		}
		fields = append(fields, arrow.Field{Name: name, Type: kind, Nullable: true})
		columns = append(columns, a)
	}
	for _, x := range arrowTypes {
		add(x.kind.String(), x.kind, x.json)
	}
	var b bytes.Buffer
	s := arrow.NewSchema(fields, nil)
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(s))...)
	batch := array.NewRecord(s, columns, 2)
	stattest.Check(t, errors.Join(w.Write(batch), w.Write(batch), w.Close()))
	return b.Bytes()
}

func arrowPath(t testing.TB, data []byte) string {
	path := filepath.Join(t.TempDir(), "t.arrow")
	stattest.Check(t, os.WriteFile(path, data, 0o600))
	return path
}

// Every type is read as its text, from plain streams and compressed ones.
func TestArrowTypes(t *testing.T) {
	for name, o := range map[string][]ipc.Option{"plain": nil, "LZ4": {ipc.WithLZ4()}} {
		rows := 0
		err := ScanText(arrowPath(t, arrowStream(t, o...)), ScanOptions{},
			func(names, row []string) error {
				for i, x := range arrowTypes {
					want := x.text
					if rows%2 == 1 {
						want = ""
					}
					if row[i] != want || names[i] != x.kind.String() {
						t.Errorf("%s: %s: %q, want %q", name, names[i], row[i], want)
					}
				}
				rows++
				return nil
			})
		if err != nil || rows != 4 {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
	err := ScanText(arrowPath(t, arrowStream(t, ipc.WithZstd())), ScanOptions{}, nil)
	stattest.Wraps(t, err, errArrowZstd, "Zstandard")
}

// A type that is not supported is an error in a column that the schema names, and nowhere else.
func TestArrowUnsupported(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: list}, {Name: "b",
		Type: arrow.PrimitiveTypes.Int8}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	x, _, err := array.FromJSON(memory.DefaultAllocator, list, strings.NewReader("[[1]]"))
	y, _, err2 := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8,
		strings.NewReader("[1]"))
	stattest.Check(t, errors.Join(err, err2, w.Write(array.NewRecord(s, []arrow.Array{x, y}, 1)),
		w.Close()))
	for name, want := range map[string]error{"a": errArrowNested, "b": nil} {
		s := oneColumn(name, schema.Integer, 0, 9)
		if _, _, err := Read(context.Background(), arrowPath(t, b.Bytes()), s,
			ReadOptions{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// readHostileArrow reads a file in every way, and reports what must not happen: a panic, or an
// error that shows what is in the file.
func readHostileArrow(t testing.TB, data []byte) {
	s := &schema.Schema{Lenient: true}
	for _, x := range arrowTypes {
		s.Columns = append(s.Columns, schema.Column{Name: x.kind.String(), Kind: schema.Categorical,
			Categories: []string{x.text}, Missing: []string{""}, OnInvalid: schema.Clamp})
	}
	_, err := readArrow(data, s, ReadOptions{})
	err2 := inBytes(data).scan(ScanOptions{}, func(_, _ []string) error {
		return nil
	})
	for _, err := range []error{err, err2} {
		if err != nil && strings.Contains(err.Error(), "word") {
			t.Fatal(err)
		}
	}
}

// A file that is cut short or has a wrong byte anywhere is read or refused.
func TestArrowDamage(t *testing.T) {
	for _, data := range [][]byte{arrowStream(t), arrowStream(t, ipc.WithLZ4()), written(t, Arrow,
		randomRows(t, relatedOf(t), 3))} {
		for n := 0; n < len(data); n += 53 {
			readHostileArrow(t, data[:n])
			for _, b := range []byte{0xff, 0x7f, data[n] ^ 1} {
				bad := bytes.Clone(data)
				bad[n] = b
				readHostileArrow(t, bad)
			}
		}
	}
}

// FuzzReadArrow: a file of any bytes is read or refused.
func FuzzReadArrow(f *testing.F) {
	f.Add(arrowStream(f))
	f.Add(arrowStream(f, ipc.WithLZ4()))
	f.Add([]byte(arrowMagic))
	f.Fuzz(func(t *testing.T, data []byte) { readHostileArrow(t, data) })
}
