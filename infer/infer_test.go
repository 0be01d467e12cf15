package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

var one = accountant.Budget{Epsilon: 1, Delta: 1e-9}

// TestPlan: the composition is within the budget under every relation, and uses nearly all of it.
func TestPlan(t *testing.T) {
	for _, nb := range []privacy.Neighbours{
		{Adjacency: accountant.AddRemove}, {Adjacency: accountant.ReplaceOne},
		{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 5},
	} {
		for _, columns := range []int{1, 15, 200} {
			plan, err := NewPlan(columns, nb, one)
			if err != nil {
				t.Fatal(err)
			}
			cost, err := pld.Epsilon(plan.Composition(), one.Delta, nb.Adjacency)
			if err != nil || cost.Epsilon > 1 || cost.Epsilon < .98 {
				t.Errorf("%v, %d columns: costs %v: %v", nb, columns, cost.Epsilon, err)
			}
		}
	}
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove}
	for name, b := range map[string]accountant.Budget{"epsilon 0": {Delta: 1e-9},
		"delta 0": {Epsilon: 1}, "delta 1/2": {Epsilon: 1, Delta: .5}} {
		if _, err := NewPlan(3, nb, b); !errors.Is(err, accountant.ErrBudgetRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewPlan(0, nb, one); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("no columns: %v", err)
	}
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
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var hospitalNames = []string{"patient", "age", "fee", "ward", "dead", "admitted", "seen", "note",
	"nothing"}

func run(
	t testing.TB, path string, o text.Options, b accountant.Budget,
) (*Result, *text.Session, error) {
	t.Helper()
	text, err := text.File(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), text, Options{Options: privacy.Options{Budget: b}, CSV: o.CSV})
}

