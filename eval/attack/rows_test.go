package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// mstOf is the method that these tests attack.
func mstOf(t testing.TB) *synth.MST {
	t.Helper()
	f := stattest.Must(synth.Checked(&synth.MST{}))
	return f
}

func randomTable(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	tab := stattest.Must(RandomTable(s, n, uint64(n)))
	return tab
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

// subject is one whose signal is a function of a row and of how many copies a fit has seen.
func subject(of func(seen float64, row []uint16, u *rand.Rand) float64) Subject {
	return Subject{Name: "toy", Budget: unclaimed,
		Fit: func(_ context.Context, t *table.Table, u *rand.Rand) (Signal, error) {
			seen := map[string]float64{}
			for r := range t.Rows() {
				seen[fmt.Sprint(rowOf(t, r))]++
			}
			return func(t *table.Table) ([]float64, error) {
				out := make([]float64, t.Rows())
				for r := range out {
					row := rowOf(t, r)
					out[r] = of(seen[fmt.Sprint(row)], row, u)
				}
				return out, nil
			}, nil
		}}
}

func remembers(seen float64, _ []uint16, u *rand.Rand) float64 { return seen + .1*u.NormFloat64() }

func forgets(_ float64, _ []uint16, u *rand.Rand) float64 { return u.NormFloat64() }

// labelled has 300 random rows and a label that nothing predicts.
func labelled(t *testing.T) *table.Table {
	s := wideSchema(4)
	s.Columns = append(s.Columns, schema.Column{Name: "y", Kind: schema.Boolean})
	return randomTable(t, s, 300)
}

// TestRowsKnownAnswers: models that learn rows by heart are caught on 300 rows, and so is a claim
// of ε = 1 for one; a method at ε = 1 is not: the interval of what is found covers what ε = 1
// allows, and nothing is refuted. False alarms 1e-6.
func TestRowsKnownAnswers(t *testing.T) {
	rows, one := labelled(t), accountant.Budget{Epsilon: 1, Delta: 1e-12}
	plain := func(name string) Subject {
		return PlainSubject(name, eval.Task{Label: "y", Positive: 1})
	}
	liar := plain(Bootstrap)
	liar.Budget = one
	mst := stattest.Must(Synthetic(mstOf(t), rows.Schema(), accountant.AddRemove, one))
	pairs := stattest.Must(Synthetic(mstOf(t), rows.Schema(), accountant.ReplaceOne, one))
	subjects := map[string]struct {
		s       Subject
		caught  bool
		refuted bool
	}{overfitted: {plain(overfitted), true, false}, Bootstrap: {liar, true, true},
		"mst": {mst, false, false}, "mst, replace-one": {pairs, false, false}}
	if !*long {
		delete(subjects, "mst, replace-one")
	}
	for name, tt := range subjects {
		all, err := Rows(context.Background(), tt.s, rows, Options{Confidence: 1 - 1e-6, Seed: 5})
		if err != nil || len(all) != 5 || all[0].Refuted != tt.refuted {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		for _, r := range all[:3] {
			at := r.Found[1]
			if at.At != .01 || !tt.caught && (r.Refuted || at.True.Low > at.Limit) {
				t.Errorf("%s: %s: %+v", name, r.Attack, r)
			}
		}
		if got := all[0].Found[1].True.Share; tt.caught != (got >= .3) {
			t.Errorf("%s: finds %v at 1 %% false positives", name, got)
		}
		if r := all[3]; r.Guessed.Made < 1000 || tt.caught && r.Guessed.Share < .6 {
			t.Errorf("%s: %s: %+v", name, r.Attack, r.Guessed)
		}
	}
}

// TestLikelihoodRatio: scores, curves and intervals against NumPy and SciPy (norm.logpdf,
// mannwhitneyu, beta.ppf), with deviations of each row and with pooled ones.
func TestLikelihoodRatio(t *testing.T) {
	type counted struct {
		auroc   float64
		falsely int
		truly   int
		low     float64
		high    float64
	}
	for _, tt := range []struct {
		fits, shadows int
		ratios        [3]float64
		out           int
		attackers     [3]counted // at 1 %
		right, made   int
	}{
		{84, 64, [3]float64{1.0270808039108381, -.6349154200402891, -.0401162834681168}, 600,
			[3]counted{{.615961111111, 6, 33, .038158250129553796, .07637647651754581},
				{.633647222222, 6, 19, .01917090026733212, .049010998614013694},
				{.634091666667, 6, 19, .01917090026733212, .049010998614013694}}, 186, 312},
		{28, 20, [3]float64{-.19253559394525288, -.2696264789987346, .07034226065836213}, 240,
			[3]counted{{.563854166667, 2, 2, .0010108034032671543, .029776977411869524},
				{.612170138889, 2, 6, .009228601454783299, .05361747542837168},
				{.615399305556, 2, 8, .014498755997796063, .0646209923111621}}, 71, 132},
	} {
		const n = 60
		g := &game{Subject: Subject{Budget: unclaimed}, rows: n, shadows: tt.shadows,
			all: randomTable(t, wideSchema(1), n)}
		for k := range tt.fits {
			f, in := fit{inverted: make([][2]int, 1)}, make([]bool, n)
			for c := range n {
				in[c] = (k*7+c*3+(k*c)%5)%2 == 0
				x := 3*math.Sin(float64(k)*7.1+float64(c)*3.3) + 1.5*float64(side(in[c])) +
					float64(c)/10*math.Cos(float64(k))
				f.signals = append(f.signals, x)
			}
			g.fits, g.in = append(g.fits, f), append(g.in, in)
		}
		all := stattest.Must(g.results(.95))
		for i, at := range [][2]int{{0, 0}, {3, 17}, {tt.fits - tt.shadows - 1, n - 1}} {
			got := g.ratio(at[1], g.fits[tt.shadows+at[0]].signals[at[1]])
			if math.Abs(got-tt.ratios[i]) > 1e-9 {
				t.Errorf("%d fits: ratio %v, want %v", tt.fits, got, tt.ratios[i])
			}
		}
		for i, want := range tt.attackers {
			r, at := all[i], all[i].Found[1]
			if math.Abs(r.AUROC-want.auroc) > 1e-9 || at.False.Of != tt.out ||
				at.False.Count != want.falsely || at.True.Count != want.truly ||
				at.True.BestOf(3, .95) != rateOf(want.truly, at.True.Of, 1-.05/3) ||
				math.Abs(at.True.Low-want.low) > 1e-9 || math.Abs(at.True.High-want.high) > 1e-9 {
				t.Errorf("%d fits, %s: AUROC %v, %+v, want %+v", tt.fits, r.Attack, r.AUROC, at, want)
			}
		}
		if two := all[3].Guessed; two.Right != tt.right || two.Made != tt.made {
			t.Errorf("%d fits: %d of %d, want %d of %d", tt.fits, two.Right, two.Made, tt.right, tt.made)
		}
	}
}

// TestCoins: a row is in half of the shadows; under replace-one one of each two rows is in.
func TestCoins(t *testing.T) {
	for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
		g := stattest.Must(newGame(Subject{Adjacency: adj}, randomTable(t, wideSchema(2), 61),
			Options{Runs: 20, Canaries: 3}))
		if g.rows != 60 || g.shadows != 14 || len(g.in[0]) != 64 || g.all.Rows() != 64+strangers {
			t.Fatalf("%d rows, %d shadows, %d candidates", g.rows, g.shadows, len(g.in[0]))
		}
		ins := 0
		for c := range 64 {
			half := 0
			for k, in := range g.in {
				if k < g.shadows {
					half += side(in[c])
				} else {
					ins += side(in[c])
				}
				if adj == accountant.ReplaceOne && in[c] == in[c^1] {
					t.Fatalf("fit %d: both or none of rows %d and %d", k, c, c^1)
				}
			}
			if half != 7 {
				t.Errorf("row %d is in %d of 14 shadows", c, half)
			}
		}
		if p, _, ok := stattest.Binomial(int64(ins), 64*6, .5); !ok { // false alarms 1e-6
			t.Errorf("%d of %d coins, %v", ins, 64*6, p)
		}
	}
}

// TestRowsSeeded: a seed decides all.
func TestRowsSeeded(t *testing.T) {
	rows := randomTable(t, wideSchema(2), 60)
	run := func(seed uint64) []Result {
		fits := 0
		return stattest.Must(
			Rows(context.Background(), subject(remembers), rows, Options{Seed: seed, Runs: 20,
				Canaries: 4, workers: 1, Progress: func(done, all int) {
					if fits++; all != 20 || done != fits {
						t.Errorf("%d of %d fits", done, all)
					}
				}}))
	}
	whole := run(3)
	if !reflect.DeepEqual(whole, run(3)) || reflect.DeepEqual(whole, run(4)) {
		t.Error("the seed does not decide all")
	}
}

// TestPlantedAndInverted: of who remembers all, planted rows have the most exposure and columns are
// guessed of rows in alone; of who forgets all, mean exposure is 1.44 and a coin guesses as well.
// Deviations of the means: .07 and .012; false alarms 1e-6.
func TestPlantedAndInverted(t *testing.T) {
	s := &schema.Schema{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Integer, Max: 3})
	}
	run := func(of func(float64, []uint16, *rand.Rand) float64) (planted, inverted) {
		all := stattest.Must(Rows(context.Background(), subject(of), randomTable(t, s, 200),
			Options{Runs: 40, Canaries: 40, Seed: 2}))
		return *all[4].Planted, all[5].Inverted[0]
	}
	knows := func(seen float64, _ []uint16, _ *rand.Rand) float64 { return seen }
	if p, i := run(knows); p.Rows != 40 || p.In.Mean != 10 || p.Out.Mean != 0 || i.In.Share != 1 ||
		i.Out.Share > .5 || i.Column != "a" {
		t.Errorf("who remembers: %+v, %+v", p, i)
	}
	if p, i := run(forgets); math.Abs(p.In.Mean-1.44) > .5 || math.Abs(p.Out.Mean-1.44) > .5 ||
		math.Abs(i.In.Share-.25) > .07 || math.Abs(i.Out.Share-.25) > .07 {
		t.Errorf("who forgets: %+v, %+v", p, i)
	}
}

