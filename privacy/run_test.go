package privacy

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestRunIsPaidOnce: a run whose name the ledger has is refused before a row is read, also when
// several begin at once.
func TestRunIsPaidOnce(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	file := ledger.NewFile(filepath.Join(t.TempDir(), "x.ledger"))
	plan := gaussian(30, 1)
	open := func(run string, reads *int) error {
		s, err := Open(
			context.Background(), counted(tab, reads),
			Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}, Plan: plan, Ledger: file, Run: run},
		)
		if err == nil {
			if s.Run() != run {
				t.Errorf("the run is called %s, want %s", s.Run(), run)
			}
			err = s.Finish(nil, nil)
		}
		return err
	}
	const run = "00112233445566ff"
	reads := 0
	var group sync.WaitGroup
	errs, counts := make([]error, 8), make([]int, 8)
	for i := range errs {
		group.Go(func() { errs[i] = open(run, &counts[i]) })
	}
	group.Wait()
	opened := 0
	for i, err := range errs {
		reads += counts[i]
		if err == nil {
			opened++
		} else if !errors.Is(err, ErrRun) {
			t.Errorf("error %v, want ErrRun", err)
		}
	}
	if opened != 1 || reads != 1 {
		t.Errorf("%d sessions, %d reads, want 1 and 1", opened, reads)
	}
	l, err := file.Read()
	if err != nil || l.Spent().Epsilon != 1 {
		t.Errorf("spent %v, %v", l.Spent(), err)
	}
	for _, bad := range []string{"x", "00112233445566fF", "00112233445566ff0", "../../../../../x"} {
		stattest.Fails(t, open(bad, &reads), "a run may be called %q", bad)
	}
	stattest.Passes(t, open("00112233445566fe", &reads), "another run")
}
