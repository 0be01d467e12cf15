package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"

	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

// numbers is a schema of two numeric columns, of 9 and 5 codes, and one of two categories.
func numbers() *schema.Schema {
	return &schema.Schema{Columns: []schema.Column{
		{Name: "a", Kind: schema.Integer, Min: 0, Max: 8}, {Name: "b", Kind: schema.Integer, Min: 0,
			Max: 4}, {Name: "c", Kind: schema.Categorical, Categories: []string{"x", "y"}},
	}}
}

// numbersTable has n rows with b = a/2 and c = whether a > 4, but for one row in ten.
func numbersTable(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	u := rand.New(rand.NewPCG(1, 2))
	cols := []table.Codes{{U8: make([]uint8, n)}, {U8: make([]uint8, n)}, {U8: make([]uint8, n)}}
	for i := range n {
		a := u.IntN(9)
		b := a / 2
		if u.IntN(10) == 0 {
			b = u.IntN(5)
		}
		cols[0].U8[i], cols[1].U8[i], cols[2].U8[i] = uint8(a), uint8(b), uint8(a/5)
	}
	tab := synthtest.Must(table.FromColumns(s, cols, nil))
	return tab
}

func TestScaledColumns(t *testing.T) {
	s := numbers()
	s.Columns = append(s.Columns, schema.Column{Name: "missing", Kind: schema.Integer, Max: 8,
		Missing: []string{""}}, schema.Column{Name: "two", Kind: schema.Integer, Max: 1})
	if got, want := scaledColumns(s, WGAN{Encoder: scaled}),
		[]bool{true, true, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("scaled are %v, want %v", got, want)
	}
	if got := scaledColumns(s, WGAN{Encoder: oneHot}); got != nil {
		t.Errorf("one-hot: %v", got)
	}
	if got := scaledColumns(synthtest.Schema(3), WGAN{Encoder: scaled}); got != nil {
		t.Errorf("categories alone: %v", got)
	}
}

// TestScaledFits: fits with scaled columns charge what they planned, and every sampled row is
// valid.
func TestScaledFits(t *testing.T) {
	s := numbers()
	tab := numbersTable(t, s, 400)
	for name, c := range map[string]WGAN{"residual": {}, "box": {Mode: "box"},
		"thesis":         {Mode: "thesis"},
		"target":         {Target: "c"},
		"numeric target": {Target: "b"}, "two layers": {Hidden: []int{6, 4}, Lipschitz: "spectral"},
		"Poisson":      {Rate: .5},
		"interpolates": {Lipschitz: interpolates}, "gorgonia": {Engine: gorgonia}} {
		c.Steps, c.DistilSteps, c.GeneratorSteps, c.PostSteps = 3, 5, 4, 10
		c.Encoder = scaled
		if c.Hidden == nil {
			c.Hidden = []int{6}
		}
		f := checked(&c)
		m := Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-6})
		if _, err := m.Verify(pld.Epsilon); err != nil || gradients(m) != 3 {
			t.Errorf("%s: %d gradient sums, want 3, %v", name, gradients(m), err)
		}
		got := Sample(t, m, 500, 1)
		for k, size := range s.Sizes() {
			for i := range got.Rows() {
				if int(got.Column(k).At(i)) >= size {
					t.Fatalf("%s: row %d has no valid code in column %d", name, i, k)
				}
			}
		}
	}
}

// TestScaledIsLearned: b follows a. Of 120 fits most gave correlations of .6 to .75, one in twenty
// about .3. Null: columns drawn apart give 0 with standard deviation .016.
func TestScaledIsLearned(t *testing.T) {
	s := numbers()
	f := checked(&WGAN{Encoder: scaled, DistilSteps: 400})
	tab := numbersTable(t, s, 4000)
	m := Sample(t, Fit(t, f, tab, accountant.Budget{Epsilon: 8, Delta: 1e-6}),
		4000, 1)
	if got := correlation(m); got < .12 {
		t.Errorf("correlation %.2f, of the table %.2f", got, correlation(tab))
	}
}

func correlation(tab *table.Table) float64 {
	var n, x, y, xx, yy, xy float64
	for i := range tab.Rows() {
		a, b := float64(tab.Column(0).At(i)), float64(tab.Column(1).At(i))
		n, x, y, xx, yy, xy = n+1, x+a, y+b, xx+a*a, yy+b*b, xy+a*b
	}
	return (xy/n - x/n*y/n) / math.Sqrt((xx/n-x/n*x/n)*(yy/n-y/n*y/n))
}

