package main

import (
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/atomicfile"
)

// tellUnfinished says of every run of the ledger that has no end what is known of it.
func tellUnfinished(t *terminal, l *accountant.Ledger) {
	host, _ := os.Hostname()
	for _, text := range unfinished(l, host, atomicfile.Alive) {
		t.say("%s", text)
	}
}

// unfinished has one sentence for each reserved run without a close entry. A process can only be looked for on its own host.
func unfinished(l *accountant.Ledger, host string, alive func(pid int) bool) []string {
	closed := map[string]bool{}
	last := map[string]accountant.Entry{} // the process that continues a run
	for _, e := range l.Entries {
		switch e.Kind {
		case accountant.EntryClose:
			closed[e.Run] = true
		case accountant.EntryResume:
			last[e.Run] = e
		}
	}
	var out []string
	for _, e := range l.Entries {
		if e.Kind != accountant.EntryReserve || closed[e.Run] {
			continue
		}
		run := fmt.Sprintf("run %s (%s, epsilon %s, %s)", e.Run, e.Method, short(e.Budget.Epsilon), stamp(e.Time))
		if r, ok := last[e.Run]; ok {
			e.PID, e.Host = r.PID, r.Host
		}
		switch {
		case e.Host != host || e.PID == 0:
			run += fmt.Sprintf(" did not finish: it was killed or is still running on %s; its budget stays spent", e.Host)
		case alive(e.PID):
			run += fmt.Sprintf(" is still running as process %d; its budget is spent already", e.PID)
		default:
			run += " did not finish: it was killed; its budget stays spent"
		}
		out = append(out, run)
	}
	return out
}