// TestRowsRefuses: tables, options and subjects that an attack cannot have.
func TestRowsRefuses(t *testing.T) {
	broken := errors.New("broken")
	fails, rows := subject(remembers), randomTable(t, wideSchema(1), 60)
	fails.Fit = func(context.Context, *table.Table, *rand.Rand) (Signal, error) { return nil, broken }
	nan := subject(func(float64, []uint16, *rand.Rand) float64 { return math.NaN() })
	units := wideSchema(1)
	units.Unit, units.MaxRowsPerUnit = "id", 1
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		s    Subject
		rows *table.Table
		o    Options
	}{"few rows": {rows: randomTable(t, wideSchema(1), 39)},
		"units": {rows: randomTable(t, units, 60)},
		"runs":  {o: Options{Runs: 3}}, "canaries": {o: Options{Canaries: -1}},
		"confidence": {o: Options{Confidence: 2}}, "fit": {s: fails}, "not a number": {s: nan},
		"cancelled": {ctx: ended}} {
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		if tt.s.Fit == nil {
			tt.s = subject(remembers)
		}
		if _, err := Rows(tt.ctx, tt.s, cmp.Or(tt.rows, rows), tt.o); err == nil {
			t.Error(name)
		}
	}
	bins := wideSchema(1)
	bins.Columns[0].BuyBins = 4
	if attackable(stattest.Must(RandomTable(bins, 50, 1)), 40) == nil {
		t.Error("codes that a run changes")
	}
}

