package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func loadPoints(t testing.TB, name string) *Points {
	t.Helper()
	x, dim := loadNumbers(t, name, 0)
	return pointsAt(dim, x...)
}

func TestNNAAAgreesWithBruteForce(t *testing.T) {
	e := loadExpected(t)
	for name, want := range map[string]map[string]Terms{"continuous": e.Continuous,
		"discrete": e.Discrete} {
		got, err := NNAA(loadPoints(t, name+"_real.csv"), loadPoints(t, name+"_synthetic.csv"), 0)
		stattest.Check(t, err)
		if want := want["corrected"]; !near(got.Real, want.Real, 1e-9) ||
			!near(got.Synthetic, want.Synthetic, 1e-9) || !near(got.Mean, want.Mean, 1e-9) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// definition computes the terms by double loops that leave out each row in turn.
func definition(real, synthetic *Points) (first, second float64) {
	term := func(own, other *Points) (c float64) {
		n := float64(own.n)
		for i := range own.n {
			within := math.Inf(1)
			for j := range own.n {
				if j != i {
					within = min(within, own.space.between(own.row(i), own.row(j)))
				}
			}
			nearestBut := func(left int) float64 {
				d := math.Inf(1)
				for j := range other.n {
					if j != left {
						d = min(d, own.space.between(own.row(i), other.row(j)))
					}
				}
				return d
			}
			for k := range other.n {
				d := nearestBut(k)
				c += (indicator(d > within) + indicator(d >= within)) / 2 / n / float64(other.n)
			}
		}
		return c
	}
	return term(real, synthetic), term(synthetic, real)
}

func TestNNAADefinition(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	schemas := map[string]*schema.Schema{
		"categories": schemaOf(t, category("a", 3), optional(category("b", 4)), category("c", 2)),
		"mixed": schemaOf(t, category("a", 3), number("b", 7), optional(number("c", 5)),
			optional(category("d", 2))),
		"numbers":    schemaOf(t, number("a", 9), number("b", 6), optional(number("c", 300))),
		"many codes": schemaOf(t, category("a", 700), number("b", 500), category("c", 3)),
		"log bins": schemaOf(t,
			schema.Column{Name: "a", Kind: schema.Integer, Min: 0, Max: 100000, Bins: 32,
				Spacing: schema.Log}, category("b", 4)),
	}
	for name, s := range schemas {
		for _, d := range []Distance{Euclidean, Gower} {
			t.Run(fmt.Sprint(name, d), func(t *testing.T) {
				for _, n := range []int{2, 3, 40} {
					real := pointsOf(t, uniformTable(t, s, n, u), d)
					synthetic := pointsOf(t, uniformTable(t, s, n, u), d)
					got := stattest.Must(NNAA(real, synthetic, 0))
					first, second := definition(real, synthetic)
					if !near(got.Real, first, 1e-12) || !near(got.Synthetic, second, 1e-12) ||
						!near(got.Mean, (first+second)/2, 1e-12) {
						t.Fatalf("%d rows: %+v, want %v and %v", n, got, first, second)
					}
				}
			})
		}
	}
}

// TestNNAAOfOneDistribution: two samples of 1500 rows of one distribution. Under that null the
// accuracy is asymptotically normal about ½ with at most the reported standard error, so that 5 of
// them are exceeded with probability 6e-7. Rows of which a third comes from elsewhere are rejected.
func TestNNAAOfOneDistribution(t *testing.T) {
	const n = 1500
	u := rand.New(rand.NewPCG(2, 2))
	continuous := func(shifted float64) *Points {
		x := make([]float64, 0, 5*n)
		for range n {
			shift := 3 * indicator(u.Float64() < shifted)
			for range 5 {
				x = append(x, u.NormFloat64()+shift)
			}
		}
		return pointsAt(5, x...)
	}
	s := schemaOf(t, category("a", 4), number("b", 20), optional(number("c", 20)))
	sizes := s.Sizes()
	discrete := func(shifted float64) *Points {
		p := stattest.Must(TablePoints(tableFrom(t, s, n, func(i, c int) int {
			if float64(i) < shifted*n {
				return sizes[c] - 1
			}
			return min(u.IntN(sizes[c]), u.IntN(sizes[c]))
		}), Euclidean))
		return p
	}
	for name, draw := range map[string]func(float64) *Points{"continuous": continuous,
		"discrete": discrete} {
		got := stattest.Must(NNAA(draw(0), draw(0), 0))
		if math.Abs(got.Mean-.5) > 5*got.StdErr {
			t.Errorf("%s: %+v for two samples of one distribution", name, got)
		}
		if got.StdErr > .02 {
			t.Errorf("%s: standard error %v", name, got.StdErr)
		}
		got = stattest.Must(NNAA(draw(0), draw(1./3), 0))
		if math.Abs(got.Mean-.5) < 5*got.StdErr {
			t.Errorf("%s: %+v though a third of the rows is shifted", name, got)
		}
	}
}

func TestPrivacyLossFlagsACopy(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 3))
	s := schemaOf(t, category("a", 5), number("b", 32), number("c", 32), number("d", 32))
	points := func(n int) *Points {
		return pointsOf(t, uniformTable(t, s, n, u), Euclidean)
	}
	train, holdout := points(800), points(700)
	copied := stattest.Must(PrivacyLoss(train, holdout, train, 1))
	if copied.Loss < .3 || copied.Loss < 5*copied.StdErr {
		t.Errorf("privacy loss %v ± %v for a copy of the training table", copied.Loss,
			copied.StdErr)
	}
	fresh := stattest.Must(PrivacyLoss(train, holdout, points(900), 1))
	if math.Abs(fresh.Loss) > 5*fresh.StdErr || fresh.Train.Rows != 700 ||
		fresh.Holdout.Rows != 700 {
		t.Errorf("privacy loss %v ± %v of %d and %d rows for new rows", fresh.Loss,
			fresh.StdErr, fresh.Train.Rows, fresh.Holdout.Rows)
	}
	if a, b := train.sample(300, 1), train.sample(300, 1); a.Len() != 300 ||
		!slices.Equal(a.x, b.x) || slices.Equal(a.x, train.sample(300, 2).x) {
		t.Errorf("a sample of %d points does not depend on its seed, and on nothing else", a.Len())
	}
}

func TestNearestDistances(t *testing.T) {
	s := schemaOf(t, category("a", 3), optional(number("b", 10)))
	rows := func(d Distance, rows ...[]int) *Points {
		return pointsOf(t, tableOf(t, s, rows...), d)
	}
	query := [][]int{{0, 0}, {1, 10}, {2, 5}}
	reference := [][]int{{0, 5}, {1, 10}, {2, 10}} // bins of one tenth; code 10 is missing
	for _, test := range []struct {
		distance      Distance
		first, second []float64
	}{
		{Euclidean, []float64{.5, 0, 1}, []float64{math.Sqrt2, 1, 1}},
		{Gower, []float64{.25, 0, .5}, []float64{1, .5, .5}},
	} {
		first, second, err := Nearest(rows(test.distance, query...),
			rows(test.distance, reference...))
		stattest.Check(t, err)
		for i := range first {
			if !near(first[i], test.first[i], 1e-6) || !near(second[i], test.second[i], 1e-6) {
				t.Errorf("distance %d, row %d: %v and %v, want %v and %v", test.distance, i,
					first[i], second[i], test.first[i], test.second[i])
			}
		}
	}
	if d := rows(Euclidean, query[0]).others(); !math.IsInf(d[0], 1) {
		t.Errorf("a lone row has a neighbour at %v", d[0])
	}
}
