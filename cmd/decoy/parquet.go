package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// writeParquet writes the cells of an embedded table, value for value: numbers as int64 and
// float64, all else as text, missing cells as nulls. The rows do not go through codes, which would
// round them to bins.
func writeParquet(w io.Writer, d datasets.Dataset) error {
	s, err := d.Schema()
	if err != nil {
		return err
	}
	fields := make([]arrow.Field, len(s.Columns))
	for i, c := range s.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: exportedType(c.Kind), Nullable: len(c.Missing) > 0}
	}
	layout := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, layout)
	defer b.Release()
	rows, err := csv.NewReader(bytes.NewReader(d.CSV())).ReadAll()
	if err != nil {
		return err
	}
	for _, row := range rows[1:] {
		for i, cell := range row {
			if slices.Contains(s.Columns[i].Missing, cell) {
				b.Field(i).AppendNull()
			} else if err := b.Field(i).AppendValueFromString(cell); err != nil {
				return fmt.Errorf("%s: column %q holds a cell that is no %v", d.Name, s.Columns[i].Name,
					s.Columns[i].Kind)
			}
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return table.WriteParquet(w, record)
}

// exportedType is how a column of the embedded tables is stored.
func exportedType(k schema.Kind) arrow.DataType {
	switch k.Stored() {
	case schema.StoredInt:
		return arrow.PrimitiveTypes.Int64
	case schema.StoredFloat:
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.BinaryTypes.String
}
