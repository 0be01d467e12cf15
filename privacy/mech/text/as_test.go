package text

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestUnitsOfNoRows: a table without rows has no unit, and its units are counted like others'.
func TestUnitsOfNoRows(t *testing.T) {
	to := &schema.Schema{Unit: "id", MaxRowsPerUnit: 3, Lenient: true, Columns: []schema.Column{{
		Name: "c", Kind: schema.Integer, Min: 10, Max: 19, OnInvalid: schema.Clamp}}}
	empty := textTable(nil, []uint32{}, 3, nil)
	load := empty.load
	empty.load = func(ctx context.Context, begin func() error) (*table.Texts, error) {
		texts, err := load(ctx, begin)
		texts.Units = nil // as of a file without a row
		return texts, err
	}
	s := openText(t, empty, accountant.AddRemove,
		accountant.Composition{{Event: accountant.GDPFilter{Mu: 1e4}, Count: 1}})
	coded := stattest.Must(s.As(t.Context(), schema.One(to)))
	got, err := coded.Measure(privacy.ContributionHistogram{UpTo: []int{1, 49}}, 3*tiny)
	if err != nil || !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("units of no rows: %v, %v", got, err)
	}
}

// TestAs: one reservation pays for the questions about texts and, behind As, for those about codes.
// The rows are those that the texts had after units were bounded, and every cell is read as a
// lenient reader does. A run that was left goes on through it.
func TestAs(t *testing.T) {
	dir := t.TempDir()
	file := ledger.NewFile(filepath.Join(dir, "l"))
	cells := append(slices.Repeat([]string{"17"}, 50), "x", "", "99")
	units := append(make([]uint32, 50), 1, 2, 3)
	to := &schema.Schema{Unit: "id", MaxRowsPerUnit: 3, Lenient: true, Columns: []schema.Column{{
		Name: "c", Kind: schema.Integer, Min: 10, Max: 19, Missing: []string{""},
		OnInvalid: schema.Clamp}}}
	o := privacy.Options{
		Budget: wide, Plan: accountant.Composition{{Event: accountant.GDPFilter{Mu: 1e4}, Count: 1}},
		Ledger: file, Journal: filepath.Join(dir, "j"),
	}
	sigma := 3 * tiny
	for _, resume := range []bool{false, true} {
		o.Resume = resume
		s := stattest.Must(Open(context.Background(), textTable(cells, units, 3, nil), o))
		if kinds, err := s.Kinds(0, sigma); err != nil || kinds[schema.ClassNamed("whole")] != 4 {
			t.Fatalf("kinds %v: %v", kinds, err)
		}
		for name, change := range map[string]func(*schema.Schema){
			"strict":       func(to *schema.Schema) { to.Lenient = false },
			"another unit": func(to *schema.Schema) { to.Unit = "name" },
			"no unit":      func(to *schema.Schema) { to.Unit, to.MaxRowsPerUnit = "", 1 },
			"more rows":    func(to *schema.Schema) { to.MaxRowsPerUnit = 4 },
			"no column":    func(to *schema.Schema) { to.Columns[0].Name = "d" },
			"invalid":      func(to *schema.Schema) { to.Columns[0].Min = 1e9 },
		} {
			other := to.Clone()
			change(other)
			stattest.Wraps(t, stattest.Err(s.As(t.Context(), schema.One(other))), schema.ErrInvalid,
				"%s", name)
		}
		coded := stattest.Must(s.As(t.Context(), schema.One(to)))
		if counts, err := coded.Measure(privacy.Marginal{Cols: []int{0}}, sigma); err != nil ||
			counts[7] != 3 || counts[9] != 1 || counts[10] != 2 {
			t.Fatalf("counts %v: %v", counts, err)
		}
		sizes := privacy.ContributionHistogram{UpTo: []int{1, 49}}
		if counts, err := coded.Measure(sizes, sigma); err != nil || !slices.Equal(counts,
			[]int64{3, 0, 1}) {
			t.Fatalf("units of a row, of up to 49, of more: %v: %v", counts, err)
		}
		stattest.Fails(t, stattest.Err(s.Kinds(0, sigma)), "the texts are still there")
		stattest.Fails(t, stattest.Err(s.As(t.Context(), schema.One(to))), "it goes over twice")
		if got := len(s.Ledger().Entries); got != 5 {
			t.Errorf("%d entries, want an opening, a reservation and three charges", got)
		}
		if !resume {
			coded.Finish(errors.New("killed"), nil)
			continue
		}
		stattest.Check(t, s.Finish(nil, nil))
		stattest.Wraps(t, stattest.Err(coded.Measure(privacy.Total{}, sigma)), privacy.ErrClosed,
			"closed")
		if l := s.Ledger(); l.Verify(nil) != nil || l.Runs()[0].Status != ledger.StatusDone {
			t.Error("the ledger does not verify")
		}
	}
}

// TestAsRelated: a row of a table of texts has the codes that its file has by the same schema.
func TestAsRelated(t *testing.T) {
	to := stattest.Must(schema.Parse([]byte(`decoy: 1
lenient: true
columns:
  - {name: ended, kind: integer, after: begun, min: 0, max: 4, on_invalid: clamp, missing: [""]}
  - {name: begun, kind: date, min: 2020-01-01, max: 2020-01-10, bins: 10}
  - {name: days, kind: difference, of: [ended, begun], in: days}
  - {name: kind, kind: categorical, categories: [a, b]}
rules:
  - {when: {kind: b}, then: {ended: {from: 3}}}
`)))
	lines := []string{"2020-01-03,2020-01-02,7,a", "2020-01-01,2020-01-02,x,a", ",2020-01-02,,a",
		"2020-02-03,2020-01-02,,a", "2020-01-02,2020-01-02,0,b", "x,y,z,b"}
	var texts table.Texts
	texts.Columns = make([]table.TextColumn, 4)
	for row, line := range lines {
		for i, cell := range strings.Split(line, ",") {
			texts.Columns[i].Texts = append(texts.Columns[i].Texts, cell)
			texts.Columns[i].Cells = append(texts.Columns[i].Cells, uint32(row))
		}
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	stattest.Check(t, os.WriteFile(path,
		[]byte("ended,begun,days,kind\n"+strings.Join(lines, "\n")+"\n"), 0o600))
	want, _, err := table.Read(t.Context(), path, to, table.ReadOptions{})
	stattest.Check(t, err)
	tab := &Table{names: []string{"ended", "begun", "days", "kind"}, k: 1,
		load: func(_ context.Context, begin func() error) (*table.Texts, error) {
			return &texts, begin()
		}}
	s := openText(t, tab, accountant.AddRemove,
		accountant.Composition{{Event: accountant.GDPFilter{Mu: 1e4}, Count: 1}})
	coded := stattest.Must(s.As(t.Context(), schema.One(to)))
	for i := range to.Columns {
		sizes := to.Sizes()[i]
		exact := make([]int64, sizes)
		for code, n := range want.Counts(i) {
			exact[code] = n
		}
		if got := stattest.Must(coded.Measure(privacy.Marginal{Cols: []int{i}}, 3*tiny)); !slices.Equal(
			got, exact) {
			t.Errorf("column %d: %v, want %v", i, got, exact)
		}
	}
}
