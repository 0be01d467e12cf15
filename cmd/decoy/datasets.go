package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/csv"
	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

func datasetsListCommand(t *terminal) *cobra.Command {
	return t.verb("datasets list", func(_ *cobra.Command, t *terminal, _ []string) error {
		var out listing[shownDataset]
		for _, name := range datasets.Names() {
			d, err := datasets.Get(name)
			if err != nil {
				return err
			}
			s, err := d.Schema()
			if err != nil {
				return err
			}
			one := shownDataset{Name: d.Name, Rows: d.Rows, Columns: len(s.Columns), Label: d.Label,
				Rate: rate(d.Rate), Where: "embedded, simulated"}
			if !d.Embedded {
				one.Origin, one.Where = d.Origin, d.Origin
			}
			out.items = append(out.items, one)
		}
		return t.print(out)
	})
}

type shownDataset struct {
	Name    string `json:"name" head:"NAME"`
	Rows    int    `json:"rows" head:"ROWS"`
	Columns int    `json:"columns" head:"COLUMNS"`
	Label   string `json:"label" head:"LABEL"`
	Rate    rate   `json:"rate" head:"RATE"` // of the label
	Origin  string `json:"origin,omitempty"` // "" of an embedded one
	Where   string `json:"-" head:"WHERE"`
}

// rate is a share that people read in percent.
type rate float64

func (r rate) String() string { return fmt.Sprintf("%.2f %%", 100*float64(r)) }

type datasetsExport struct{ out, schemaOut string }

func datasetsExportCommand(t *terminal) *cobra.Command {
	e := &datasetsExport{}
	cmd := t.verb("datasets export", e.run, flags{"out": &e.out, "schema-out": &e.schemaOut})
	cmd.ValidArgsFunction = cobra.FixedCompletions(datasets.Names(),
		cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

func (e *datasetsExport) run(_ *cobra.Command, t *terminal, args []string) error {
	if e.out == "" && e.schemaOut == "" {
		return usagef("--out or --schema-out is required")
	}
	d, err := datasets.Get(args[0])
	if err != nil {
		return err
	}
	if e.schemaOut != "" && e.schemaOut != configs.Standard { // before the table is written
		if err := configs.TryCreate("--schema-out", e.schemaOut, t.force); err != nil {
			return err
		}
	}
	if e.out != "" {
		if !d.Embedded {
			return fmt.Errorf("%s is %w: the rows come from %s (--schema-out alone writes its schema)",
				d.Name, datasets.ErrNotEmbedded, d.Origin)
		}
		if err := e.rows(t, d); err != nil {
			return err
		}
	}
	if e.schemaOut == "" {
		return nil
	}
	return t.writeText("--schema-out", e.schemaOut, configs.ReleaseMode, d.SchemaYAML())
}

// rows writes the table as it is: no code, bin or rounding in between.
func (e *datasetsExport) rows(t *terminal, d datasets.Dataset) error {
	format, err := configs.FormatOf("--out", e.out)
	if err != nil {
		return err
	}
	if format != table.CSV && format != table.Parquet {
		return usagef("--out %s: the rows are written as they are, to .csv or .parquet", e.out)
	}
	if format == table.CSV {
		return t.writeText("--out", e.out, configs.ReleaseMode, d.CSV())
	}
	return t.write("--out", e.out, configs.ReleaseMode, "", func(w io.Writer) error {
		return writeParquet(w, d)
	})
}

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
