package privacy

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestNoiseOfTheMechanisms. Null: released − true value follows the named law at the named scale;
// 20 000 draws each, false-alarm rate 1e-6 each. The same draws must reject a scale 30 % too small
// or too large: what is released has neither less nor more noise than the event that was charged.
func TestNoiseOfTheMechanisms(t *testing.T) {
	const n, sigma = 20000, 4.0
	tab := testTable(t, testSchema("", 0), someRows(600), nil)
	s := open(t, tab, accountant.Composition{
		{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: 4 * n},
	})
	pair := Marginal{Cols: []int{2, 0}}
	truePair := tab.Counts(pair.Cols...)
	grouped := Marginal{Cols: []int{2, 0}, Groups: [][]uint16{{0, 1, 1, 0}, nil}}
	trueGrouped := []int64{
		truePair[0] + truePair[6],
		truePair[1] + truePair[7],
		truePair[2] + truePair[4],
		truePair[3] + truePair[5],
	}
	where := Where{Expr: table.And{
		table.Condition{Column: 1, Allow: []bool{true, false, true}},
		table.Condition{Column: 0, Allow: []bool{false, true}},
	}}
	trueWhere := byHand(tab, where.Expr)
	if trueWhere != 200 {
		t.Fatalf("the predicate holds for %d rows, want 200", trueWhere)
	}
	normal := func(scale float64) func(int64) float64 {
		return func(x int64) float64 { return roundedNormal(x, scale) }
	}
	tests := []struct {
		name string
		draw func(k int) (int64, error)
		law  func(scale float64) func(int64) float64
	}{
		{
			"Total",
			func(int) (int64, error) {
				x, err := only(s.Measure(Total{}, sigma))
				return x - 600, err
			},
			normal,
		},
		{"Counts", func(k int) (int64, error) {
			m, err := s.Measure(pair, sigma)
			return m[k%8] - truePair[k%8], err
		}, normal},
		{"Counts of groups", func(k int) (int64, error) {
			m, err := s.Measure(grouped, sigma)
			return m[k%4] - trueGrouped[k%4], err
		}, normal},
		{
			"Where",
			func(int) (int64, error) {
				x, err := only(s.Measure(where, sigma))
				return x - trueWhere, err
			},
			normal,
		},
	}
	for _, tt := range tests {
		draws := make([]int64, n)
		for k := range draws {
			x := stattest.Must(tt.draw(k))
			draws[k] = x
		}
		if !follows(draws, 14, tt.law(sigma)) {
			t.Errorf("%s: the noise does not follow its law", tt.name)
		}
		for _, wrong := range []float64{.7, 1.3} {
			if follows(draws, 14, tt.law(wrong*sigma)) {
				t.Errorf("%s: a scale of %v times the right one is accepted", tt.name, wrong)
			}
		}
	}
}

// TestCellsHaveIndependentNoise. Null: the signs of the noise of two cells of one release are
// independent; 4 000 releases.
func TestCellsHaveIndependentNoise(t *testing.T) {
	const n = 4000
	tab := testTable(t, testSchema("", 0), someRows(600), nil)
	s := open(t, tab, gaussian(50, n))
	truth := tab.Counts(0)
	agree, used := int64(0), int64(0)
	for range n {
		m := stattest.Must(s.Measure(Marginal{Cols: []int{0}}, 50))
		a, b := m[0]-truth[0], m[1]-truth[1]
		if a == 0 || b == 0 {
			continue
		}
		used++
		if (a > 0) == (b > 0) {
			agree++
		}
	}
	if _, _, ok := stattest.Binomial(agree, used, .5); !ok {
		t.Errorf("%d of %d signs agree", agree, used)
	}
}

// TestSelectFollowsTheExponentialMechanism. Null: P(t) ∝ exp(ε·u(t)/(2Δ)) with u written out from
// its definition; 30 000 draws a relation, false-alarm rate 1e-6; ε off by 30 % must be rejected.
func TestSelectFollowsTheExponentialMechanism(t *testing.T) {
	const n, epsilon = 30000, .2
	for _, nb := range relations {
		sch := testSchema("", 0)
		units := []uint32(nil)
		if nb.MaxRowsPerUnit > 1 {
			sch = testSchema("u", nb.MaxRowsPerUnit)
			units = make([]uint32, 60)
			for i := range units {
				units[i] = uint32(i)
			}
		}
		tab := testTable(t, sch, someRows(60), units)
		s := open(
			t, tab, accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon}, Count: n}},
		)
		s.nb = nb // the same rows under each relation
		flat := func(cells int, x float64) []float64 {
			e := make([]float64, cells)
			for i := range e {
				e[i] = x
			}
			return e
		}
		candidates := []Candidate{
			{Query: Marginal{Cols: []int{0}}, Estimate: flat(2, 25)},
			{Query: Marginal{Cols: []int{0, 1}}, Estimate: flat(6, 8.5), Weight: 2, Penalty: 3},
			{Query: Marginal{Cols: []int{2}}, Estimate: flat(4, 10), Weight: .5},
			{Query: Marginal{Cols: []int{1, 2}}, Estimate: flat(12, 5), Weight: 1.5, Penalty: 10},
			{Query: Marginal{Cols: []int{2}, Groups: [][]uint16{{0, 0, 1, 1}}}, Estimate: flat(2, 20)},
		}
		delta := 2 * nb.k() // the largest weight is 2, one row moves the L1 error by at most 1
		if nb.Adjacency == accountant.ReplaceOne {
			delta *= 2
		}
		law := func(eps float64) []float64 {
			p, sum := make([]float64, len(candidates)), 0.0
			for i, c := range candidates {
				m := c.Query.(Marginal)
				counts := tab.Counts(m.Cols...)
				if m.Groups != nil {
					counts = []int64{counts[0] + counts[1], counts[2] + counts[3]}
				}
				u, w := -c.Penalty, c.Weight
				if w == 0 {
					w = 1
				}
				for j, x := range counts {
					u += math.Abs(float64(x) - c.Estimate[j])
				}
				p[i] = math.Exp(eps * w * u / (2 * delta))
				sum += p[i]
			}
			for i := range p {
				p[i] /= sum
			}
			return p
		}
		counts := make([]int64, len(candidates))
		for range n {
			i := stattest.Must(s.Select(candidates, epsilon))
			counts[i]++
		}
		if stat, limit, ok := stattest.ChiSquare(counts, law(epsilon)); !ok {
			t.Errorf("%v: chi-square %v over %v: %v, law %v", nb, stat, limit, counts, law(epsilon))
		}
		if _, _, ok := stattest.ChiSquare(counts, law(2*epsilon)); ok {
			t.Errorf("%v: twice the epsilon is accepted", nb)
		}
		if _, _, ok := stattest.ChiSquare(counts, law(epsilon/2)); ok {
			t.Errorf("%v: half the epsilon is accepted", nb)
		}
	}
}
