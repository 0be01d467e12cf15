package excerpt

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
)

// Run is the one run of a ledger inside another file.
type Run struct {
	ledger.Summary
	Reserve ledger.Entry
	Calls   int    // of mechanisms
	Outputs string // hash of what it delivered; "": of a version that bound none
}

// Run checks the ledger as [ledger.Ledger.Verify] does, and that it is that of one run, which is
// done and counts the units of its ledger. Errors wrap ledger.ErrInvalid.
func (es Entries) Run(price accountant.Pricer) (Run, error) {
	fail := func(format string, args ...any) (Run, error) {
		return Run{}, fmt.Errorf(format+": %w", append(args, ledger.ErrInvalid)...)
	}
	l := &ledger.Ledger{Entries: es}
	runs := l.Runs()
	if len(runs) > 1 { // before the cost of each is computed
		return fail("the ledger has %d runs, want 1", len(runs))
	}
	if err := l.Verify(price); err != nil {
		return fail("the ledger: %v", err)
	}
	if len(runs) != 1 {
		return fail("the ledger has %d runs, want 1", len(runs))
	}
	out := Run{Summary: runs[0]}
	if out.Status != ledger.StatusDone {
		return fail("the run is %s, not %s", out.Status, ledger.StatusDone)
	}
	for _, e := range es {
		if e.Kind == ledger.EntryReserve {
			out.Reserve = e
		}
		if e.Kind == ledger.EntryCharge {
			out.Calls += e.Event.Count
		}
	}
	if open := es[0]; open.Adjacency != out.Reserve.Adjacency || open.Unit != out.Reserve.Unit ||
		open.MaxRowsPerUnit != out.Reserve.MaxRowsPerUnit {
		return fail("the reservation counts other units than its ledger")
	}
	var err error
	if out.Outputs, err = es.bound(); err != nil {
		return fail("the ledger: %v", err)
	}
	return out, nil
}
