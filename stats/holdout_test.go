package stats

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
)

// dead is the share of rows that died, in some wards.
func dead(wards ...bool) table.Expr {
	return table.And{
		table.Condition{Column: 3, Allow: []bool{false, true}}, table.Condition{Column: 1, Allow: wards},
	}
}

// shareOf is the share of the rows for which an expression holds.
func shareOf(t *testing.T, tab *table.Table, x table.Expr) float64 {
	t.Helper()
	set := stattest.Must(table.CompileExprs(tab.Schema().Sizes(), []table.Expr{x}))
	return float64(tab.CountExprs(set)[0]) / float64(tab.Rows())
}

func options(b accountant.Budget, corrections int, tolerance float64) HoldoutOptions {
	return HoldoutOptions{privacy.Options{Budget: b}, corrections, tolerance}
}

// TestHoldoutPaysForWrongAnswersOnly asks a thousand questions to which the synthetic table knows
// the answer, and some to which it does not.
func TestHoldoutPaysForWrongAnswersOnly(t *testing.T) {
	private, honest := patients(t, 20000, 1, ""), patients(t, 5000, 2, "")
	h := stattest.Must(OpenHoldout(context.Background(), privacy.FromTable(private), honest,
		options(ten, 3, .05)))
	noise := options(ten, 3, .05).Noise(private.Schema())
	if n, sigma := h.Rows(); math.Abs(noise-math.Sqrt(40)*3/5) > 1e-9 || sigma > 10 ||
		math.Abs(n-20000) > 6*sigma {
		t.Errorf("noise of %v rows, %v ± %v rows", noise, n, sigma)
	}
	for range 1000 {
		a := stattest.Must(h.Ask(dead(true, true, false)))
		if a.Corrected || math.Abs(a.Share-shareOf(t, honest, dead(true, true, false))) > 1e-12 {
			t.Fatalf("a right answer became %+v", a)
		}
	}
	if h.Left() != 3 {
		t.Errorf("%d corrections left after right answers", h.Left())
	}
	l := stattest.Must(h.Close())
	stattest.Passes(t, l.Verify(pld.Epsilon), "")
	if charges := l.Runs()[0].Charged; len(charges) != 2 || charges[0].Count+charges[1].Count != 2 {
		t.Errorf("charged %+v, want one count and one round", charges)
	}

	// A synthetic table in which nobody dies.
	var living []int
	for i := range honest.Rows() {
		if honest.Column(3).At(i) == 0 {
			living = append(living, i)
		}
	}
	h = stattest.Must(
		OpenHoldout(context.Background(), privacy.FromTable(private), honest.Select(living),
			options(ten, 2, 0)))
	for range 2 {
		a, err := h.Ask(dead(true, true, true))
		want := shareOf(t, private, dead(true, true, true))
		if err != nil || !a.Corrected || math.Abs(a.Share-want) > 6*a.StdErr {
			t.Errorf("%+v, %v; the share is %v", a, err, want)
		}
	}
	if _, err := h.Ask(dead(true, true, true)); !errors.Is(err, ErrExhausted) ||
		!errors.Is(err, accountant.ErrBudget) {
		t.Errorf("a third correction: %v", err)
	}
}

func TestHoldoutRefuses(t *testing.T) {
	private, synthetic := patients(t, 100, 1, ""), patients(t, 100, 2, "")
	for name, o := range map[string]HoldoutOptions{
		"no corrections": options(ten, 0, 0),
		"tolerance":      options(ten, 1, 1),
		"tolerance NaN":  options(ten, 1, math.NaN()),
		"budget":         options(accountant.Budget{}, 1, 0),
	} {
		if _, err := OpenHoldout(context.Background(), privacy.FromTable(private), synthetic,
			o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	good := options(ten, 1, 0)
	stattest.Wraps(t, stattest.Err(OpenHoldout(context.Background(), privacy.FromTable(private),
		synthetic.Select(nil), good)), eval.ErrTables, "no synthetic rows")
	h := stattest.Must(OpenHoldout(context.Background(), privacy.FromTable(private), synthetic, good))
	stattest.Fails(t, stattest.Err(h.Ask(table.Condition{Column: 99})),
		"a question about no column is answered")
	h.Close()
	stattest.Wraps(t, stattest.Err(h.Ask(dead(true, true, true))), privacy.ErrClosed, "closed")
}
