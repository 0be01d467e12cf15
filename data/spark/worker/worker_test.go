package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

const yaml = `decoy: 1
%scolumns:
  - {name: a, kind: categorical, categories: ["x\ny", "\\", "\x01", z], missing: [""]}
  - {name: b, kind: integer, min: 0, max: 9}
`

// word is a plan for a schema with such a head.
func word(t *testing.T, head string, change func(*Plan)) string {
	t.Helper()
	p := Plan{Schema: fmt.Sprintf(yaml, head),
		Question: engine.AskSets([][]int{{0}, {1}, {0, 1}}, []int{5, 10}), Nonce: []byte("a nonce")}
	p.Columns = append(p.Columns, Column{"a", Text}, Column{"b", whole})
	if change != nil {
		change(&p)
	}
	w := stattest.Must(p.Encode())
	return w
}

// told is what a worker said.
func told(t *testing.T, out string) map[int]int64 {
	t.Helper()
	got := map[int]int64{}
	for line := range strings.Lines(out) {
		cell, n, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		k, err := strconv.Atoi(cell)
		x, errN := strconv.ParseInt(n, 10, 64)
		if _, twice := got[k]; !ok || err != nil || errN != nil || twice {
			t.Fatalf("the line %q", line)
		}
		got[k] = x
	}
	return got
}

func TestCounts(t *testing.T) {
	in := strings.Join([]string{`x\ny` + "\x011", `\\` + "\x012", `\1` + "\x012", "z\x013",
		"\x014", `\N` + "\x014", ""}, "\n")
	var out bytes.Buffer
	if err := count(strings.NewReader(word(t, "", nil)+"\n"+in), &out); err != nil {
		t.Fatal(err)
	}
	got := told(t, out.String())
	// a: 5 codes, b: 10; the cells of the pair follow those of both
	for cell, n := range map[int]int64{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 6: 1, 7: 2, 8: 1, 9: 2,
		15 + 1: 1, 15 + 12: 1, 15 + 22: 1, 15 + 33: 1, 15 + 44: 2, TaskRows: 6} {
		if got[cell] != n {
			t.Errorf("cell %d: %d, want %d", cell, got[cell], n)
		}
		delete(got, cell)
	}
	if len(got) > 0 {
		t.Errorf("it also told %v", got)
	}
}

// TestTells: what is wrong is told by a number alone.
func TestTells(t *testing.T) {
	other := stattest.Must(decode(word(t, "", nil)))
	other.Reads = "0"
	for name, word := range map[string]string{
		"no plan":           "nonsense",
		"a set too far":     word(t, "", func(p *Plan) { p.Question.Of = []byte("[[2]]") }),
		"a cell too few":    word(t, "", func(p *Plan) { p.Question.Length-- }),
		"other codes there": stattest.Must(other.word()),
	} {
		var out bytes.Buffer
		if err := count(strings.NewReader(word+"\n"), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := told(t, out.String()); got[BadPlan] != 1 || got[0] != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, in := range map[string]string{
		"a line without an end": "z\x011", "too few cells": "z\n", "too many": "z\x011\x011\n",
		"no number": "z\x01secret\n",
	} {
		var out bytes.Buffer
		err := count(strings.NewReader(word(t, "", nil)+"\n"+in), &out)
		if !errors.Is(err, errLine) || out.Len() > 0 {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

// TestFingerprint: a schema whose cells have other codes, other bins or other types has another.
func TestFingerprint(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(p *Plan){
		"as it is": nil,
		"another order": func(p *Plan) {
			p.Schema = strings.Replace(p.Schema, `"\x01", z`, `z, "\x01"`, 1)
		},
		"a word": func(p *Plan) { p.Schema = strings.Replace(p.Schema, "9", `9, missing: ["-1"]`, 1) },
		"a bin":  func(p *Plan) { p.Schema = strings.Replace(p.Schema, "9", "9, bins: 9", 1) },
		"a type": func(p *Plan) { p.Columns[1].Type = real },
		"texts":  func(p *Plan) { p.Question = engine.AskTexts(engine.Classes, []engine.Text{{}}) },
	} {
		reads := stattest.Must(decode(word(t, "lenient: true\n", change))).Reads
		if before, is := seen[reads]; is || len(reads) != 64 {
			t.Errorf("%s: that of %s", name, before)
		}
		seen[reads] = name
	}
	none := Plan{Schema: fmt.Sprintf(yaml, ""), Columns: []Column{{"a", Text}}}
	if _, err := none.Encode(); !errors.Is(err, schema.ErrSchema) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestRunIsSilent: a panic says nothing, and neither does an error.
func TestRunIsSilent(t *testing.T) {
	if os.Getenv("DECOY_TEST_WORKER") != "" {
		Run()
	}
	// that a line is no plan is told as a number, on standard output alone
	cmd := testProcess("TestRunIsSilent")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("zzcell\n"), &out, &errs
	if err := cmd.Run(); err != nil || out.String() != "-3\t1\n" || errs.Len() > 0 {
		t.Errorf("%v: %q, %q", err, out.String(), errs.String())
	}
}
