package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// decoy runs a command line in this process.
func decoy(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// says runs a command line in this process. Its exit code must be want, and what it prints must
// have these texts in it.
func says(t *testing.T, want int, line string, texts ...string) string {
	t.Helper()
	code, out, text := decoy(strings.Fields(line)...)
	return said(t, want, line, code, out+text, texts)
}

// said checks what a command line has returned and printed.
func said(t *testing.T, want int, line string, code int, text string, texts []string) string {
	t.Helper()
	if code != want {
		t.Errorf("decoy %s: exit code %d, want %d\n%s", line, code, want, text)
	}
	for _, part := range texts {
		if !strings.Contains(text, part) {
			t.Errorf("decoy %s does not say %q:\n%s", line, part, text)
		}
	}
	return text
}

var check = stattest.Check

// fitted is a model of a public example, in a file.
func fitted(t *testing.T) (path string, m *release.Model) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "m.decoy")
	says(t, exitOK, "fit --quiet --dataset icu-readmission --epsilon 1 --model "+path)
	m = stattest.Must(release.Open(path))
	return path, m
}

// rewrite replaces a model file.
func rewrite(t *testing.T, path string, m *release.Model) {
	t.Helper()
	var b bytes.Buffer
	check(t, m.Write(&b))
	check(t, os.WriteFile(path, b.Bytes(), 0o600))
}

// TestForeignTextIsVisible: a model, a ledger and a batch file that somebody else wrote cannot move
// the cursor, forge a line or turn the direction of what is printed of them.
func TestForeignTextIsVisible(t *testing.T) {
	const hostile = "x\x1b[2J\r\nok\tforged\u009b1m\u202e\u2028"
	path, m := fitted(t)
	dir := filepath.Dir(path)

	reserve := ledger.Entry{Kind: ledger.EntryReserve, Run: hostile, Method: hostile,
		Unit: hostile, Tool: hostile, Label: hostile, Budget: &accountant.Budget{Epsilon: 1}}
	reserve.Adjacency = m.Claim.Adjacency
	open := ledger.Entry{Kind: ledger.EntryOpen, Adjacency: m.Claim.Adjacency, Unit: hostile}.
		Seal(ledger.Entry{})
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	limit := ledger.Entry{Kind: ledger.EntryLimit, Rule: hostile,
		Budget: reserve.Budget}.Seal(open)
	for _, e := range []ledger.Entry{open, limit, reserve.Seal(limit)} {
		check(t, enc.Encode(e))
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		check(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	hostileLedger := write("h.ledger", text.String())
	quoted, _ := json.Marshal(hostile)
	q := string(quoted)
	batch := write("jobs.yaml", "name: b\njobs:\n  - {name: a, dataset: icu-readmission, epsilon: "+
		"1, out: "+
		strings.Replace(q, `"`, `"a.csv/`, 1)[:len(q)+5]+`.csv"}`+"\n")
	badBatch := write("bad.yaml", "name: "+q+"\n")
	badKey := write("key.yaml", "name: b\n"+q+": 1\n")

	m.Tool, m.Method, m.SchemaSHA256, m.Claim.Unit = hostile, hostile, hostile, hostile
	m.Settings = map[string]any{hostile: hostile}
	rewrite(t, path, m)
	for _, args := range [][]string{
		{"inspect", path}, {"inspect", "--json", path}, {"verify", path},
		{"ledger", "show", hostileLedger},
		{"ledger", "show", "--json", hostileLedger},
		{"ledger", "verify", hostileLedger},
		{"batch", "--dry-run", batch}, {"batch", "--dry-run", badBatch}, {"batch", "--dry-run", badKey},
		{"sample", path, "--out", filepath.Join(dir, "out.csv")},
		{"sample", path + hostile, "--out", filepath.Join(dir, "out.csv")},
	} {
		_, stdout, stderr := decoy(args...)
		said := false
		for line := range strings.Lines(stdout + stderr) {
			said = true
			if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), obeyed); i >= 0 {
				t.Errorf("%q prints %q", args[:2], line[i:])
			}
			if strings.HasPrefix(line, "ok") {
				t.Errorf("%q prints a forged line %q", args[:2], line)
			}
		}
		if !said {
			t.Errorf("%q says nothing", args[:2])
		}
	}
}

// obeyed reports whether a terminal obeys the character.
func obeyed(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
