package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
)

func ledgerShowCommand(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := manual{
		operands: "FILE  ledger file",
		session: `
$ decoy fit --dataset icu-readmission --epsilon 1 --model icu.model --ledger icu.ledger
$ decoy ledger show icu.ledger
`}.document(&cobra.Command{
		Use:   "show FILE [--json]",
		Short: "show the runs, what is spent and the limit",
		Long: "Show the runs of a ledger, what they spent in all, the limit, and the runs that did " +
			"not finish.",
		Args: operands("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, torn, err := openLedger(args[0])
			if err != nil {
				return err
			}
			return showLedger(t, args[0], l, torn, asJSON)
		},
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// shownLedger is a ledger as JSON.
type shownLedger struct {
	Kind      string               `json:"kind"` // "ledger"
	Adjacency accountant.Adjacency `json:"adjacency,omitzero"`
	Unit      string               `json:"unit,omitempty"`
	Runs      []shownRun           `json:"runs"`
	Spent     accountant.Budget    `json:"spent"`
	Limit     *shownLimit          `json:"limit,omitempty"`
	// runs that broke off before their first mechanism
	Void       int      `json:"void,omitempty"`
	Charged    int      `json:"void_charged,omitempty"` // those of them that count in spent
	Unfinished []string `json:"unfinished,omitempty"`
	Torn       bool     `json:"torn,omitempty"`
}

type shownRun struct {
	Run      string                 `json:"run"`
	Time     time.Time              `json:"time"`
	Method   string                 `json:"method"`
	Budget   accountant.Budget      `json:"budget"`
	Reserved accountant.Composition `json:"reserved"`
	Charged  accountant.Composition `json:"charged,omitempty"`
	Status   string                 `json:"status"`
}

type shownLimit struct {
	accountant.Budget
	Rule   ledger.Rule `json:"rule"`
	Strict bool        `json:"strict,omitempty"`
}

func showLedger(t *terminal, path string, l *ledger.Ledger, torn, asJSON bool) error {
	open := job.Unfinished(l, path)
	limit, limited := l.Limit()
	if asJSON {
		out := shownLedger{Kind: "ledger", Runs: []shownRun{}, Spent: l.Spent(), Unfinished: open,
			Torn: torn}
		if len(l.Entries) > 0 {
			first := l.Entries[0]
			out.Adjacency, out.Unit = first.Adjacency, first.Unit
		}
		out.Void, out.Charged = job.Voids(l)
		for _, r := range l.Runs() {
			out.Runs = append(out.Runs, shownRun{r.Run, r.Time, r.Method, r.Budget, r.Reserved, r.Charged,
				r.Status})
		}
		if limited {
			out.Limit = &shownLimit{*limit.Budget, limit.Rule, limit.Strict}
		}
		return printJSON(t, out)
	}
	w := t.table()
	fmt.Fprintf(w, "ledger\t%s\n", spelling.Visible(path))
	fmt.Fprintf(w, "counts\t%s\n", countsText(l))
	fmt.Fprintf(w, "spent\t%s\n", job.BudgetText(l.Spent()))
	if limited {
		fmt.Fprintf(w, "limit\t%s\n", spelling.Visible(job.LimitText(limit)))
	} else {
		fmt.Fprintf(w, "limit\tnone\n")
	}
	if void, _ := job.Voids(l); void > 0 {
		fmt.Fprintf(w, "void\t%s\n", voidText(l))
	}
	w.Flush()
	fmt.Fprintln(t.stdout)
	printRuns(t, l)
	for _, text := range open {
		fmt.Fprintln(t.stdout, spelling.Visible(text))
	}
	if torn {
		fmt.Fprintln(t.stdout, "the last line was cut short by a crash; its run never started, and the "+
			"next append removes it")
	}
	return nil
}
