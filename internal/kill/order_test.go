//go:build faults && unix

package kill

import (
	"fmt"
	"strings"
	"testing"
)

// undone lists what a power cut could undo although something was built upon it: a process that is
// killed loses nothing that it wrote, so that this can only be seen in the order of the points.
// What a file was given must be synced before another file is changed, and so must the folder
// in which a file got its name. Charges in a ledger may be lost: the reservation covers them.
func undone(points []string) (out []string) {
	reserved, waits := false, "" // waits is the file that is not synced
	for i, p := range points {
		op, name, _ := strings.Cut(p, " ")
		ledger := strings.HasSuffix(name, ".ledger")
		switch {
		case op == "sync" && name == waits, op == "syncdir" && waits == "the folder":
			waits = ""
			reserved = reserved || ledger
			continue
		case op == "sync" || op == "syncdir" || op == "create" || op == "mkdir":
			continue
		case name == waits && !(ledger && !reserved): // a reservation is one write
			continue
		case waits != "":
			out = append(out, fmt.Sprintf("%s (point %d) while %s is not synced", p, i+1, waits))
		}
		waits = ""
		switch {
		case op == "rename":
			waits = "the folder"
		case op == "write" && !(ledger && reserved && lastWrite(points, name) > i):
			waits = name
		}
	}
	if waits != "" {
		out = append(out, waits+" is not synced at the end")
	}
	return out
}

// lastWrite is where a file is written last.
func lastWrite(points []string, name string) (at int) {
	for i, p := range points {
		if p == "write "+name {
			at = i
		}
	}
	return at
}

func TestUndone(t *testing.T) {
	for _, c := range []struct {
		name, points string
		want         int
	}{
		{"a file", "create .a.tmp; write .a.tmp; write .a.tmp; sync .a.tmp; rename a; syncdir .", 0},
		{"a name before the content", "create .a.tmp; write .a.tmp; rename a; syncdir .", 1},
		{"another sync", "write .a.tmp; write .b.tmp; sync .b.tmp; rename b; syncdir .", 1},
		{"a name that may be lost", "write .a.tmp; sync .a.tmp; rename a; " +
			"write l.ledger; sync l.ledger", 1},
		{"a name at the end", "write .a.tmp; sync .a.tmp; rename a", 1},
		{"a reservation", "write l.ledger; sync l.ledger; write l.ledger; write j; sync j; " +
			"write l.ledger; sync l.ledger; remove j", 0},
		{"a reservation that may be lost before a charge", "write l.ledger; syncdir .; " +
			"write l.ledger; sync l.ledger", 1},
		{"a reservation that may be lost", "write l.ledger; write j; sync j; " +
			"write l.ledger; sync l.ledger", 1},
		{"an end that may be lost", "write l.ledger; sync l.ledger; write l.ledger; remove j", 1},
	} {
		if got := undone(strings.Split(c.points, "; ")); len(got) != c.want {
			t.Errorf("%s: %q, want %d", c.name, got, c.want)
		}
	}
}
