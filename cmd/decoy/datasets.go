package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
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
	return t.verb("datasets export", e.run, flags{"out": &e.out, "schema-out": &e.schemaOut})
}

func (e *datasetsExport) run(_ *cobra.Command, t *terminal, args []string) error {
	if e.out == "" && e.schemaOut == "" {
		return usagef("--out or --schema-out is required")
	}
	d, err := datasets.Get(args[0])
	if err != nil {
		return err
	}
	switch {
	case e.out != "" && !d.Embedded:
		return fmt.Errorf("%s is %w: the rows come from %s (--schema-out alone writes its schema)",
			d.Name, datasets.ErrNotEmbedded, d.Origin)
	case e.out != "" && filepath.Ext(e.out) != ".csv" && e.out != configs.Standard:
		return usagef("--out %s: the rows are written as they are, to .csv", e.out)
	}
	described, err := t.create("--schema-out", e.schemaOut, configs.ReleaseMode)
	if err != nil {
		return err
	}
	if e.out != "" {
		err := t.write("--out", e.out, configs.ReleaseMode, bytesOf(d.CSV()))
		if err != nil {
			return err
		}
	}
	return t.deliver(described, "", bytesOf(d.SchemaYAML()))
}