// TestRun buys the schema of 20 000 rows at ε = 1: σ is some 20 rows of a magnitude and 40 of a
// class, every count that decides is at least 300 or 0, so the chance of another answer is that of
// a draw beyond 4.5σ among some 3000, below 1 in 40 for the bounds alone; they are therefore only
// asked to hold the data and to be at most twice as wide, which needs a draw of 12σ to fail.
func TestRun(t *testing.T) {
	r, s, err := run(t, hospital(t, 20000, true), text.Options{Names: hospitalNames,
		Unit: "patient", MaxRowsPerUnit: 2}, accountant.Budget{Epsilon: 4, Delta: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Rows-20000) > 600 {
		t.Errorf("%v rows", r.Rows)
	}
	got := r.Schema()
	if got.Unit != "patient" || got.MaxRowsPerUnit != 2 {
		t.Errorf("unit %q of %d rows", got.Unit, got.MaxRowsPerUnit)
	}
	column := func(name string) schema.Column {
		i := got.Index(name)
		if i < 0 {
			t.Fatalf("%s is left out", name)
		}
		return got.Columns[i]
	}
	age := column("age")
	if age.Kind != schema.Integer || age.Min > 20 || age.Max < 79 || age.Max > 130 ||
		!slices.Equal(age.Missing, []string{"NA"}) || age.OnInvalid != schema.Clamp {
		t.Errorf("age: %+v", age)
	}
	if fee := column("fee"); fee.Kind != schema.Real || fee.Max < 240 || fee.Max > 520 ||
		fee.Min > 5 || fee.Decimals != 2 {
		t.Errorf("fee: %+v", fee)
	}
	if ward := column("ward"); !slices.Equal(slices.Sorted(slices.Values(ward.Categories)),
		[]string{"icu", "medical", "surgical"}) ||
		len(ward.Missing) > 0 {
		t.Errorf("ward: %+v", ward)
	}
	if dead := column("dead"); dead.Kind != schema.Boolean {
		t.Errorf("dead: %+v", dead)
	}
	day := func(text string) float64 {
		c, err := schema.Parse([]byte("decoy: 1\ncolumns:\n  - {name: d, kind: date, min: " + text +
			", max: 2199-12-31}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return c.Columns[0].Min
	}
	if d := column("admitted"); d.Kind != schema.Date || d.Min > day("2001-01-01") ||
		d.Max < day("2005-12-31") || d.Min < day("1998-01-01") || d.Max > day("2008-12-31") {
		t.Errorf("admitted: %+v", d)
	}
	if ts := column("seen"); ts.Kind != schema.Timestamp {
		t.Errorf("seen: %+v", ts)
	}
	for _, name := range []string{"note", "nothing", "patient"} {
		if got.Index(name) >= 0 {
			t.Errorf("%s is in the schema", name)
		}
	}
	yaml, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("the file does not say %q", want)
		}
	}
	if strings.Contains(string(yaml), "only one patient") || strings.Contains(string(yaml),
		"unknown") {
		t.Error("the file has the cell of one row")
	}
	l := s.Ledger()
	if err := l.Verify(nil); err != nil {
		t.Error(err)
	}
	if runs := l.Runs(); len(runs) != 1 || runs[0].Method != method ||
		runs[0].Status != ledger.StatusDone {
		t.Errorf("runs %+v", runs)
	}
}

// TestRunWithoutHeader: columns go by position, so what cannot be described stays as a place.
func TestRunWithoutHeader(t *testing.T) {
	o := text.Options{Names: hospitalNames, CSV: schema.CSV{NoHeader: true, Comma: ','}}
	r, _, err := run(t, hospital(t, 20000, false), o, accountant.Budget{Epsilon: 4, Delta: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Schema()
	if !s.CSV.NoHeader || len(s.Columns) != len(hospitalNames) {
		t.Fatalf("%d columns of %d", len(s.Columns), len(hospitalNames))
	}
	if c := s.Columns[7]; !slices.Equal(c.Categories, []string{"(other)"}) {
		t.Errorf("the place of note: %+v", c)
	}
	yaml, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Parse(yaml); err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	path := hospital(t, 30, true)
	_, s, err := run(t, path, text.Options{Names: hospitalNames},
		accountant.Budget{Epsilon: .01, Delta: 1e-9})
	if !errors.Is(err, ErrNothing) || s == nil {
		t.Errorf("30 rows at ε = .01: %v", err)
	}
	text, err := text.File(path, text.Options{Names: hospitalNames})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, s, err = Run(ctx, text, Options{Options: privacy.Options{Budget: one},
		Progress: func(float64) { cancel() }})
	if !errors.Is(err, context.Canceled) || s.Ledger().Runs()[0].Status != ledger.StatusCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if _, s, err := Run(context.Background(), text, Options{}); !errors.Is(err,
		accountant.ErrBudgetRange) || s != nil {
		t.Errorf("no budget: %v", err)
	}
}

// classesOf is exact classes of 10 000 cells.
func classesOf(of map[schema.Class]float64) []float64 {
	out := make([]float64, schema.Classes)
	for c, n := range of {
		out[c] = n
	}
	return out
}

func TestVerdict(t *testing.T) {
	const empty, na = 0, 2
	for _, tt := range []struct {
		name     string
		classes  map[schema.Class]float64
		kind     schema.Kind
		missing  string
		decimals int
	}{
		{"whole", map[schema.Class]float64{schema.ClassWhole: 10000}, schema.Integer, "", 0},
		{"whole, few stray", map[schema.Class]float64{schema.ClassWhole: 9900, schema.ClassText: 100},
			schema.Integer, "", 0},
		{"a tenth are texts", map[schema.Class]float64{schema.ClassWhole: 9000, schema.ClassText: 1000},
			schema.Integer, "", 0},
		{"texts, few stray", map[schema.Class]float64{schema.ClassWhole: 100, schema.ClassText: 9900},
			schema.Categorical, "", 0},
		{"day first", map[schema.Class]float64{schema.ClassDaySlash: 6000,
			schema.ClassEitherSlash: 4000}, schema.Date, "", 0},
		{"month first", map[schema.Class]float64{schema.ClassMonthSlash: 6000,
			schema.ClassEitherSlash: 4000, schema.ClassDaySlash: 20}, schema.Date, "", 0},
		{"missing", map[schema.Class]float64{schema.ClassWhole: 3000, empty: 2000, na: 5000},
			schema.Integer, "NA|", 0},
		{"money", map[schema.Class]float64{schema.ClassWhole: 100, schema.ClassDecimals1: 900,
			schema.ClassDecimals1 + 1: 9000}, schema.Real, "", 2},
		{"one fraction in fifty", map[schema.Class]float64{schema.ClassWhole: 9800,
			schema.ClassDecimals1: 200}, schema.Real, "", 1},
		{"computed", map[schema.Class]float64{schema.ClassReal: 10000}, schema.Real, "", 0},
		{"booleans", map[schema.Class]float64{schema.ClassBoolean: 9999, schema.ClassText: 1},
			schema.Boolean, "", 0},
		{"dates", map[schema.Class]float64{schema.ClassDate: 10000}, schema.Date, "", 0},
		{"timestamps", map[schema.Class]float64{schema.ClassTimestamp: 10000}, schema.Timestamp, "", 0},
		{"dates and timestamps", map[schema.Class]float64{schema.ClassTimestamp: 5000,
			schema.ClassDate: 5000}, schema.Categorical, "", 0},
		{"empty", map[schema.Class]float64{empty: 10000}, 0, "", 0},
		{"nearly empty", map[schema.Class]float64{empty: 9900, schema.ClassWhole: 100},
			schema.Integer, "", 0},
		{"drowned", map[schema.Class]float64{empty: 9970, schema.ClassWhole: 30}, 0, "", 0},
	} {
		v := verdict(classesOf(tt.classes), 10000, 10, 10)
		if v.kind != tt.kind || v.kind != 0 && strings.Join(v.missing, "|") != tt.missing ||
			v.decimals != tt.decimals {
			t.Errorf("%s: %v, missing %q, %d decimals, want %v, %q, %d", tt.name, v.kind, v.missing,
				v.decimals, tt.kind, tt.missing, tt.decimals)
		}
	}
	for format, classes := range map[string]map[schema.Class]float64{
		"02/01/2006": {schema.ClassDaySlash: 6000, schema.ClassEitherSlash: 4000},
		"01/02/2006": {schema.ClassMonthSlash: 6000, schema.ClassEitherSlash: 4000},
		"2.1.2006":   {schema.ClassDayDot: 6000, schema.ClassDayDot + short: 4000},
		"1/2/2006":   {schema.ClassMonthSlash: 3000, schema.ClassEitherSlash + short: 7000},
		"2-1-2006":   {schema.ClassDayDash + short: 35},
	} {
		if v := verdict(classesOf(classes), 10000, 10, 10); v.kind != schema.Date || v.format != format {
			t.Errorf("%v: %v %q, want dates %q", classes, v.kind, v.format, format)
		}
	}
	for _, tt := range []struct {
		zoned, space, plain float64
		format              string
	}{{0, 10000, 0, "2006-01-02 15:04:05"}, {0, 0, 10000, "2006-01-02T15:04:05"},
		{100, 9900, 0, "2006-01-02 15:04:05"}, {0, 6000, 4000, "2006-01-02 15:04:05"},
		{5000, 5000, 0, ""}, {10000, 0, 0, ""}} {
		v := verdict(classesOf(map[schema.Class]float64{schema.ClassTimestamp: tt.zoned,
			schema.ClassSpaceTime: tt.space, schema.ClassPlainTime: tt.plain}), 10000, 10, 10)
		if v.kind != schema.Timestamp || v.format != tt.format {
			t.Errorf("%+v: %v %q", tt, v.kind, v.format)
		}
	}
	// a wide table has so many classes that the noise of one or another is 4.8 standard deviations
	for c := schema.ClassBoolean; c < schema.Classes; c++ {
		for main, want := range map[schema.Class]schema.Kind{schema.ClassWhole: schema.Integer,
			schema.ClassReal: schema.Real, schema.ClassDate: schema.Date} {
			if c == main {
				continue
			}
			v := verdict(classesOf(map[schema.Class]float64{main: 2000, c: 48}), 2048, 10, 10)
			if v.kind != want || !v.token(nil, 10, 10) {
				t.Errorf("noise in class %d: a column of class %d is %v", c, main, v.kind)
			}
		}
	}
	v := verdict(classesOf(map[schema.Class]float64{schema.ClassComma: 9000, schema.ClassWhole: 1000}),
		10000, 10, 10)
	if !strings.Contains(v.note, "decimal comma") {
		t.Errorf("commas: %v, %q", v.kind, v.note)
	}
}

func TestCategories(t *testing.T) {
	found := []text.Found{{Text: "", Rows: 900}, {Text: "(other)", Rows: 300},
		{Text: "a", Rows: 500}, {Text: "b", Rows: 400}}
	c, note := categories("x", found, judged{missing: []string{""}}, 2, 100, 10)
	if !slices.Equal(c.Categories, []string{"a", "b", "(other)"}) || c.Other != "(other)" ||
		!slices.Equal(c.Missing, []string{""}) || !strings.Contains(note, "1 least frequent") {
		t.Errorf("%+v, %s", c, note)
	}
	c, note = categories("x", found, judged{values: 1205}, 9, 100, .1)
	if slices.Contains(c.Categories, "((other))") || c.OnInvalid != schema.Refuse || note != "" {
		t.Errorf("nothing else stands out: %+v, %s", c, note)
	}
	c, _ = categories("x", found, judged{values: 1400}, 9, 100, 10)
	if c.Other != "((other))" || len(c.Missing) != 0 {
		t.Errorf("%+v", c)
	}
	if _, err := schema.NewCodec(*c); err != nil {
		t.Error(err)
	}
}
