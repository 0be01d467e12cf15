package stats

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
	"github.com/decoy-dp/decoy/synth"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// TestPATE: a student learns what is there from each aggregator, with three classes on public rows,
// and with two on rows of a model (but for the first aggregator with -long); what it is charged is
// within the budget. Noise alone
// misses these marks with a probability far below 1e-6.
func TestPATE(t *testing.T) {
	tab := simulated(t, 6000, false)
	public := simulated(t, 900, false)
	for _, aggregator := range vote.Aggregators {
		trainings := []Training{
			{Target: "kind", Rows: 6000, Teaching: Teaching{Student: public}},
			{Target: "y", Drop: []string{"kind"}},
		}
		if !*long && aggregator != vote.Aggregators[0] {
			trainings = trainings[:1]
		}
		for _, o := range trainings {
			o.By, o.Aggregator, o.Model = PATE, aggregator, synth.Drawable
			m := trainedOn(t, tab, o, privacy.Options{Budget: wide, Tool: "test"})
			least := .8
			if o.Target == "kind" {
				least = .9
			}
			if got := right(t, m, tab); got < least || m.By != PATE {
				t.Errorf("%s, %s: %v are right, want %v", aggregator, o.Target, got, least)
			}
			v := stattest.Must(release.Verify(m, pld.Epsilon))
			if v.Charged.Epsilon > wide.Epsilon {
				t.Errorf("%s, %s: charged %+v", aggregator, o.Target, v.Charged)
			}
		}
	}
}

// TestPATERare: of a class of three rows in a hundred, which no teacher of 60 rows takes for the
// most probable, a student learns who is likely to be of it, and how many are. Over runs AUROC is
// .895 ± .003 and the mean of the probabilities is off by .0015: false alarms far below 1e-6. Votes
// for the most probable class reach .3 to .86, and fail for three aggregators of four.
func TestPATERare(t *testing.T) {
	tab := tableOf(`decoy: 1
columns:
  - {name: x, kind: integer, min: 0, max: 99, bins: 20}
  - {name: a, kind: categorical, categories: [p, q]}
  - {name: y, kind: integer, min: 0, max: 1}
`, 8000, 5, 0, func(u *rand.Rand) []int {
		x := u.IntN(20)
		return []int{x, u.IntN(2), when(u.Float64() < math.Exp(float64(x-19)/2)/4)}
	})
	for _, aggregator := range vote.Aggregators {
		o := Training{Target: "y", By: PATE, Teaching: Teaching{Aggregator: aggregator,
			Model: synth.Drawable}}
		m := trainedOn(t, tab, o, privacy.Options{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-5}})
		var scores []float64
		var labels []bool
		mean, rare := 0., 0.
		for i, row := range stattest.Must(m.Probabilities(tab)) {
			y := tab.Column(2).At(i) == 1
			scores, labels = append(scores, row[1]), append(labels, y)
			mean += row[1] / 8000
			rare += float64(when(y)) / 8000
		}
		if got := stattest.Must(eval.AUROC(scores, labels)); got < .85 || math.Abs(mean-rare) > rare/2 {
			t.Errorf("%s: AUROC %.3f; mean %.4f, and %.4f are rare", aggregator, got, mean, rare)
		}
	}
}

