package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// openLedger reads and checks the chain of a ledger file, which must be there. torn tells of a last line that an append cut short
// left behind; it is not part of the ledger.
func openLedger(path string) (l *accountant.Ledger, torn bool, err error) {
	if err := readable(path); err != nil {
		return nil, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, bare(path, err)
	}
	defer f.Close()
	l, err = accountant.ParseLedger(f)
	if errors.Is(err, accountant.ErrTorn) {
		return l, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return l, false, nil
}

// countsText says what one privacy unit of a ledger is.
func countsText(l *accountant.Ledger) string {
	if len(l.Entries) == 0 {
		return "nothing yet"
	}
	open := l.Entries[0]
	if open.Unit == "" {
		return fmt.Sprintf("%v neighbours of one row", open.Adjacency)
	}
	return fmt.Sprintf("%v neighbours of one %q", open.Adjacency, open.Unit)
}

// printRuns is the table of a ledger's runs.
func printRuns(t *terminal, l *accountant.Ledger) {
	runs := l.Runs()
	if len(runs) == 0 {
		fmt.Fprintln(t.stdout, "no runs")
		return
	}
	w := t.table()
	fmt.Fprintln(w, "RUN\tTIME\tMETHOD\tEPSILON\tDELTA\tCALLS\tSTATUS")
	for _, r := range runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", spelling.Visible(r.Run), stamp(r.Time), spelling.Visible(r.Method),
			short(r.Budget.Epsilon), short(r.Budget.Delta), calls(r.Charged), spelling.Visible(r.Status))
	}
	w.Flush()
}

// calls is the number of mechanism calls of a composition.
func calls(c accountant.Composition) int {
	n := 0
	for _, charge := range c {
		n += charge.Count
	}
	return n
}
