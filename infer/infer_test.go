package infer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

var long = flag.Bool("long", false, "run the long form of some tests")

var check = stattest.Check

var one = accountant.Budget{Epsilon: 1, Delta: 1e-9}

// TestPlan: the composition is within the budget under every relation, and uses nearly all of it.
func TestPlan(t *testing.T) {
	for _, nb := range []privacy.Neighbours{
		{Adjacency: accountant.AddRemove}, {Adjacency: accountant.ReplaceOne},
		{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 5},
	} {
		for _, columns := range []int{1, 15, 200} {
			plan := stattest.Must(PlanInference(columns, nb, one))
			cost, err := pld.Epsilon(plan.Composition(), one.Delta, nb.Adjacency)
			if err != nil || cost.Epsilon > 1 || cost.Epsilon < .98 {
				t.Errorf("%v, %d columns: costs %v: %v", nb, columns, cost.Epsilon, err)
			}
		}
	}
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove}
	for name, b := range map[string]accountant.Budget{"epsilon 0": {Delta: 1e-9},
		"delta 0": {Epsilon: 1}, "delta 1/2": {Epsilon: 1, Delta: .5}} {
		stattest.Wraps(t, stattest.Err(PlanInference(3, nb, b)), accountant.ErrBudgetRange, "%s", name)
	}
	stattest.Wraps(t, stattest.Err(PlanInference(0, nb, one)), schema.ErrInvalid, "no columns")
}

