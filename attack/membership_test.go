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

// fewCodes is a table of one column in which nobody has the last code.
func fewCodes() *table.Table {
	var rows [][]uint16
	for i := range 80 {
		rows = append(rows, []uint16{uint16(i % 49)})
	}
	return must(tableOf(wideSchema(1), 1, rows))
}

// TestMembership: each attack tells who was in where nothing is hidden, and accuses nobody at the
// budgets of the method, the small one and the large one. False alarms 1e-6.
func TestMembership(t *testing.T) {
	ctx, f, few := context.Background(), mstOf(t), fewCodes()
	sixty, more := randomTable(t, longSchema(), 60), randomTable(t, longSchema(), 200)
	oneRun := func(adj accountant.Adjacency) func(accountant.Budget, Options) (Result, error) {
		return func(b accountant.Budget, o Options) (Result, error) {
			o.Canaries = 400
			return OneRun(ctx, f, longSchema(), adj, b, o)
		}
	}
	most34 := func(r Result) bool { return r.Guessed.Right >= 34 && r.Guessed.Made == 40 }
	for name, tt := range map[string]struct {
		run          func(b accountant.Budget, o Options) (Result, error)
		small, large float64
		told         func(Result) bool // at the large one
	}{
		"one run":              {oneRun(accountant.AddRemove), .5, 1000, most34},
		"one run, replace-one": {oneRun(accountant.ReplaceOne), .5, 1000, most34},
		"leave two": {func(b accountant.Budget, o Options) (Result, error) {
			o.Runs = 60
			return LTU(ctx, f, sixty, b, o)
		}, .2, 2000, func(r Result) bool { return r.Guessed.Share >= .8 }},
		"distance": {func(b accountant.Budget, o Options) (Result, error) {
			b.Delta = 1e-12
			return DistanceOf(ctx, f, more, b, o.Confidence)
		}, 1, 20000, func(r Result) bool { return r.Guessed.Made == 100 && r.AUROC >= .75 }},
		"shadow": {func(b accountant.Budget, o Options) (Result, error) {
			o.Runs = 400
			return Shadow(ctx, f, few, []uint16{49}, accountant.AddRemove, b, o)
		}, .1, 2000, func(r Result) bool { return r.AUROC >= .6 }}, // .76 with deviation .023
	} {
		for _, eps := range []float64{tt.small, tt.large} {
			r, err := tt.run(accountant.Budget{Epsilon: eps, Delta: 1e-6}, Options{Confidence: 1 - 1e-6})
			if err != nil || r.Refuted || r.Epsilon > min(eps, r.Ceiling) ||
				eps == tt.large && !tt.told(r) {
				t.Errorf("%s, ε = %v: %+v, %+v, %v", name, eps, r, r.Guessed, err)
			}
		}
	}
}

// TestMembershipRefuses: options, tables and targets that an attack cannot have.
func TestMembershipRefuses(t *testing.T) {
	ctx, f, b := context.Background(), mstOf(t), accountant.Budget{Epsilon: 1, Delta: 1e-6}
	oneRun := func(o Options) error {
		_, err := OneRun(ctx, f, wideSchema(2), accountant.AddRemove, b, o)
		return err
	}
	ltu := func(rows int, o Options) error {
		_, err := LTU(ctx, f, randomTable(t, wideSchema(1), rows), b, o)
		return err
	}
	distance := func(rows int, b accountant.Budget) error {
		_, err := DistanceOf(ctx, f, randomTable(t, longSchema(), rows), b, 0)
		return err
	}
	shadow := func(o Options, target ...uint16) error {
		_, err := Shadow(ctx, f, fewCodes(), target, accountant.AddRemove, b, o)
		return err
	}
	for name, err := range map[string]error{"canaries": oneRun(Options{Canaries: 5}),
		"confidence": oneRun(Options{Confidence: 2}), "two rows": ltu(2, Options{}),
		"three rounds": ltu(60, Options{Runs: 3}), "one row": distance(1, b),
		"no budget": distance(200, accountant.Budget{}), "target": shadow(Options{}, 50),
		"columns": shadow(Options{}, 1, 1), "rows": shadow(Options{Rows: 81}, 49)} {
		if err == nil {
			t.Error(name)
		}
	}
}

// TestGuessed: the interval of the definition, the exact bound, and the claim's limit.
func TestGuessed(t *testing.T) {
	of := func(right int, b accountant.Budget) Result {
		return guessed("", guesses{100, 100, right}, b, .95)
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
		r := must(distance(train, holdout, tt.synthetic, b, 1-1e-6))
		if r.Refuted != tt.refuted || tt.refuted && (r.AUROC < .95 || r.TPR < .9) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := distance(train, holdout, other, b, 3); err == nil {
		t.Error("confidence 3")
	}
	if _, err := distance(train, randomTable(t, wideSchema(2), 10), other, b, 0); err == nil {
		t.Error("tables of other columns")
	}
}

// TestRight: guesses are made where the scores are farthest from the median.
func TestRight(t *testing.T) {
	canaries := []canary{{in: true, score: 9}, {in: false, score: -7}, {in: true, score: .1},
		{in: true, score: 0}, {in: true, score: -.2}}
	for made, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3} {
		if got := right(canaries, made); got != want {
			t.Errorf("%d guesses: %d right, want %d", made, got, want)
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
