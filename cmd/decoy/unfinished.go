package main

import (
	"fmt"
	"path/filepath"

	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
)

// atWork is the runs of a ledger whose processes are at work, as far as their journals are beside
// it.
func atWork(path string) map[string]bool {
	running := map[string]bool{}
	journals, _ := filepath.Glob(path + ".*.journal")
	for _, journal := range journals {
		if left, err := privacy.Unfinished(journal, ledger.NewFile(path)); err == nil &&
			left.Running {
			running[left.Run] = true
		}
	}
	return running
}

// unfinished has one sentence for each reserved run without a close entry.
func unfinished(l *ledger.Ledger, running map[string]bool) []string {
	var out []string
	for _, r := range l.Runs() {
		if r.Status != ledger.StatusUnfinished {
			continue
		}
		run := fmt.Sprintf("run %s (%s, epsilon %s, %s)", r.Run, r.Method, short(r.Budget.Epsilon),
			stamp(r.Time))
		if running[r.Run] {
			out = append(out, run+" is still at work; its budget is spent already")
		} else {
			out = append(out, run+" stopped before its end, and its budget stays spent: the command that "+
				"began it "+
				"finishes it with --resume, at no further cost")
		}
	}
	return out
}
