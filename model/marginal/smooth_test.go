package marginal

import (
	"math"
	"math/rand/v2"
	"testing"
)

func noisyColumn(
	truth func(i int) float64, k int, sigma float64, u *rand.Rand,
) (m Measurement, exact []float64) {
	m = Measurement{Cols: []int{0}, Sigma: sigma}
	for i := range k {
		exact = append(exact, truth(i))
		m.Counts = append(m.Counts, exact[i]+sigma*u.NormFloat64())
	}
	return m, exact
}

func squaredError(a, b []float64) (sum float64) {
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}

// TestSmooth: over 40 draws, much less error where neighbours agree, also beside a peak; no more
// than a little where they do not.
func TestSmooth(t *testing.T) {
	for _, tt := range []struct {
		name  string
		k     int
		truth func(i int) float64
		most  float64 // squared error beside that of the raw counts
	}{
		{"flat", 100, func(int) float64 { return 500 }, .1},
		{"slope", 85, func(i int) float64 { return 12 * float64(85-i) }, .35},
		{"peaks on a plain", 99, func(i int) float64 { return 100 + 20000*float64(i%40/39) }, .3},
		{"nothing in common", 64, func(i int) float64 { return float64(i * 7919 % 64 * 60) }, 1.1},
		{"sixteen codes", 16, func(i int) float64 { return float64(i / 8 * 5000) }, .6},
		{"few codes", 15, func(int) float64 { return 500 }, 1},
	} {
		u, raw, smooth, sum := rand.New(rand.NewPCG(1, 2)), 0.0, 0.0, 0.0
		for range 40 {
			m, exact := noisyColumn(tt.truth, tt.k, 150, u)
			s := Smooth(m, 1e9)
			raw += squaredError(m.Counts, exact)
			smooth += squaredError(s.Counts, exact)
			if s.Sigma > m.Sigma || s.Sigma < m.Sigma/4 {
				t.Fatalf("%s: sigma %v of %v", tt.name, s.Sigma, m.Sigma)
			}
			sum = 0
			for i := range m.Counts {
				sum += m.Counts[i] - s.Counts[i]
			}
			if math.Abs(sum) > 1e-6 {
				t.Fatalf("%s: the sum moved by %v", tt.name, sum)
			}
		}
		if smooth > tt.most*raw {
			t.Errorf("%s: %.2f of the error is left, want %v", tt.name, smooth/raw, tt.most)
		}
	}
}

// TestSmoothLeavesAlone what it is not made for.
func TestSmoothLeavesAlone(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	flat := func(int) float64 { return 9 }
	pair, _ := noisyColumn(flat, 64, 5, u)
	pair.Cols = []int{0, 1}
	cells, _ := noisyColumn(flat, 64, 5, u)
	cells.Sigmas = make([]float64, 64)
	drowned, _ := noisyColumn(flat, 64, 5, u) // in noise of 40 rows
	for _, m := range []Measurement{pair, cells, drowned} {
		if s := Smooth(m, 39); &s.Counts[0] != &m.Counts[0] {
			t.Errorf("%v was smoothed", m.Cols)
		}
	}
}

// TestSmoothLongLists: of a long list some shifts are as good as all, and take no n² steps.
func TestSmoothLongLists(t *testing.T) {
	const k = 3000 // with its mirror image 8192 cells, eight times the shifts
	src := rand.New(rand.NewPCG(1, 2))
	truth := make([]float64, k)
	m := Measurement{Cols: []int{0}, Counts: make([]float64, k), Sigma: 10}
	for i := range truth {
		truth[i] = 100 * math.Exp(-float64(i)/500)
		m.Counts[i] = truth[i] + 10*src.NormFloat64()
	}
	before, after := 0.0, 0.0
	for i, x := range Smooth(m, 1e9).Counts {
		before += (m.Counts[i] - truth[i]) * (m.Counts[i] - truth[i])
		after += (x - truth[i]) * (x - truth[i])
	}
	if after > before/10 {
		t.Errorf("squared error %v, before %v", after, before)
	}
	// minutes at n²
	Smooth(Measurement{Cols: []int{0}, Counts: make([]float64, 1<<14), Sigma: 1}, 1e9)
}