// TestPATEReserves: the plan costs the budget, all of it but a hair, whatever the relation and the
// rows of a unit.
func TestPATEReserves(t *testing.T) {
	s := simulated(t, 1, false).Schema()
	for _, b := range []accountant.Budget{wide, {Epsilon: .1, Delta: 1e-9}} {
		for _, nb := range []privacy.Neighbours{
			{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
			{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 3},
		} {
			for _, aggregator := range vote.Aggregators {
				p := stattest.Must(newPlan(s, nb, Training{Target: "kind", By: PATE,
					Teaching: Teaching{Aggregator: aggregator, Model: synth.Drawable}}, b))
				cost, err := p.composition().Epsilon(b.Delta, nb.Adjacency)
				if err != nil || cost.Epsilon > b.Epsilon || cost.Epsilon < b.Epsilon*(1-1e-4) {
					t.Errorf("%s, %v, %+v: it costs %+v, %v", aggregator, nb, b, cost, err)
				}
			}
		}
	}
}

// TestPATERefuses before anything is reserved.
func TestPATERefuses(t *testing.T) {
	tab := simulated(t, 10, false)
	for want, o := range map[string]Training{
		"aggregator":           {Target: "y", Teaching: Teaching{Aggregator: "most"}},
		"--by pate: a student": {Target: "y"},
		"a student needs rows": {Target: "y", Teaching: Teaching{Student: tab.Select(nil)}},
	} {
		o.By = PATE
		_, s, err := Train(context.Background(), privacy.FromTable(tab), o,
			Run[*Classifier]{Options: privacy.Options{Budget: wide}})
		if err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestPATECost: the price by how much teachers agree is in a file for the holder, and nowhere else.
func TestPATECost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cost.private.json")
	o := Training{Target: "kind", By: PATE, Teaching: Teaching{Cost: path, Model: synth.Drawable}}
	trainedOn(t, simulated(t, 4000, false), o, privacy.Options{Budget: wide})
	text := string(stattest.Must(os.ReadFile(path)))
	if !strings.Contains(text, `"not_private": true`) || !strings.Contains(text, "never to be") {
		t.Errorf("%s", text)
	}
	if info := stattest.Must(os.Stat(path)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestSoftmax: at the minimum no direction of the penalised loss, as differences have it, is down;
// the matrix of bins is symmetric, and none of its rows is longer than 1.
func TestSoftmax(t *testing.T) {
	tab := simulated(t, 60, false)
	for _, target := range []string{"y", "kind"} {
		k := stattest.Must(newTask(tab.Schema(), target, nil))
		f := softmax{task: k, penalty: .5}
		l := &lesson{rows: tab.Rows()}
		for _, c := range k.problem.Columns {
			l.columns = append(l.columns, tab.Column(c))
		}
		u := rand.New(rand.NewPCG(1, 2))
		for range l.rows * len(k.classes) {
			f.labels = append(f.labels, u.Float64())
		}
		n := k.problem.Cells(tab.Schema().Sizes()) * k.problem.Outputs()
		loss := func(v []float64) (sum float64) {
			w := append([]float64{}, v...)
			f.rotate(w)
			p := f.probabilities(w, l)
			for i := range l.rows { // Σ_k y_k·(log Σ_j e^s_j − s_k), whose gradient is p·Σy − y
				for j := range k.classes {
					sum -= f.labels[i*len(k.classes)+j] * math.Log(p[i*len(k.classes)+j])
				}
			}
			for _, x := range v {
				sum += f.penalty / 2 * x * x
			}
			return sum
		}
		for i := range l.rows { // shares that add up to 1
			row, all := f.labels[i*len(k.classes):][:len(k.classes)], 0.
			for _, x := range row {
				all += x
			}
			for j := range row {
				row[j] /= all
			}
		}
		v := make([]float64, n)
		f.fit(v, l)
		for j := range v {
			up, down := append([]float64{}, v...), append([]float64{}, v...)
			up[j] += 1e-4
			down[j] -= 1e-4
			if slope := (loss(up) - loss(down)) / 2e-4; math.Abs(slope) > 1e-3 {
				t.Errorf("%s: weight %d: slope %v at the minimum", target, j, slope)
			}
		}
		matrix := make([][]float64, n)
		for i := range matrix {
			matrix[i] = make([]float64, n)
			matrix[i][i] = 1
			f.rotate(matrix[i])
		}
		for i := range matrix {
			square := 0.
			for j, x := range matrix[i] {
				square += x * x
				if x != matrix[j][i] {
					t.Errorf("%s: %d, %d: %v and %v", target, i, j, x, matrix[j][i])
				}
			}
			if square > 1+1e-12 {
				t.Errorf("%s: row %d has length² %v", target, i, square)
			}
		}
	}
}

// TestCount: the counts cost the whole budget, as pure steps where δ = 0, and their noise is as
// large as they say: of 4,000 counts the mean square of the noise is within six standard errors
// (false alarms about 1e-8), and not so for a scale 30 % off.
func TestCount(t *testing.T) {
	tab := simulated(t, 500, false)
	is := table.Condition{Column: 0, Allow: []bool{true, false}}
	exact := shareOf(t, tab, is) * 500
	asked := make([]table.Expr, 4000)
	for i := range asked {
		asked[i] = is
	}
	for _, b := range []accountant.Budget{{Epsilon: 2000}, {Epsilon: 20, Delta: 1e-6}} {
		c, s, err := Count(context.Background(), privacy.FromTable(tab), asked,
			Run[Counted]{Options: privacy.Options{Budget: b}})
		check(t, err)
		cost := stattest.Must(s.Ledger().Runs()[0].Charged.Epsilon(b.Delta, accountant.AddRemove))
		if cost.Epsilon > b.Epsilon || cost.Epsilon < b.Epsilon*(1-1e-6) {
			t.Errorf("%+v: charged %v", b, cost.Epsilon)
		}
		square := 0.
		for _, n := range c.Counts {
			square += (float64(n) - exact) * (float64(n) - exact) / float64(len(asked))
		}
		off := func(sd float64) float64 { // in standard errors; the kurtosis of Laplace is 6
			return math.Abs(square/(sd*sd)-1) / math.Sqrt(6/float64(len(asked)))
		}
		if off(c.StdErr) > 6 || off(1.3*c.StdErr) < 6 || off(c.StdErr/1.3) < 6 {
			t.Errorf("%+v: mean square of the noise %v, standard error %v", b, square, c.StdErr)
		}
	}
	if _, s, err := Count(context.Background(), privacy.FromTable(tab), nil,
		Run[Counted]{Options: privacy.Options{Budget: wide}}); err == nil || s != nil {
		t.Error("no question is answered")
	}
	_, s, err := Count(context.Background(), privacy.FromTable(tab), asked[:1], Run[Counted]{})
	if !errors.Is(err, accountant.ErrBudgetRange) || s != nil {
		t.Errorf("without a budget: %v", err)
	}
}
