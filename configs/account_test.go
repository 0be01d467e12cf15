package configs

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

func TestUnfinished(t *testing.T) {
	when := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	reserve := func(run string) ledger.Entry {
		return ledger.Entry{Kind: ledger.EntryReserve, Run: run, Method: "mst", Time: when,
			Budget: &accountant.Budget{Epsilon: 1, Delta: 1e-9}}
	}
	l := &ledger.Ledger{Entries: []ledger.Entry{
		{Kind: ledger.EntryOpen},
		reserve("aa"), {Kind: ledger.EntryClose, Run: "aa", Status: ledger.StatusDone},
		reserve("bb"), {Kind: ledger.EntryCharge, Run: "bb"},
		reserve("cc"),
		{Kind: ledger.EntryReserve, Run: "dd", Method: "holdout", Time: when,
			Budget: &accountant.Budget{Epsilon: 1}},
	}}
	got := unfinished(l, map[string]bool{"bb": true})
	want := []string{
		"run bb (mst, epsilon 1, 2026-11-21) is still working; its budget is already spent",
		"run cc (mst, epsilon 1, 2026-11-21) stopped before its end, and its budget stays spent: the " +
			"command that began it finishes it with --resume, at no further cost",
		"run dd (holdout, epsilon 1, 2026-11-21) has not come to its end, and its budget stays spent: " +
			"a run of method holdout cannot be continued",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReadOnlyFolder: where no file can be written beside the table, the way out is named.
func TestReadOnlyFolder(t *testing.T) {
	at := filepath.Join(t.TempDir(), "p.csv.ledger")
	for cause, want := range map[error]bool{syscall.EACCES: true, syscall.EROFS: true,
		syscall.ENOSPC: false} {
		said := ""
		a := &Account{Ledger: ledger.NewFile(at), before: &ledger.Ledger{},
			Say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
		err := fmt.Errorf("privacy: %w", &fs.PathError{Op: "open", Path: at + ".x.journal", Err: cause})
		if a.Explain(err, false); strings.Contains(said, "--ledger") != want {
			t.Errorf("%v: %q", cause, said)
		}
	}
}

// TestInterruptedAgain: a run that is continued was paid before.
func TestInterruptedAgain(t *testing.T) {
	a := &Account{Ledger: ledger.NewFile(filepath.Join(t.TempDir(), "l")), before: &ledger.Ledger{},
		run: "aa"}
	if err := a.Explain(context.Canceled, false); strings.Contains(err.Error(), "before anything") {
		t.Error(err)
	}
}
