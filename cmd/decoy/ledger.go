package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/synth"
)

// openLedger reads and checks the chain of a ledger file, which must be there. torn tells of a last
// line that an append cut short left behind; it is not part of the ledger.
func openLedger(path string) (l *ledger.Ledger, torn bool, err error) {
	if err := job.Readable(path); err != nil {
		return nil, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, job.Bare(path, err)
	}
	defer f.Close()
	l, err = ledger.Parse(f)
	if errors.Is(err, ledger.ErrTorn) {
		return l, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return l, false, nil
}

// countsText says what one privacy unit of a ledger is.
func countsText(l *ledger.Ledger) string {
	if len(l.Entries) == 0 {
		return "nothing yet"
	}
	open := l.Entries[0]
	if open.Unit == "" {
		return fmt.Sprintf("%v neighbours of one row", open.Adjacency)
	}
	return fmt.Sprintf("%v neighbours of one %q", open.Adjacency, open.Unit)
}

// voidText says how many runs broke off before their first mechanism, and what became of their
// budgets.
func voidText(l *ledger.Ledger) string {
	void, charged := job.Voids(l)
	switch {
	case charged == void:
		return fmt.Sprintf("%s, charged: the limit in force at the reservation was strict",
			plural(void, "run", "runs"))
	case charged == 0:
		return fmt.Sprintf("%s broke off before the first mechanism and cost nothing, though "+
			"whoever ran it saw an error about the rows (decoy ledger limit --strict charges "+
			"them)", plural(void, "run", "runs"))
	}
	return fmt.Sprintf("%s, %d of them charged: those that were reserved under a strict limit",
		plural(void, "run", "runs"), charged)
}

// printRuns is the table of a ledger's runs.
func printRuns(t *terminal, l *ledger.Ledger) {
	runs := l.Runs()
	if len(runs) == 0 {
		fmt.Fprintln(t.stdout, "no runs")
		return
	}
	w := t.table()
	fmt.Fprintln(w, "RUN\tTIME\tMETHOD\tEPSILON\tDELTA\tCALLS\tSTATUS")
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", spelling.Visible(r.Run), stamp(r.Time),
			spelling.Visible(r.Method),
			job.Short(r.Budget.Epsilon), job.Short(r.Budget.Delta), calls(r.Charged),
			spelling.Visible(r.Status))
	}
	w.Flush()
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
