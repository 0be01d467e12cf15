package stats

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var wide = accountant.Budget{Epsilon: 5, Delta: 1e-6}

// simulated is n rows of which y follows from a and x, and kind from x; some y are missing. With
// units, each has two rows.
func simulated(t *testing.T, n int, units bool) *table.Table {
	t.Helper()
	yaml, unit := `decoy: 1
columns:
  - {name: a, kind: categorical, categories: [p, q]}
  - {name: x, kind: integer, min: 0, max: 99, bins: 10, missing: [""]}
  - {name: y, kind: categorical, categories: ["no", "yes"], missing: ["?"]}
  - {name: kind, kind: categorical, categories: [low, middle, high]}
`, 0
	if units {
		yaml, unit = strings.Replace(yaml, "columns:", "unit: id\nmax_rows_per_unit: 2\ncolumns:", 1), 2
	}
	return tableOf(yaml, n, 5, unit, func(u *rand.Rand) []int {
		a, x := u.IntN(2), u.IntN(11)
		y := when(u.Float64() < 1/(1+math.Exp(-(float64(x)-5)-2*float64(2*a-1))))
		if u.IntN(20) == 0 {
			y = 2
		}
		return []int{a, x, y, min(2, x/4)}
	})
}

func trainedOn(
	t testing.TB, tab *table.Table, o Training, options privacy.Options,
) *Classifier {
	t.Helper()
	c, _, err := Train(context.Background(), privacy.FromTable(tab), o,
		Run[*Classifier]{Options: options})
	check(t, err)
	return c
}

