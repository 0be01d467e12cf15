package text

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
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
	coded := stattest.Must(s.As(to))
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
		if kinds, err := s.Kinds(0, sigma); err != nil || kinds[schema.ClassWhole] != 4 {
			t.Fatalf("kinds %v: %v", kinds, err)
		}
		for name, change := range map[string]func(*schema.Schema){
			"strict":       func(to *schema.Schema) { to.Lenient = false },
			"another unit": func(to *schema.Schema) { to.Unit = "name" },
			"no unit":      func(to *schema.Schema) { to.Unit, to.MaxRowsPerUnit = "", 1 },
			"more rows":    func(to *schema.Schema) { to.MaxRowsPerUnit = 4 },
			"no column":    func(to *schema.Schema) { to.Columns[0].Name = "d" },
			"relations": func(to *schema.Schema) {
				to.Made = []schema.Made{{Name: "p", Kind: 1, Pattern: "P##"}}
			},
			"invalid": func(to *schema.Schema) { to.Columns[0].Min = 1e9 },
		} {
			other := to.Clone()
			change(other)
			stattest.Wraps(t, stattest.Err(s.As(other)), schema.ErrInvalid, "%s", name)
		}
		coded := stattest.Must(s.As(to))
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
		stattest.Fails(t, stattest.Err(s.As(to)), "it goes over twice")
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
