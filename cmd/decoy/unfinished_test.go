package main

import (
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/accountant"
)

func TestUnfinished(t *testing.T) {
	when := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	reserve := func(run, host string, pid int) accountant.Entry {
		return accountant.Entry{Kind: accountant.EntryReserve, Run: run, Method: "mst", Time: when, Budget: &accountant.Budget{Epsilon: 1, Delta: 1e-9}, Host: host, PID: pid}
	}
	l := &accountant.Ledger{Entries: []accountant.Entry{
		{Kind: accountant.EntryOpen},
		reserve("aa", "here", 1), {Kind: accountant.EntryClose, Run: "aa", Status: accountant.StatusDone},
		reserve("bb", "here", 2), {Kind: accountant.EntryCharge, Run: "bb"},
		reserve("cc", "here", 3),
		reserve("dd", "there", 2),
		reserve("ee", "here", 2), {Kind: accountant.EntryClose, Run: "ee", Status: accountant.StatusVoid},
	}}
	got := unfinished(l, "here", func(pid int) bool { return pid == 2 })
	want := []string{
		"run bb (mst, epsilon 1, 2026-11-21) is still running as process 2; its budget is spent already",
		"run cc (mst, epsilon 1, 2026-11-21) did not finish: it was killed; its budget stays spent",
		"run dd (mst, epsilon 1, 2026-11-21) did not finish: it was killed or is still running on there; its budget stays spent",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
