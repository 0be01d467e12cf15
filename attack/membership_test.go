package attack

import (
	"context"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

// mstOf is the method that these tests attack.
func mstOf(t testing.TB) *synth.MST {
	t.Helper()
	f := must(synth.Checked(&synth.MST{}))
	return f
}

func randomTable(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	tab := must(RandomTable(s, n))
	return tab
}

// longSchema has one column of a thousand codes.
func longSchema() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{{Name: "a", Kind: schema.Integer, Min: 0,
		Max: 999, Bins: 1000}}}
}

// wideSchema has columns with many codes, so that random rows hardly ever agree.
func wideSchema(columns int) *schema.Schema {
	s := &schema.Schema{}
	for i := range columns {
		s.Columns = append(s.Columns,
			schema.Column{Name: string(rune('a' + i)), Kind: schema.Integer, Min: 0, Max: 49})
	}
	return s
}

// TestOneRun: at a budget that hides nothing most guesses are right; at a small one the bound stays
// below it. False alarms 1e-6.
func TestOneRun(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		for _, eps := range []float64{.5, 1000} {
			r := must(OneRun(context.Background(), mstOf(t), longSchema(), adj,
				accountant.Budget{Epsilon: eps, Delta: 1e-6},
				Options{Canaries: 400, Confidence: 1 - 1e-6}))
			if r.Refuted || r.Epsilon > r.Ceiling {
				t.Errorf("%v, ε = %v: %+v", adj, eps, r)
			}
			if g := r.Guessed; eps > 10 && g.Right < 34 {
				t.Errorf("%v: %d of %d right where nothing is hidden", adj, g.Right, g.Made)
			}
		}
	}
	for name, o := range map[string]Options{"canaries": {Canaries: 5}, "confidence": {Confidence: 2}} {
		if _, err := OneRun(context.Background(), mstOf(t), wideSchema(2), accountant.AddRemove,
			accountant.Budget{Epsilon: 1, Delta: 1e-6}, o); err == nil {
			t.Error(name)
		}
	}
}

// TestLTU: the attacker is nearly always right where nothing is hidden, and where the budget is
// small no more often than it allows. False alarms 1e-6.
func TestLTU(t *testing.T) {
	tab := randomTable(t, longSchema(), 60)
	for _, eps := range []float64{.2, 2000} {
		a := must(LTU(context.Background(), mstOf(t), tab,
			accountant.Budget{Epsilon: eps, Delta: 1e-6},
			Options{Runs: 60, Confidence: 1 - 1e-6}))
		if a.Refuted || a.Epsilon > eps {
			t.Errorf("ε = %v: %+v", eps, a)
		}
		if eps > 10 && a.Guessed.Share < .8 {
			t.Errorf("accuracy %v where nothing is hidden", a.Guessed.Share)
		}
	}
	if _, err := LTU(context.Background(), mstOf(t), randomTable(t, wideSchema(1), 2),
		accountant.Budget{Epsilon: 1, Delta: 1e-6}, Options{}); err == nil {
		t.Error("two rows")
	}
	if _, err := LTU(context.Background(), mstOf(t), tab,
		accountant.Budget{Epsilon: 1, Delta: 1e-6}, Options{Runs: 3}); err == nil {
		t.Error("three rounds")
	}
}