// TestScaledRowsAreInTheCertificate: what gan's critic adds for any row of the domain is within the
// certificate, alone and replaced; in mode residual halved scales would be noticed.
func TestScaledRowsAreInTheCertificate(t *testing.T) {
	s := numbers()
	plan := &wganPlan{cfg: WGAN{}, schema: s, scaled: scaledColumns(s,
		WGAN{Encoder: scaled})}
	in := synthtest.Must(plan.sum().Domain(s))
	e := synthtest.Must(critic.NewEncoder(s))
	e = synthtest.Must(e.Scaled(plan.scaled))
	var cols [3]table.Codes
	for a := range 9 {
		for b := range 5 {
			for c := range 2 {
				cols[0].U8, cols[1].U8, cols[2].U8 = append(cols[0].U8, uint8(a)),
					append(cols[1].U8, uint8(b)), append(cols[2].U8, uint8(c))
			}
		}
	}
	for _, hidden := range [][]int{{5}, {5, 4}} {
		c, err := critic.New(e, critic.Options{Hidden: hidden, Slope: .2},
			rand.New(rand.NewPCG(3, 4)))
		if err != nil {
			t.Fatal(err)
		}
		for _, adjacency := range []accountant.Adjacency{accountant.AddRemove,
			accountant.ReplaceOne} {
			for _, mode := range []bounds.Mode{modes.Thesis, modes.Box,
				bounds.Residual} {
				cert, err := bounds.Certify(c.Network(), in,
					bounds.Config{Mode: mode, Adjacency: adjacency})
				if err != nil {
					t.Fatal(err)
				}
				scales := cert.Scales()
				var rows [][]float64
				for i := range 90 {
					sum := bounds.Sum{Rows: 1, Gradient: make([]int64, cert.Parameters())}
					if cert.Inputs() > 0 {
						sum.Inputs = make([]int64, cert.Inputs())
					}
					c.AddSumTo(sum.Gradient, sum.Inputs, cert.Factor(), cols[:], []int{i})
					for k := range sum.Inputs {
						if k >= 2 { // the cells of c
							sum.Inputs[k] *= int64(1 / cert.Factor())
						}
					}
					encoded := make([]int64, cert.Coordinates())
					cert.EncodeTo(encoded, sum)
					row := make([]float64, len(encoded))
					for k, x := range encoded {
						row[k] = float64(x) * cert.Grid() / scales[k]
					}
					rows = append(rows, row)
				}
				worst := 0.
				for i, a := range rows {
					norm := 0.
					for _, x := range a {
						norm += x * x
					}
					worst = max(worst, math.Sqrt(norm))
					for _, b := range rows[:i] {
						if adjacency != accountant.ReplaceOne {
							break
						}
						norm := 0.
						for k, x := range a {
							norm += (x - b[k]) * (x - b[k])
						}
						worst = max(worst, math.Sqrt(norm))
					}
				}
				if worst > 1 || mode == bounds.Residual && len(hidden) == 1 && worst <= .5 {
					t.Errorf("%v, %v, %v: rows reach %v, certified 1", hidden, adjacency, mode,
						worst)
				}
			}
		}
	}
}

// TestScaledStepSizes: a finished run is continued from its checkpoint, which buys nothing, and
// shows the sizes of its certificates.
func TestScaledStepSizes(t *testing.T) {
	s := numbers()
	nb := privacy.NeighboursOf(s, 0)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	f, err := Checked(&WGAN{Encoder: scaled, Steps: 4, DistilSteps: 5, GeneratorSteps: 4,
		PostSteps: 10,
		Hidden:    []int{6}})
	if err != nil {
		t.Fatal(err)
	}
	p := synthtest.Must(NewPlan(f, s, nb, b))
	session, err := privacy.Open(context.Background(), privacy.FromTable(numbersTable(t, s, 300)),
		privacy.Options{Budget: b, Plan: p.Reserve, Price: p.Price})
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := stepSizes(context.Background(), p.Plan.(*wganPlan), session)
	if err != nil || len(sizes) != 4 {
		t.Fatalf("%d steps, %v", len(sizes), err)
	}
	for k, x := range sizes {
		if !x.ordered() || x.Residual <= 0 {
			t.Errorf("step %d: %+v", k+1, x)
		}
	}
}