// hospital writes n rows: one column of every kind, one that cannot be described, and stray cells.
func hospital(t testing.TB, n int, header bool) string {
	t.Helper()
	var b strings.Builder
	if header {
		b.WriteString("patient,age,fee,ward,dead,admitted,seen,note,nothing\n")
	}
	for i := range n {
		age, ward, dead := fmt.Sprint(20+i%60), []string{"medical", "surgical",
			"icu"}[i%3], []string{"true", "false"}[i%2]
		switch {
		case i%10 == 0:
			age = "NA"
		case i == 7:
			age = "unknown"
		}
		if i == 11 {
			ward = "only one patient"
		}
		fmt.Fprintf(&b, "%d,%s,%.2f,%s,%s,%d-03-%02d,%d-01-02 03:04:05,note %d,\n", i/2, age,
			float64(i%1000)/4, ward, dead, 2001+i%5, 1+i%28, 2010+i%3, i)
	}
	path := filepath.Join(t.TempDir(), "h.csv")
	check(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

var hospitalNames = []string{"patient", "age", "fee", "ward", "dead", "admitted", "seen", "note",
	"nothing"}

func inferCSV(
	t testing.TB, path string, o text.Options, b accountant.Budget,
) (*Inferred, *text.Session, error) {
	t.Helper()
	text := stattest.Must(text.File(path, o))
	return Infer(context.Background(), text, Inference{CSV: o.CSV},
		Run{Options: privacy.Options{Budget: b}})
}

// TestRun buys the schema of 20 000 rows at ε = 1: σ is some 20 rows of a magnitude and 40 of a
// class, every count that decides is at least 300 or 0, so the chance of another answer is that of
// a draw beyond 4.5σ among some 3000, below 1 in 40 for the bounds alone; they are therefore only
// asked to hold the data and to be at most twice as wide, which needs a draw of 12σ to fail.
//
// Whether a text stands out of the noise is decided at a rate of its own: of 3,000 runs 1 in 80
// said something else. Of twelve more than four do so with probability 3e-7.
func TestRun(t *testing.T) {
	var wrong []string
	for range 12 {
		if w := wrongOf(t); len(w) > 0 {
			wrong = append(wrong, strings.Join(w, "; "))
		}
	}
	if len(wrong) > 4 {
		t.Errorf("%d runs of 12: %q", len(wrong), wrong)
	}
}

// wrongOf buys a schema, and is what is wrong with it by chance.
func wrongOf(t *testing.T) (wrong []string) {
	says := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	r, s, err := inferCSV(t, hospital(t, 20000, true), text.Options{Names: hospitalNames,
		Unit: "patient", MaxRowsPerUnit: 2}, accountant.Budget{Epsilon: 4, Delta: 1e-9})
	check(t, err)
	if math.Abs(r.Rows-20000) > 600 {
		t.Errorf("%v rows", r.Rows)
	}
	got := r.Schema()
	if got.Unit != "patient" || got.MaxRowsPerUnit != 2 {
		t.Errorf("unit %q of %d rows", got.Unit, got.MaxRowsPerUnit)
	}
	column := func(name string) schema.Column {
		if i := got.Index(name); i >= 0 {
			return got.Columns[i]
		}
		return schema.Column{Name: name + ", which is left out"}
	}
	day := func(text string) float64 {
		at := stattest.Must(time.Parse(time.DateOnly, text))
		return float64(at.Unix() / 86_400)
	}
	for _, want := range []struct {
		name                       string
		kind                       schema.Kind
		wideMin, min, max, wideMax float64 // min of the column is from wideMin to min, and so on
		missing, categories        string
	}{
		{"age", schema.Integer, -10, 21, 79, 130, "NA", ""},
		{"fee", schema.Real, -10, 5, 240, 520, "", ""},
		{"ward", schema.Categorical, 0, 0, 0, 0, "", "icu medical surgical"},
		{"dead", schema.Boolean, 0, 0, 0, 0, "", "false true"},
		{"admitted", schema.Date, day("1970-01-01"), day("2001-03-01"), day("2005-03-24"),
			day("2040-12-31"), "", ""},
		{"seen", schema.Timestamp, -1e18, 1e18, -1e18, 1e18, "", ""},
	} {
		c := column(want.name)
		texts := slices.Sorted(slices.Values(c.Categories))
		if c.Kind != want.kind || c.Min < want.wideMin || c.Min > want.min || c.Max < want.max ||
			c.Max > want.wideMax || strings.Join(c.Missing, " ") != want.missing ||
			len(texts) > 0 && strings.Join(texts, " ") != want.categories {
			says("%s: %+v", want.name, c)
		}
	}
	if fee := column("fee"); fee.Decimals != 2 || fee.OnInvalid != schema.Clamp {
		says("fee: %+v", fee)
	}
	for _, name := range []string{"note", "nothing", "patient"} {
		if got.Index(name) >= 0 {
			says("%s is in the schema", name)
		}
	}
	yaml := stattest.Must(r.YAML())
	back, err := schema.Parse(yaml)
	if err != nil {
		t.Fatalf("%v\n%s", err, yaml)
	}
	if back.Fingerprint() != got.Fingerprint() {
		t.Error("the file is another schema")
	}
	for _, want := range []string{"# Bought with epsilon 4, delta 1e-09", `# "note"`,
		"left out: no text", "cells are missing", "rows or more are listed"} {
		if !strings.Contains(string(yaml), want) {
			says("the file does not say %q", want)
		}
	}
	if strings.Contains(string(yaml), "only one patient") || strings.Contains(string(yaml),
		"unknown") {
		t.Error("the file has the cell of one row")
	}
	l := s.Ledger()
	stattest.Passes(t, l.Verify(nil), "")
	if runs := l.Runs(); len(runs) != 1 || runs[0].Method != "schema infer" ||
		runs[0].Status != ledger.StatusDone {
		t.Errorf("runs %+v", runs)
	}
	return wrong
}

// TestRunWithoutHeader: columns go by position, so what cannot be described stays as a place.
func TestRunWithoutHeader(t *testing.T) {
	o := text.Options{Names: hospitalNames, CSV: schema.CSV{NoHeader: true, Comma: ','}}
	r, _, err := inferCSV(t, hospital(t, 20000, false), o, accountant.Budget{Epsilon: 4, Delta: 1e-9})
	check(t, err)
	s := r.Schema()
	if !s.CSV.NoHeader || len(s.Columns) != len(hospitalNames) {
		t.Fatalf("%d columns of %d", len(s.Columns), len(hospitalNames))
	}
	if c := s.Columns[7]; !slices.Equal(c.Categories, []string{"(other)"}) {
		t.Errorf("the place of note: %+v", c)
	}
	yaml := stattest.Must(r.YAML())
	stattest.Passes(t, stattest.Err(schema.Parse(yaml)), "")
}

func TestRunRefuses(t *testing.T) {
	path := hospital(t, 30, true)
	_, s, err := inferCSV(t, path, text.Options{Names: hospitalNames},
		accountant.Budget{Epsilon: .01, Delta: 1e-9})
	if !errors.Is(err, release.ErrNothing) || s == nil {
		t.Errorf("30 rows at ε = .01: %v", err)
	}
	text := stattest.Must(text.File(path, text.Options{Names: hospitalNames}))
	ctx, cancel := context.WithCancel(context.Background())
	_, s, err = Infer(ctx, text, Inference{}, Run{Options: privacy.Options{Budget: one},
		Progress: func(string, float64) { cancel() }})
	if !errors.Is(err, context.Canceled) || s.Ledger().Runs()[0].Status != ledger.StatusCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if _, s, err := Infer(context.Background(), text, Inference{}, Run{}); !errors.Is(err,
		accountant.ErrBudgetRange) || s != nil {
		t.Errorf("no budget: %v", err)
	}
}

// classNames are the classes of the tests.
var classNames = map[string]string{
	"empty": "", "na": "NA", "whole": "whole", "tenths": "0.1", "cents": "0.12",
	"real": "real", "text": "text", "boolean": "boolean", "date": "2006-01-02", "zoned": "zoned",
	"space": "2006-01-02 15:04:05", "plain": "2006-01-02T15:04:05", "day/": "date 02/01/2006",
	"month/": "date 01/02/2006", "either/": "date 02/01/2006 or 01/02/2006",
	"e/": "date 2/1/2006 or 1/2/2006", "day.": "date 02.01.2006",
	"d.": "date 2.1.2006", "d-": "date 2-1-2006", "comma": "number 1234,5 1",
	"$": "number $1234.5 whole", "$0": "number $1234.5 0", "$2": "number $1234.5 2",
}

// classesOf is exact classes, from words such as "text 100".
func classesOf(text string) []float64 {
	out := make([]float64, schema.Classes())
	for words := range slices.Chunk(strings.Fields(text), 2) {
		out[schema.ClassNamed(classNames[words[0]])], _ = strconv.ParseFloat(words[1], 64)
	}
	return out
}

func TestVerdict(t *testing.T) {
	text := stattest.Must(os.ReadFile("testdata/verdicts.yaml"))
	var cases map[string]string
	check(t, yaml.Unmarshal(text, &cases))
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for classes, want := range cases {
		v := judge("x", classesOf(classes), 10000, 10, 10, tokenSigmas)
		missing := strings.Join(v.missing, "|")
		if v.kind == 0 {
			missing = ""
		}
		if got := fmt.Sprintf("%v %s %d %s", v.kind, missing, v.decimals, v.format); got != want {
			t.Errorf("%s: %s, want %s", classes, got, want)
		}
	}
	// a wide table has so many classes that the noise of one or another is 4.8 standard deviations:
	// of each class with -long, else of every ninth
	step := schema.Class(9)
	if *long {
		step = 1
	}
	for c := schema.ClassNamed("boolean"); int(c) < schema.Classes(); c += step {
		for name, want := range map[string]schema.Kind{"whole": schema.Integer, "real": schema.Real,
			"2006-01-02": schema.Date} {
			main := schema.ClassNamed(name)
			if c == main {
				continue
			}
			classes := make([]float64, schema.Classes())
			classes[main], classes[c] = 2000, 48
			v := judge("x", classes, 2048, 10, 10, tokenSigmas)
			if v.kind != want || !v.keepKind(nil, 10, 10) {
				t.Errorf("noise in class %d: a column of class %d is %v", c, main, v.kind)
			}
		}
	}
	v := judge("x", classesOf("comma 9000 whole 1000"), 10000, 10, 10, tokenSigmas)
	if v.kind != schema.Real || v.format != "1234,5" || v.decimals != 1 {
		t.Errorf("commas: %v, %q, %d", v.kind, v.format, v.decimals)
	}
}

func TestCategories(t *testing.T) {
	found := []text.Found{{Text: "", Rows: 900}, {Text: "(other)", Rows: 300},
		{Text: "a", Rows: 500}, {Text: "b", Rows: 400}}
	many := slices.Clone(found[:1])
	for i := range mostCategories + 1 {
		many = append(many, text.Found{Text: fmt.Sprint(i), Rows: int64(300 + i)})
	}
	v := &verdict{missing: []string{""}}
	c := categories("x", many, v, 100, 10)
	if len(c.Categories) != mostCategories+1 || slices.Contains(c.Categories, "0") ||
		c.Other != "(other)" || !slices.Equal(c.Missing, []string{""}) ||
		!strings.Contains(v.note, "1 least frequent") {
		t.Errorf("%+v, %s", c, v.note)
	}
	v = &verdict{values: 1205}
	c = categories("x", found, v, 100, .1)
	if slices.Contains(c.Categories, "((other))") || c.OnInvalid != schema.Refuse || v.note != "" {
		t.Errorf("nothing else stands out: %+v, %s", c, v.note)
	}
	found[1].Rows, found[3].Rows = 150, 150 // nearly not found: that others were not is no count
	if c := categories("x", found, &verdict{values: 805}, 100, 10); c.Other != "" {
		t.Errorf("a tail: %+v", c)
	}
	c = categories("x", found, &verdict{values: 1400}, 100, 10)
	if c.Other != "((other))" || len(c.Missing) != 0 {
		t.Errorf("%+v", c)
	}
	stattest.Passes(t, stattest.Err(schema.NewCodec(*c)), "")
}

// TestAskedOnce: a column that turns out to be another in the question for its numbers is not asked
// for its texts again, which its budget would not pay for. These have as many empty cells and
// numbers as the limits: of 240 purchases some have such a column but for a chance of 1e-6. About
// one in eleven buys something: that none does has a chance of 1e-9.
func TestAskedOnce(t *testing.T) {
	names := strings.Split("a,b,c,d,e,f", ",")
	var b strings.Builder
	for i := range 1200 {
		cell := fmt.Sprint(math.Round(math.Pow(2, float64(i%24))))
		if i%2 == 0 {
			cell = ""
		}
		b.WriteString(strings.Repeat(cell+",", len(names)-1) + cell + "\n")
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	check(t, os.WriteFile(path, []byte(strings.Join(names, ",")+"\n"+b.String()), 0o600))
	bought := 0
	for range 240 {
		b := accountant.Budget{Epsilon: .28, Delta: 1e-9}
		_, _, err := inferCSV(t, path, text.Options{Names: names}, b)
		if err == nil {
			bought++
		} else if errors.Is(err, accountant.ErrBudget) {
			t.Fatal(err)
		}
	}
	if bought == 0 {
		t.Error("no purchase of 240")
	}
}
