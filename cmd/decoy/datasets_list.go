package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/datasets"
)

func datasetsListCommand(t *terminal) *cobra.Command {
	cmd := t.verb("datasets list")
	cmd.RunE = func(*cobra.Command, []string) error {
		out := listing[shownDataset]{head: "NAME\tROWS\tCOLUMNS\tLABEL\tRATE\tWHERE",
			line: func(d shownDataset) string {
				return row(d.Name, d.Rows, d.Columns, d.Label, fmt.Sprintf("%.2f %%", 100*d.Rate),
					cmp.Or(d.Origin, "embedded, simulated"))
			}}
		for _, name := range datasets.Names() {
			d, err := datasets.Get(name)
			if err != nil {
				return err
			}
			s, err := d.Schema()
			if err != nil {
				return err
			}
			one := shownDataset{d.Name, d.Rows, len(s.Columns), d.Label, d.Rate, ""}
			if !d.Embedded {
				one.Origin = d.Origin
			}
			out.items = append(out.items, one)
		}
		return t.print(out)
	}
	return cmd
}

type shownDataset struct {
	Name    string  `json:"name"`
	Rows    int     `json:"rows"`
	Columns int     `json:"columns"`
	Label   string  `json:"label"`
	Rate    float64 `json:"rate"`             // of the label
	Origin  string  `json:"origin,omitempty"` // "" of an embedded one
}
