package synth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/workload"
)

// randomItem is a count over one to three columns, or a marginal.
func randomItem(sizes, cols []int, u *rand.Rand) workload.Item {
	pick := u.Perm(len(cols))[:1+u.IntN(min(3, len(cols)))]
	var touched []int
	var x table.And
	for _, k := range pick {
		allow := make([]bool, sizes[cols[k]])
		for i := range allow {
			allow[i] = u.IntN(2) == 0
		}
		touched = append(touched, cols[k])
		x = append(x, table.Condition{Column: cols[k], Allow: allow})
	}
	slices.Sort(touched)
	if u.IntN(3) == 0 {
		return workload.Item{Cols: touched}
	}
	return workload.Item{Where: x}
}

// randomHistogram is uniform over four of five columns.
func randomHistogram(t *testing.T, items int, u *rand.Rand) *histogram {
	sizes := []int{3, 4, 7, 2, 5}
	var list []workload.Item
	for range items {
		list = append(list, randomItem(sizes, []int{0, 1, 3, 4}, u))
	}
	h := stattest.Must(newHistogram(sizes, list))
	if items > 1 && len(h.p) != 120 {
		t.Fatalf("%d cells", len(h.p))
	}
	return h
}

// TestAnswersAreOfCells: whatever is measured, each answer is the sum of its cells.
func TestAnswersAreOfCells(t *testing.T) {
	h := randomHistogram(t, 25, rand.New(rand.NewPCG(1, 2)))
	for item := range h.items {
		y := make([]float64, len(h.answers[item]))
		for k := range y {
			y[k] = float64(item * 40 / len(y))
		}
		h.add(item, y, 20)
		h.fit(1000)
		for other := range h.items {
			want := make([]float64, len(h.answers[other]))
			for cell, g := range h.parts(h.items[other]) {
				if int(g) < len(want) {
					want[g] += h.p[cell]
				}
			}
			for k, x := range h.answers[other] {
				if math.Abs(x-want[k]) > 1e-12 {
					t.Fatalf("item %d, part %d: %v, want %v", other, k, x, want[k])
				}
			}
		}
	}
}

// TestFitIsStationary: after enough sweeps every count that some rows can satisfy, and some not,
// has n·q + r·θ = y.
func TestFitIsStationary(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	const n, sigma = 1000.0, 20.0
	for trial := range 8 {
		h := randomHistogram(t, 8, u)
		for i := range h.items {
			y := make([]float64, len(h.answers[i]))
			for k := range y {
				y[k] = n * u.Float64() / float64(len(y))
			}
			h.add(i, y, sigma)
			for range 20 {
				h.fit(n)
			}
		}
		for _, m := range h.measured {
			if len(m.y) > 1 {
				continue
			}
			q := h.answers[m.item][0]
			if miss := n*q + shrink*sigma*m.theta[0] - m.y[0]; math.Abs(miss) > .5 && q > 0 &&
				q < 1-1e-9 {
				t.Errorf("trial %d, item %d: off by %v rows", trial, m.item, miss)
			}
		}
		sum := 0.0
		for _, x := range h.p {
			sum += x
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("probabilities sum to %v", sum)
		}
	}
}

// TestRepeatedMeasurement: measuring an item again averages by inverse variance.
func TestRepeatedMeasurement(t *testing.T) {
	h := randomHistogram(t, 1, rand.New(rand.NewPCG(5, 6)))
	for _, y := range []float64{10, 16, 22} {
		h.add(0, slices.Repeat([]float64{y}, len(h.answers[0])), 3)
	}
	if len(h.measured) != 1 || math.Abs(h.measured[0].y[0]-16) > 1e-9 ||
		math.Abs(h.measured[0].sigma-math.Sqrt(3)) > 1e-9 {
		t.Errorf("%+v", h.measured[0])
	}
}
