package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/csv"

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
	fields, missing := make([]arrow.Field, len(s.Columns)), []string{}
	for i, c := range s.Columns {
		missing = append(missing, c.Missing...)
		fields[i] = arrow.Field{Name: c.Name, Type: exportedType(c.Kind), Nullable: len(c.Missing) > 0}
	}
	rows := csv.NewReader(bytes.NewReader(d.CSV()), arrow.NewSchema(fields, nil),
		csv.WithHeader(true), csv.WithChunk(-1), csv.WithNullReader(true, missing...))
	defer rows.Release()
	rows.Next()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return table.WriteParquet(w, rows.Record())
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
