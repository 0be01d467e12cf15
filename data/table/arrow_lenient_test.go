package table

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// arrowTexts is a stream of one column of texts, in batches of two.
func arrowTexts(t testing.TB, dictionary bool, cells []string, o ...ipc.Option) []byte {
	var kind arrow.DataType = arrow.BinaryTypes.String
	if dictionary {
		kind = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: kind}
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: kind, Nullable: true}}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(s), ipc.WithDictionaryDeltas(true))...)
	column := array.NewBuilder(memory.DefaultAllocator, kind)
	for batch := range slices.Chunk(cells, 2) {
		for _, cell := range batch {
			switch c := column.(type) {
			case *array.StringBuilder:
				c.Append(cell)
			case *array.BinaryDictionaryBuilder:
				stattest.Check(t, c.AppendString(cell))
			}
		}
		r := array.NewRecord(s, []arrow.Array{column.NewArray()}, int64(len(batch)))
		stattest.Check(t, w.Write(r))
	}
	stattest.Check(t, w.Close())
	return b.Bytes()
}

// readArrow reads a table from a stream.
func readArrow(data []byte, s *schema.Schema, o ReadOptions) (*Table, error) {
	out, _, err := ReadArrow(context.Background(), data, s, o)
	return out, err
}

// TestLenientArrowNeighbours: a bad text changes no other row, in a column of codes or of units,
// plain, in a dictionary or compressed.
func TestLenientArrowNeighbours(t *testing.T) {
	cells := []string{"1", "9", "1", "3"}
	for name, s := range lenientTexts() {
		for _, dictionary := range []bool{false, true} {
			for _, o := range [][]ipc.Option{nil, {ipc.WithLZ4()}} {
				read := func(cells []string) *Table {
					out, err := readArrow(arrowTexts(t, dictionary, cells, o...), s, ReadOptions{maxCell: 32})
					if err != nil {
						t.Fatalf("%s, %q: %v", name, cells, err)
					}
					return out
				}
				checkBadTexts(t, name, s, cells, read)
			}
		}
	}
}

// TestLenientArrowTypes: no value of any type, null or not, is an error in a column of any kind
// that can hold it, or as a unit.
func TestLenientArrowTypes(t *testing.T) {
	data, refused := arrowStream(t), 0
	for _, x := range arrowTypes {
		name := x.kind.String()
		for kind := schema.Categorical; kind <= schema.Timestamp; kind++ {
			s := lenientKind(name, kind)
			out, err := readArrow(data, s, ReadOptions{})
			if unfitting(s, arrowLeaf(x.kind)) {
				stattest.Wraps(t, err, schema.ErrSchema, "%s as %v is not refused", name, kind)
			} else if err != nil || out.Rows() != 4 {
				t.Errorf("%s as %v: %v", name, kind, err)
			}
			s.Lenient = false
			if _, err := readArrow(data, s, ReadOptions{}); errors.Is(err, schema.ErrSchema) {
				refused++
			}
		}
		s := oneColumn("none", schema.Boolean, 0, 0)
		s.Lenient, s.Columns[0].OnInvalid, s.Columns[0].Missing = true, schema.Clamp, []string{""}
		s.Unit, s.MaxRowsPerUnit = name, 1
		stattest.Passes(t, stattest.Err(readArrow(data, s, ReadOptions{})), "%s as the unit", name)
	}
	if refused < 100 {
		t.Errorf("a strict schema refuses %d: too few for a test", refused)
	}
}
