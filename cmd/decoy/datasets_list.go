package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/datasets"
)

func datasetsListCommand(t *terminal) *cobra.Command {
	return manual{session: `
$ decoy datasets list
`}.document(&cobra.Command{
		Use:   "list",
		Short: "list the embedded examples and the catalogue of public tables",
		Long: `List the tables that decoy knows: the embedded, simulated ones, which any verb takes by
--dataset NAME, and public ones that are not part of the program. It has the schemas of all.`,
		Args: operands(),
		RunE: func(*cobra.Command, []string) error {
			w := t.table()
			fmt.Fprintln(w, "NAME\tROWS\tCOLUMNS\tLABEL\tRATE\tWHERE")
			for _, name := range datasets.Names() {
				d, err := datasets.Get(name)
				if err != nil {
					return err
				}
				s, err := d.Schema()
				if err != nil {
					return err
				}
				where := "embedded, simulated"
				if !d.Embedded {
					where = d.Origin
				}
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%.2f %%\t%s\n", d.Name, d.Rows, len(s.Columns), d.Label,
					100*d.Rate, where)
			}
			return w.Flush()
		},
	})
}