// right is the share of rows with a class whose class is the most probable.
func right(t *testing.T, c *Classifier, tab *table.Table) float64 {
	t.Helper()
	p := stattest.Must(c.Probabilities(tab))
	hits, all := 0., 0.
	codes := tab.Column(tab.Schema().Index(c.Target))
	for i, row := range p {
		best, sum := 0, 0.
		for k, x := range row {
			sum += x
			if x > row[best] {
				best = k
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities %v", row)
		}
		if int(codes.At(i)) < len(c.Classes) {
			all++
			if best == int(codes.At(i)) {
				hits++
			}
		}
	}
	return hits / all
}

// TestTrain: a classifier learns what is there, with two classes and with three, is verified,
// survives its file, and does not say how many rows there are unless that is bought or public.
// Noise alone misses these marks with a probability far below 1e-6.
func TestTrain(t *testing.T) {
	tab := simulated(t, 8000, false)
	for _, c := range []struct {
		o     Training
		least float64
	}{
		{Training{Target: "y", By: Descent, Drop: []string{"kind"}}, .82},
		{Training{Target: "kind", By: Descent}, .95},
		{Training{Target: "kind", By: Descent, Rows: 8000, Drop: []string{"a", "y"}}, .95},
		{Training{Target: "y", By: byOutput, Drop: []string{"kind"}}, .82},
		{Training{Target: "y", By: byObjective, Drop: []string{"kind"}}, .82},
		{Training{Target: "kind", By: byObjective, Rows: 8000, Drop: []string{"y"}}, .8},
	} {
		m := trainedOn(t, tab, c.o, privacy.Options{Budget: wide, Tool: "test"})
		if got := right(t, m, tab); got < c.least || m.By != c.o.By {
			t.Errorf("%+v: %v are right, want %v; by %s", c.o, got, c.least, m.By)
		}
		bought := c.o.By == Descent && c.o.Rows == 0
		if bought && math.Abs(m.Rows-8000) > 100 || !bought && m.Rows != float64(c.o.Rows) {
			t.Errorf("%+v: %v rows", c.o, m.Rows)
		}
		var file bytes.Buffer
		check(t, release.FileWriter(m)(&file))
		again := stattest.Must(Read(&file)).(*Classifier)
		stattest.Must(release.Verify(again, nil))
		if a, b := right(t, m, tab), right(t, again, tab); a != b {
			t.Errorf("%v are right, after reading %v", a, b)
		}
	}
}

// TestPerturbations: the planned noise spends the budget, all of it but a hair, under every
// relation, and what covers that a minimum is not exact is a small part of it.
func TestPerturbations(t *testing.T) {
	s := simulated(t, 1, false).Schema()
	for _, b := range []accountant.Budget{
		wide, {Epsilon: .1, Delta: 1e-9}, {Epsilon: .1, Delta: 1e-3},
	} {
		for _, nb := range []privacy.Neighbours{
			{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
			{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 3},
		} {
			for _, target := range []string{"y", "kind"} {
				for _, by := range []string{byOutput, byObjective} {
					p := stattest.Must(newPlan(s, nb, Training{Target: target, By: by}, b))
					cost, err := p.composition().Epsilon(b.Delta, nb.Adjacency)
					if err != nil || cost.Epsilon > b.Epsilon || cost.Epsilon < b.Epsilon*(1-1e-6) {
						t.Errorf("%s, %v, %+v: it costs %+v, %v", by, nb, b, cost, err)
					}
					event, approx := p.composition()[0].Event.(accountant.Approx)
					if approx && event.Delta < b.Delta*(1-1e-4) {
						t.Errorf("%s, %v, %+v: δ = %v", by, nb, b, event.Delta)
					}
				}
			}
		}
	}
}

// TestProbabilities: they are the formula of the file, with features in another order of columns.
func TestProbabilities(t *testing.T) {
	s := stattest.Must(schema.Parse(
		[]byte("decoy: 1\ncolumns:\n- {name: b, kind: categorical, categories: [u, v, w]}\n" +
			"- {name: a, kind: boolean}\n"),
	))
	tab := stattest.Must(
		table.FromColumns(s, []table.Codes{{U8: []uint8{2, 0}}, {U8: []uint8{1, 0}}}, nil))
	c := &Classifier{Classes: []string{"n", "y"}, Intercept: []float64{.5},
		Features: []feature{{Column: "a", Values: []string{"false", "true"}},
			{Column: "b", Values: []string{"u", "v", "w"}}},
		Coefficients: [][]float64{{1, 2, 10, 20, -4}}}
	p := stattest.Must(c.Probabilities(tab))
	for i, score := range []float64{.5 + 2 - 4, .5 + 1 + 10} {
		if want := 1 / (1 + math.Exp(-score)); math.Abs(p[i][1]-want) > 1e-12 {
			t.Errorf("row %d: %v, want %v", i, p[i][1], want)
		}
	}
	c.Features[1].Values = c.Features[1].Values[:2]
	stattest.Fails(t, stattest.Err(c.Probabilities(tab)), "a table of other codes is predicted")
}

// TestUnits: noise grows with the rows of a unit, and the claim names it.
func TestUnits(t *testing.T) {
	tab := simulated(t, 4000, true)
	m := trainedOn(t, tab, Training{Target: "kind"}, privacy.Options{Budget: wide})
	if m.Claim.Unit != "id" || m.Claim.MaxRowsPerUnit != 2 {
		t.Errorf("claim %+v", m.Claim)
	}
	sigma := func(nb privacy.Neighbours) float64 {
		p := stattest.Must(newPlan(tab.Schema(), nb, Training{Target: "kind"}, wide))
		steps := p.steps(4000, p.mu)
		return steps.Sigma / math.Sqrt(float64(steps.Count))
	}
	one := sigma(privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1})
	four := sigma(privacy.Neighbours{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 2})
	if math.Abs(four/one-4) > 1e-9 {
		t.Errorf("noise %v and %v", one, four)
	}
}

// TestSteps: the rule takes more steps, never too long ones, the more rows there are.
func TestSteps(t *testing.T) {
	s := simulated(t, 1, false).Schema()
	p := stattest.Must(newPlan(s, privacy.NeighboursOf(s, 0), Training{Target: "kind"}, wide))
	before := 0.
	for _, rows := range []int{1, 10, 1000, 30_000, 1_000_000, 1 << 40} {
		at := p.steps(float64(rows), p.mu*math.Sqrt(1-rowsShare))
		time := float64(at.Count) * at.Size
		if at.Count < minSteps || at.Count > maxSteps || at.Size > .8 || !(at.Size > 0) ||
			time < before {
			t.Errorf("%d rows: %+v", rows, at)
		}
		before = time
	}
}

// TestNumberOfTwoValues: an outcome of 0 and 1, as bought schemas have it, can be predicted.
func TestNumberOfTwoValues(t *testing.T) {
	for column, want := range map[string]bool{
		"min: 0, max: 1": true, `min: 0, max: 1, missing: [""]`: true, "min: 1, max: 2": true,
		"min: 0, max: 2": false, "min: 0, max: 3, bins: 2": false, "min: 1, max: 1": false,
	} {
		s := stattest.Must(schema.Parse([]byte("decoy: 1\ncolumns:\n- {name: x, kind: boolean}\n" +
			"- {name: y, kind: integer, " + column + "}\n")))
		if _, err := newTask(s, "y", nil); (err == nil) != want {
			t.Errorf("%s: %v", column, err)
		}
	}
}

func TestTargets(t *testing.T) {
	s := simulated(t, 1, false).Schema()
	bought := stattest.Must(schema.Parse([]byte("decoy: 1\ncolumns:\n- {name: y, kind: boolean}\n" +
		"- {name: z, kind: real, min: 0, max: 1, bins: {dp: 4, share: 0.1}}\n")))
	none, tiny := accountant.Budget{Epsilon: 1}, accountant.Budget{Epsilon: 1e-9, Delta: 1e-15}
	for name, c := range map[string]struct {
		s    *schema.Schema
		o    Training
		b    accountant.Budget
		want string
	}{
		"a number":     {s, Training{Target: "x"}, wide, "is integer, and"},
		"none":         {s, Training{Target: "z"}, wide, `no column "z"`},
		"drop of none": {s, Training{Target: "y", Drop: []string{"z"}}, wide, "to drop"},
		"nothing left": {s, Training{Target: "y", Drop: []string{"a", "x", "kind"}}, wide,
			"no column is left"},
		"bins: dp":      {bought, Training{Target: "y"}, wide, "write bins"},
		"without delta": {s, Training{Target: "y"}, none, "delta > 0"},
		"another way":   {s, Training{Target: "y", By: "magic"}, wide, `by "magic"`},
		"objective perturbation without delta": {s, Training{Target: "y", By: byObjective}, none,
			"delta > 0"},
		"no minimum": {s, Training{Target: "y", By: byOutput},
			accountant.Budget{Epsilon: 1e-9, Delta: 1e-9}, "too small for --by output"},
		"too small for a descent": {s, Training{Target: "y"}, tiny, "beyond what is drawn"},
		"too small for objective perturbation": {s, Training{Target: "y", By: byObjective}, tiny,
			"beyond what is drawn"},
		"without budget": {s, Training{Target: "y"}, accountant.Budget{}, "epsilon"},
	} {
		_, err := newPlan(c.s, privacy.NeighboursOf(c.s, 0), c.o, c.b)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
