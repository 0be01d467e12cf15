package table

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestWriteParquet: Arrow's own reader, which decoy has no part in, finds the values, the nulls and
// the types. (It takes times of no zone for UTC, so there are none.)
func TestWriteParquet(t *testing.T) {
	types := []arrow.DataType{arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32,
			ValueType: arrow.BinaryTypes.String}}
	cells := []string{"[\"\",null,\"a\"]", "[true,null,false]", "[-9007199254740993,null,5]",
		"[0.1,null,-1e300]", "[\"1600-02-29\",null,\"2026-01-01\"]",
		"[\"1969-12-31T23:59:59.999999\",null,\"2026-01-01T00:00:00\"]", "[\"b\",null,\"a\"]"}
	for _, nullable := range []bool{true, false} {
		var fields []arrow.Field
		var columns []arrow.Array
		for i, kind := range types {
			text := cells[i]
			if !nullable {
				text = strings.Replace(text, "null,", "", 1)
			}
			a, _, err := array.FromJSON(memory.DefaultAllocator, kind, strings.NewReader(text))
			stattest.Check(t, err)
			fields = append(fields, arrow.Field{Name: kind.Name(), Type: kind, Nullable: nullable})
			columns = append(columns, a)
		}
		want := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
		var b bytes.Buffer
		to, err := newParquetWriter(&b, want.Schema())
		if err != nil || to.Write(want) != nil || to.Close() != nil {
			t.Fatal(err)
		}
		got := stattest.Must(pqarrow.ReadTable(context.Background(), bytes.NewReader(b.Bytes()),
			parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator))
		for i, f := range got.Schema().Fields() {
			if !arrow.TypeEqual(f.Type, types[i]) || f.Nullable != nullable {
				t.Errorf("%v is read as %v, nullable %v", types[i], f.Type, f.Nullable)
			}
			if read := got.Column(i).Data().Chunk(0); !array.Equal(read, columns[i]) {
				t.Errorf("%v: read %v, want %v", types[i], read, columns[i])
			}
		}
	}
	list := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String)}},
		nil)
	if _, err := newParquetWriter(&bytes.Buffer{}, list); err == nil ||
		err.Error() != "table: a column of type list<item: utf8, nullable> cannot be written as Parquet" {
		t.Errorf("a list: %v", err)
	}
}
