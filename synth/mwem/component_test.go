package mwem

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
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

// cellsIn is the part of every cell of the component by definition.
func cellsIn(c *component, it workload.Item, sizes []int) []int32 {
	part, index := partsOf(it, sizes), c.index(it.Columns())
	out := make([]int32, len(index))
	for i, k := range index {
		out[i] = part[k]
	}
	return out
}

// TestUpdatesByCells makes the paper's updates on classes and on plain cells.
func TestUpdatesByCells(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	sizes, cols := []int{3, 4, 2, 5}, []int{0, 1, 2, 3}
	c := uniform(cols, sizes)
	plain := make([]float64, len(c.class))
	for i := range plain {
		plain[i] = 1 / float64(len(plain))
	}
	got := make([]float64, len(plain))
	for round := range 25 {
		it := randomItem(sizes, cols, u)
		if !it.IsCount() {
			continue
		}
		c.add(round, it.Columns(), partsOf(it, sizes), []float64{1}, 1)
		gap := u.Float64() - .5
		c.multiply(round, gap)
		z := 0.0
		for i, g := range cellsIn(c, it, sizes) {
			if g == 0 {
				plain[i] *= math.Exp(gap / 2)
			}
			z += plain[i]
		}
		for i := range plain {
			plain[i] /= z
		}
		c.weightsTo(got)
		for i := range plain {
			if math.Abs(got[i]-plain[i]) > 1e-12 {
				t.Fatalf("round %d, cell %d: %v, want %v", round, i, got[i], plain[i])
			}
		}
	}
}

// TestFitIsStationary: after enough sweeps every count that some rows can satisfy, and some not,
// has n·q + r·θ = y, the densities are exp Σθ up to a constant, and the fit of a product of
// components is the same as of one component.
func TestFitIsStationary(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	sizes := []int{3, 4, 2, 5}
	const n, shrink, sigma = 1000.0, .7, 20.0
	for trial := range 8 {
		var items []workload.Item
		var ys [][]float64
		for range 8 {
			it := randomItem(sizes, []int{0, 1, 2, 3}, u)
			y := make([]float64, 1)
			if !it.IsCount() {
				y = make([]float64, int(cellsOf(sizes, it.Cols)))
			}
			for i := range y {
				y[i] = n * u.Float64() / float64(len(y))
			}
			items, ys = append(items, it), append(ys, y)
		}
		var densities [2][]float64
		for form, limit := range []int{1000, 0} {
			f, err := newFactored(sizes, items, limit)
			if err != nil {
				t.Fatal(err)
			}
			f.limit = 1000
			for i := range items {
				if err := f.add(i, ys[i], sigma, n, shrink, 400); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range f.comps {
				for _, m := range c.measured {
					q := make([]float64, len(m.y))
					for k, g := range m.group {
						if g >= 0 {
							q[g] += c.mass[k]
						}
					}
					for g := range q {
						if miss := n*q[g] + shrink*m.sigma*m.theta[g] - m.y[g]; math.Abs(
							miss) > .5 && len(m.y) == 1 && q[g] > 0 && q[g] < 1-1e-9 {
							t.Errorf("trial %d, form %d, item %d: off by %v rows", trial,
								form, m.item, miss)
						}
					}
				}
			}
			// The table of all columns, as a product.
			whole := f.comps[0]
			for _, c := range f.comps[1:] {
				whole = whole.times(c, sizes)
			}
			densities[form] = make([]float64, len(whole.class))
			whole.weightsTo(densities[form])
			sum := 0.0
			for _, x := range densities[form] {
				sum += x
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("probabilities sum to %v", sum)
			}
		}
		for i := range densities[0] {
			if d := math.Abs(densities[0][i] - densities[1][i]); d > 2e-3 {
				t.Errorf("trial %d, cell %d: %v as one component, %v as several", trial, i,
					densities[0][i], densities[1][i])
				break
			}
		}
	}
}

// TestRepeatedMeasurement: measuring an item again averages by inverse variance.
func TestRepeatedMeasurement(t *testing.T) {
	sizes := []int{2, 2}
	c := uniform([]int{0, 1}, sizes)
	for _, y := range []float64{10, 16, 22} {
		c.add(5, []int{0}, []int32{0, -1}, []float64{y}, 3)
	}
	if len(c.measured) != 1 || math.Abs(c.measured[0].y[0]-16) > 1e-9 ||
		math.Abs(c.measured[0].sigma-math.Sqrt(3)) > 1e-9 {
		t.Errorf("%+v", c.measured[0])
	}
}

// TestAnswersAcrossComponents: an item that spans components is answered as by their product.
func TestAnswersAcrossComponents(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	sizes := []int{3, 4, 2, 5}
	var items []workload.Item
	for range 40 {
		items = append(items, randomItem(sizes, []int{0, 1, 2, 3}, u))
	}
	f, err := newFactored(sizes, items, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.comps {
		for k := range c.mass {
			c.mass[k] = 1
		}
		part := make([]int32, len(c.class))
		for i := range part {
			part[i] = int32(i)
		}
		c.cut(part, part, len(part))
		sum := 0.0
		for k := range c.mass {
			c.mass[k] = c.size[k] * (.1 + u.Float64())
			sum += c.mass[k]
		}
		for k := range c.mass {
			c.mass[k] /= sum
		}
	}
	f.refresh()
	whole := f.comps[0]
	for _, c := range f.comps[1:] {
		whole = whole.times(c, sizes)
	}
	w := make([]float64, len(whole.class))
	whole.weightsTo(w)
	for i, it := range items {
		got := f.answer(i)
		want := make([]float64, len(got))
		for cell, g := range cellsIn(whole, it, sizes) {
			if g >= 0 {
				want[g] += w[cell]
			}
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-12 {
				t.Fatalf("item %d, part %d: %v, want %v", i, k, got[k], want[k])
			}
		}
	}
}

func TestSolve(t *testing.T) {
	for _, y := range []float64{-500, 0, 3, 400, 1e9} {
		d := solve(y, 20, .5, func(d float64) (float64,
			float64) {
			v := 100 * math.Exp(d)
			return v, v
		})
		if miss := 100*math.Exp(d) + 20*(.5+d) - y; math.Abs(miss) > 1e-4 && math.Abs(d) < 7.99 {
			t.Errorf("y %v: d %v, off by %v", y, d, miss)
		}
	}
}
