package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
)

func ledgerShowCommand(t *terminal) *cobra.Command {
	cmd := t.verb("ledger show")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return showLedger(t, args[0]) }
	return cmd
}

// shownLedger is what a ledger holds.
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

	path  string
	empty bool
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
	Key    string      `json:"key,omitempty"` // minisign's, whose signature the next limit needs
}

func runsOf(l *ledger.Ledger) []shownRun {
	out := []shownRun{}
	for _, r := range l.Runs() {
		out = append(out, shownRun{r.Run, r.Time, r.Method, r.Budget, r.Reserved, r.Charged, r.Status})
	}
	return out
}

func showLedger(t *terminal, path string) error {
	l, torn, err := openLedger(path)
	if err != nil {
		return err
	}
	out := shownLedger{Kind: "ledger", Runs: runsOf(l), Spent: l.Spent(),
		Unfinished: job.Unfinished(l, path), Torn: torn, path: path, empty: len(l.Entries) == 0}
	if !out.empty {
		out.Adjacency, out.Unit = l.Entries[0].Adjacency, l.Entries[0].Unit
	}
	out.Void, out.Charged = job.Voids(l)
	if limit, ok := l.LimitInForce(); ok {
		out.Limit = &shownLimit{*limit.Budget, limit.Rule, limit.Strict, limit.Key}
	}
	return t.print(out)
}

func (s shownLedger) text(w io.Writer) {
	fmt.Fprintf(w, "ledger\t%s\n", spelling.Visible(s.path))
	fmt.Fprintf(w, "counts\t%s\n", s.countsText())
	fmt.Fprintf(w, "spent\t%s\n", job.BudgetText(s.Spent))
	limit := "none"
	if s.Limit != nil {
		limit = job.LimitText(ledger.Entry{Budget: &s.Limit.Budget, Rule: s.Limit.Rule,
			Strict: s.Limit.Strict, Key: s.Limit.Key})
	}
	fmt.Fprintf(w, "limit\t%s\n", spelling.Visible(limit))
	if s.Void > 0 {
		fmt.Fprintf(w, "void\t%s\n", s.voidText())
	}
	fmt.Fprintln(w)
	runsText(w, s.Runs)
	for _, text := range s.Unfinished {
		fmt.Fprintln(w, spelling.Visible(text))
	}
	if s.Torn {
		fmt.Fprintln(w, tornText)
	}
}