// TestGuessed: the interval of the definition, the exact bound, and the claim's limit.
func TestGuessed(t *testing.T) {
	of := func(right int, b accountant.Budget) Result {
		return guessed("", Guesses{100, 100, right}, b, .95)
	}
	r := of(60, accountant.Budget{Epsilon: math.Log(3), Delta: .0005})
	a, se, exact := r.Guessed, math.Sqrt(.24/100), of(60, accountant.Budget{Epsilon: 1})
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"accuracy", a.Share, .6}, {"privacy", a.Privacy, .8}, {"low", a.PrivacyLow, .8 - 4*se},
		{"high", a.PrivacyHigh, .8 + 4*se}, {"limit", a.Limit, .7505},
		// R: binom.test(60, 100, alternative = "greater") has .51304
		{"exact bound", 1 / (1 + math.Exp(-exact.Epsilon)), .51304},
	} {
		if math.Abs(tt.got-tt.want) > 1e-4 {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if r.Refuted || !(r.Epsilon < exact.Epsilon && exact.Epsilon < exact.Ceiling) {
		t.Errorf("%+v, %+v", r, exact)
	}
	if r := of(90, accountant.Budget{Epsilon: 1}); !r.Refuted || r.Epsilon <= 1 {
		t.Errorf("90 of 100 right at ε = 1: %+v", r)
	}
	if r := of(30, accountant.Budget{Epsilon: 1}); r.Guessed.Privacy != 1 || r.Epsilon != 0 {
		t.Errorf("30 of 100 right: %+v", r)
	}
}

// TestDistance: a copied training table is refuted, independent rows are not (false alarms 1e-6).
func TestDistance(t *testing.T) {
	s := wideSchema(4)
	train, holdout, other := randomTable(t, s, 300), randomTable(t, s, 300), randomTable(t, s, 300)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-12}
	for name, tt := range map[string]struct {
		synthetic *table.Table
		refuted   bool
	}{"a copy": {train, true}, "independent rows": {other, false}} {
		r := must(Distance(train, holdout, tt.synthetic, b, 1-1e-6))
		if r.Refuted != tt.refuted || tt.refuted && (r.AUROC < .95 || r.TPR < .9) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := Distance(train, holdout, other, b, 3); err == nil {
		t.Error("confidence 3")
	}
	if _, err := Distance(train, randomTable(t, wideSchema(2), 10), other, b, 0); err == nil {
		t.Error("tables of other columns")
	}
}

// TestDistanceOf: a method is not accused at its budget (false alarms 1e-6), and copies where next
// to nothing is hidden.
func TestDistanceOf(t *testing.T) {
	tab := randomTable(t, longSchema(), 200)
	for _, eps := range []float64{1, 20000} {
		r := must(DistanceOf(context.Background(), mstOf(t), tab,
			accountant.Budget{Epsilon: eps, Delta: 1e-12}, 1-1e-6))
		if r.Refuted || r.Guessed.Made != 100 || eps > 10 && r.AUROC < .75 {
			t.Errorf("ε = %v: %+v", eps, r)
		}
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	if _, err := DistanceOf(context.Background(), mstOf(t), randomTable(t, longSchema(), 1), b,
		0); err == nil {
		t.Error("one row")
	}
	if _, err := DistanceOf(context.Background(), mstOf(t), tab, accountant.Budget{},
		0); err == nil {
		t.Error("no budget")
	}
}

// TestShadow: the attack works where nothing is hidden, and accuses nobody where all is (false
// alarms 1e-6).
func TestShadow(t *testing.T) {
	s := wideSchema(1)
	var others [][]uint16
	for i := range 80 {
		others = append(others, []uint16{uint16(i % 49)})
	}
	reference := must(tableOf(s, 1, others))
	target := []uint16{49} // nobody else's
	for _, eps := range []float64{.1, 2000} {
		r := must(Shadow(context.Background(), mstOf(t), reference, target, accountant.AddRemove,
			accountant.Budget{Epsilon: eps, Delta: 1e-6},
			Options{Runs: 400, Confidence: 1 - 1e-6}))
		if r.Refuted {
			t.Errorf("ε = %v: %+v", eps, r)
		}
		if eps > 10 && r.AUROC < .6 { // .76 with standard deviation .023
			t.Errorf("AUROC %v where nothing is hidden", r.AUROC)
		}
	}
	for name, bad := range map[string]struct {
		target []uint16
		o      Options
	}{"target": {[]uint16{50}, Options{}}, "columns": {[]uint16{1, 1}, Options{}},
		"rows": {target, Options{Rows: 81}}} {
		if _, err := Shadow(context.Background(), mstOf(t), reference, bad.target,
			accountant.AddRemove, accountant.Budget{Epsilon: 1, Delta: 1e-6}, bad.o); err == nil {
			t.Error(name)
		}
	}
}

// TestRight: guesses are made where the scores are farthest from the median.
func TestRight(t *testing.T) {
	canaries := []canary{{in: true, score: 9}, {in: false, score: -7}, {in: true, score: .1},
		{in: true, score: 0}, {in: true, score: -.2}}
	for guesses, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3} {
		if got := right(canaries, guesses); got != want {
			t.Errorf("%d guesses: %d right, want %d", guesses, got, want)
		}
	}
}

// TestMargins: counts agree with the table's own.
func TestMargins(t *testing.T) {
	s := synthtest.Schema(3)
	tab := synthtest.Table(t, s, 100)
	m := newMargins(s.Sizes())
	m.addTable(tab)
	if len(m.sets) != 6 {
		t.Fatalf("%d sets", len(m.sets))
	}
	for k, cols := range m.sets {
		want := make([]int64, len(m.counts[k]))
		tab.CountTo(want, cols)
		for c, n := range want {
			if m.counts[k][c] != float64(n) {
				t.Errorf("columns %v, cell %d: %v, want %d", cols, c, m.counts[k][c], n)
			}
		}
	}
}