// TestPlainSubjects: each tells rows that it was fitted to from others, soft labels the least.
func TestPlainSubjects(t *testing.T) {
	rows, aurocs := labelled(t), map[string]float64{}
	for _, name := range []string{Plain[0], Plain[1], softLabels} {
		s := PlainSubject(name, eval.Task{Label: "y", Positive: 1})
		all, err := Rows(context.Background(), s, rows, Options{Runs: 24, Seed: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		aurocs[name] = all[0].AUROC
		if all[0].AUROC < .55 || !s.Conditional {
			t.Errorf("%s: AUROC %v", name, all[0].AUROC)
		}
	}
	one := PlainSubject(softLabels, eval.Task{Label: "y", Positive: 1})
	code := rows.Column(4)
	var no []int
	for r := range rows.Rows() {
		if code.At(r) == 0 {
			no = append(no, r)
		}
	}
	model := stattest.Must(one.Fit(context.Background(), rows.Select(no), rand.New(rand.NewPCG(1, 1))))
	for i, x := range stattest.Must(model(rows)) { // of one class, the other is rare
		if want := math.Log(float64(2*len(no) + 1)); (code.At(i) == 1) != (x < 0) ||
			math.Abs(math.Abs(x)-want) > 1e-9 {
			t.Fatalf("row %d of class %d: %v, want %v", i, code.At(i), x, want)
		}
	}
	if aurocs[softLabels] > aurocs[Plain[1]]-.1 {
		t.Errorf("soft labels hide nothing: %v", aurocs)
	}
}

// TestGuessed: the accuracy, the exact bound, and the claim's limit.
func TestGuessed(t *testing.T) {
	of := func(right int, b accountant.Budget) Result {
		return guessed("", guesses{100, 100, right}, b, .95)
	}
	r := of(60, accountant.Budget{Epsilon: math.Log(3), Delta: .0005})
	a, exact := r.Guessed, of(60, accountant.Budget{Epsilon: 1})
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"accuracy", a.Share, .6}, {"limit", a.Limit, .7505},
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
	if r := of(30, accountant.Budget{Epsilon: 1}); r.Epsilon != 0 {
		t.Errorf("30 of 100 right: %+v", r)
	}
}

// TestRight: guesses are made where the scores are farthest from the median.
func TestRight(t *testing.T) {
	canaries := []canary{{true, 9}, {false, -7}, {true, .1}, {true, 0}, {true, -.2}}
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
	for r := range tab.Rows() {
		m.count(rowOf(tab, r), 1)
	}
	if len(m.sets) != 6 {
		t.Fatalf("%d sets", len(m.sets))
	}
	for k, cols := range m.sets {
		want := tab.Counts(cols...)
		for c, n := range want {
			if m.counts[k][c] != float64(n) {
				t.Errorf("columns %v, cell %d: %v, want %d", cols, c, m.counts[k][c], n)
			}
		}
	}
}
