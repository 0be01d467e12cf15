package marginal

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestGiven compares every cell of every clique, and a table across cliques, with brute force, for
// weights on every set of columns.
func TestGiven(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	for _, d := range domains {
		t.Run(d.name, func(t *testing.T) {
			m, j := randomModel(t, d.sizes, d.cliques, 300, u)
			for set := range 1 << len(d.sizes) {
				weights := map[int][]float64{}
				want := newJoint(d.sizes)
				copy(want.p, j.p)
				for c, n := range d.sizes {
					if set>>c&1 == 0 {
						continue
					}
					w := make([]float64, n)
					for k := range w {
						w[k] = float64(u.IntN(3)) / 2
					}
					w[u.IntN(n)] = 1
					weights[c] = w
					for i := range want.p {
						want.p[i] *= w[want.cell(i, []int{c})]
					}
				}
				sum := 0.0
				for _, x := range want.p {
					sum += x
				}
				got, err := m.Given(weights)
				if sum < 1e-9 {
					continue // nearly impossible: nothing to compare
				}
				if err != nil {
					t.Fatal(err)
				}
				if e := m.Expect(weights); math.Abs(got.Total()-e) > 1e-9*m.Total() {
					t.Fatalf("set %b: total %v, want %v", set, got.Total(), e)
				}
				for i := range want.p {
					want.p[i] /= sum
				}
				tables := got.Cliques()
				if len(d.sizes) > 1 {
					tables = append(tables, []int{len(d.sizes) - 1, 0})
				}
				for _, cols := range tables {
					have := make([]float64, int(cellsOf(d.sizes, cols)))
					if err := got.MarginalTo(have, cols); err != nil {
						t.Fatal(err)
					}
					for i, x := range want.marginal(cols) {
						if math.Abs(have[i]/got.Total()-x) > 1e-9 {
							t.Fatalf("set %b, table %v, cell %d: %v, want %v", set, cols, i,
								have[i]/got.Total(), x)
						}
					}
				}
			}
		})
	}
}

func TestGivenRefuses(t *testing.T) {
	m := chainModel(t)
	if _, err := m.Given(map[int][]float64{0: {0, 0}}); !errors.Is(err, ErrImpossible) {
		t.Errorf("nothing allowed: %v", err)
	}
	for name, w := range map[string]map[int][]float64{"length": {0: {1}}, "column": {9: {1}},
		"negative column": {-1: {1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			m.Given(w)
		}()
	}
}

// TestGroupingGiven: shares of allowed codes, and only allowed codes come out of a group.
func TestGroupingGiven(t *testing.T) {
	g, err := NewGrouping([]int{5},
		[]Measurement{{Cols: []int{0}, Counts: []float64{100, 1, 90, 2, 3}, Sigma: 2}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	// of code 4 only a third
	allow := []float64{0, 1, 1, 0, 1 / 3.}
	w, s := g.Weights(0, []float64{0, 1, 1, 0, 1}), g.Shares(0)
	if len(w) != 3 || w[0] != 0 || w[1] != 1 || math.Abs(w[2]-s[1]-s[4]) > 1e-12 {
		t.Errorf("weights %v with shares %v", w, s)
	}
	half := g.Weights(0, []float64{.5, 1, .25, 0, .5})
	if half[0] != .5 || half[1] != .25 || math.Abs(half[2]-s[1]-s[4]/2) > 1e-12 {
		t.Errorf("weights %v of parts of codes with shares %v", half, s)
	}
	// Null: code 1 has its share of {1, 4}; 20 000 draws, z = 5 for a false alarm of 6e-7.
	rows := [][]uint16{make([]uint16, 20_000)}
	for i := range rows[0] {
		rows[0][i] = 2
	}
	g.Given(map[int][]float64{0: allow}).Expand(rows, rand.New(rand.NewPCG(1, 1)))
	ones := 0.0
	for _, code := range rows[0] {
		if code != 1 && code != 4 {
			t.Fatalf("code %d", code)
		}
		if code == 1 {
			ones++
		}
	}
	p, n := s[1]/(s[1]+s[4]/3), float64(len(rows[0]))
	if math.Abs(ones-n*p) > 5*math.Sqrt(n*p*(1-p)) {
		t.Errorf("code 1 %v times, want %v", ones, n*p)
	}
	if before := g.Shares(0); before[3] != s[3] {
		t.Error("the grouping was changed")
	}
	defer func() {
		if recover() == nil {
			t.Error("a list of another length is accepted")
		}
	}()
	g.Weights(0, []float64{1})
}
