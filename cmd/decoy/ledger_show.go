package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// openLedger reads and checks the chain of a ledger file, which must be there. torn tells of a last
// line that an append cut short left behind; it is not part of the ledger.
func openLedger(path string) (l *ledger.Ledger, torn bool, err error) {
	if err := job.Readable(path); err != nil {
		return nil, false, err
	}
	l, err = readFile(path, ledger.Parse)
	if errors.Is(err, ledger.ErrTorn) {
		return l, true, nil
	}
	if err != nil {
		if beside := path + ".ledger"; errors.Is(err, ledger.ErrInvalid) && job.Readable(beside) == nil {
			err = fmt.Errorf("%w; the ledger of that table is %s", err, beside)
		} else if _, format := table.FormatOf(path); errors.Is(err, ledger.ErrInvalid) && format == nil {
			err = fmt.Errorf("%w; %s has the name of a table, whose ledger would be %s", err, path, beside)
		}
		return nil, false, err
	}
	return l, false, nil
}

// countsText says what one privacy unit of a ledger is.
func (s shownLedger) countsText() string {
	if s.empty {
		return "nothing yet"
	}
	return fmt.Sprintf("%v neighbours of one %s", s.Adjacency, unitOf(s.Unit))
}

// tornText is said of a ledger whose last line is not whole.
const tornText = "the last line was cut short by a crash; its run never started, and the next " +
	"append removes it"

// runsText is the table of a ledger's runs.
func runsText(w io.Writer, runs []ledger.Summary) {
	if len(runs) == 0 {
		fmt.Fprintln(w, "no runs")
		return
	}
	fmt.Fprintln(w, "RUN\tTIME\tMETHOD\tEPSILON\tDELTA\tCALLS\tSTATUS")
	for _, r := range runs {
		fmt.Fprintln(w, row(r.Run, stamp(r.Time), r.Method, job.Short(r.Budget.Epsilon),
			job.Short(r.Budget.Delta), calls(r.Charged), r.Status))
	}
}

// callsOf is the number of mechanism calls that a plan expects, at most: a filter among its events
// says nothing of it.
func callsOf(p synth.Plan) (n int) {
	for _, noise := range p.Forecast().Noise {
		n += noise.Count
	}
	return n
}

// calls is the number of mechanism calls of a composition.
func calls(c accountant.Composition) int {
	n := 0
	for _, charge := range c {
		n += charge.Count
	}
	return n
}

func ledgerShowCommand(t *terminal) *cobra.Command {
	return t.verb("ledger show", func(_ *cobra.Command, t *terminal, args []string) error {
		return showLedger(t, args[0])
	})
}

// shownLedger is what a ledger holds.
type shownLedger struct {
	Kind       string               `json:"kind"` // "ledger"
	Adjacency  accountant.Adjacency `json:"adjacency,omitzero"`
	Unit       string               `json:"unit,omitempty"`
	Runs       []ledger.Summary     `json:"runs"`
	Spent      accountant.Budget    `json:"spent"`
	Limit      *shownLimit          `json:"limit,omitempty"`
	Unfinished []string             `json:"unfinished,omitempty"`
	Torn       bool                 `json:"torn,omitempty"`

	path  string
	empty bool
}

type shownLimit struct {
	accountant.Budget
	Rule ledger.Rule `json:"rule"`
	Runs int         `json:"runs,omitempty"` // at most; 0: any number
	Key  string      `json:"key,omitempty"`  // minisign's, whose signature the next limit needs
}

func showLedger(t *terminal, path string) error {
	l, torn, err := openLedger(path)
	if err != nil {
		return err
	}
	out := shownLedger{Kind: "ledger", Runs: append([]ledger.Summary{}, l.Runs()...), Spent: l.Spent(),
		Unfinished: job.Unfinished(l, path), Torn: torn, path: path, empty: len(l.Entries) == 0}
	if !out.empty {
		out.Adjacency, out.Unit = l.Entries[0].Adjacency, l.Entries[0].Unit
	}
	if limit, ok := l.LimitInForce(); ok {
		out.Limit = &shownLimit{*limit.Budget, limit.Rule, limit.MostRuns, limit.Key}
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
			MostRuns: s.Limit.Runs, Key: s.Limit.Key})
	}
	fmt.Fprintf(w, "limit\t%s\n", spelling.Visible(limit))
	fmt.Fprintln(w)
	runsText(w, s.Runs)
	for _, text := range s.Unfinished {
		fmt.Fprintln(w, spelling.Visible(text))
	}
	if s.Torn {
		fmt.Fprintln(w, tornText)
	}
}
