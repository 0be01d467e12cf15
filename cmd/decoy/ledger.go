package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/job"
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
		err = fmt.Errorf("%s: %w", path, err)
		if beside := path + ".ledger"; errors.Is(err, ledger.ErrInvalid) && job.Readable(beside) == nil {
			err = fmt.Errorf("%w; the ledger of that table is %s", err, beside)
		}
		return nil, false, err
	}
	return l, false, nil
}

// countsText says what one privacy unit of a ledger is.
func (s shownLedger) countsText() string {
	switch {
	case s.empty:
		return "nothing yet"
	case s.Unit == "":
		return fmt.Sprintf("%v neighbours of one row", s.Adjacency)
	}
	return fmt.Sprintf("%v neighbours of one %q", s.Adjacency, s.Unit)
}

// voidText says how many runs broke off before their first mechanism, and what became of their
// budgets.
func (s shownLedger) voidText() string {
	runs := plural(s.Void, "run", "runs")
	switch s.Charged {
	case s.Void:
		return runs + ", charged: the limit in force at the reservation was strict"
	case 0:
		return runs + " broke off before the first mechanism and cost nothing; if that was an " +
			"error about the rows, whoever ran it saw something of them (decoy ledger limit --strict " +
			"charges such runs)"
	}
	return fmt.Sprintf("%s, %d of them charged: those that were reserved under a strict limit", runs,
		s.Charged)
}

// tornText is said of a ledger whose last line is not whole.
const tornText = "the last line was cut short by a crash; its run never started, and the next " +
	"append removes it"

// runsText is the table of a ledger's runs.
func runsText(w io.Writer, runs []shownRun) {
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
