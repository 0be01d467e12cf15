package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"gonum.org/v1/gonum/mat"
)

// TestSpectralNormAgainstSVD: never below the largest singular value, within the factor n^{1/32}
// (and rounding) above it, and never above the Frobenius norm, for matrices of all shapes, ranks
// and sizes.
func TestSpectralNormAgainstSVD(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 9))
	for _, shape := range [][2]int{{1, 1}, {1, 7}, {9, 1}, {2, 2}, {5, 8}, {40, 13}, {13, 40},
		{64, 64}, {120, 33}} {
		rows, cols := shape[0], shape[1]
		for _, kind := range []string{"normal", "rank one", "orthogonal", "one large",
			"nearly equal"} {
			for _, scale := range []float64{1, 1e-18, 1e18} {
				w := make([]float64, rows*cols)
				right := make([]float64, cols)
				for j := range right {
					right[j] = u.NormFloat64()
				}
				for i := range rows {
					left := u.NormFloat64()
					for j := range cols {
						x := u.NormFloat64()
						switch kind {
						case "rank one":
							x = left * right[j]
						case "orthogonal":
							x = 0
							if i == j {
								x = 1
							}
						case "one large":
							if i == j && i == 0 {
								x = 100
							}
						case "nearly equal":
							x = 1 + 1e-7*x
						}
						w[i*cols+j] = scale * x
					}
				}
				var svd mat.SVD
				if !svd.Factorize(mat.NewDense(rows, cols, append([]float64(nil), w...)),
					mat.SVDNone) {
					t.Fatal("no singular values")
				}
				want := svd.Values(nil)[0]
				got := spectralNorm(w, rows, cols)
				most := want * math.Pow(float64(min(rows, cols)), 1./32) * (1 + 1e-6)
				if got < want*(1-1e-14) || got > most || got > frobenius(w) {
					t.Errorf("%d × %d, %s, scale %v: %v, singular value %v, at most %v", rows, cols,
						kind, scale, got, want, most)
				}
			}
		}
	}
	if spectralNorm(make([]float64, 6), 2, 3) != 0 {
		t.Error("the norm of 0 is not 0")
	}
}

// A matrix that would take too long gets its Frobenius norm.
func TestSpectralNormOfLargeMatrices(t *testing.T) {
	const n = 500
	w := make([]float64, n*n)
	for i := range n {
		w[i*n+i] = 1
	}
	if got := spectralNorm(w, n, n); got != frobenius(w) {
		t.Errorf("%v, want the Frobenius norm %v", got, frobenius(w))
	}
	if got := spectralNorm(w[:n*100], 100, n); got > 1.2 {
		t.Errorf("%v for 100 unit rows", got)
	}
}

// TestSpectralNormsNeedLessNoise: with a random critic of 215 cells in 15 blocks, the shape of the
// adult table, and 128 units, the penalty's noise by spectral norms is less than a tenth of what
// the thesis's Frobenius norms would need.
func TestSpectralNormsNeedLessNoise(t *testing.T) {
	in := blocks(16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2)
	n := penaltyNetwork(in, 1, 1, 128)
	// as gan.NewCritic draws them
	for l, sd := range []float64{.5 / math.Sqrt(15), 1 / math.Sqrt(128)} {
		u := rand.New(rand.NewPCG(1, uint64(l)))
		for i := range n.Layers[l].Weights {
			n.Layers[l].Weights[i] = float32(sd * u.NormFloat64())
		}
	}
	wide := func(n Network, l int) (w []float64) {
		for _, x := range n.Layers[l].Weights {
			w = append(w, float64(x))
		}
		return w
	}
	p := certifyPenalty(t, n, PenaltyConfig{Adjacency: accountant.AddRemove, Reach: 1})
	a, b := frobenius(wide(n, 0)), frobenius(wide(n, 1))
	thesis := 2 * max(a*b-1, 1) * (math.Sqrt(float64(size(in)*128))*b + math.Sqrt(128)*a)
	t.Logf("%.0f by spectral norms, %.0f by Frobenius norms", p.TotalStd(), thesis)
	if p.TotalStd() > thesis/10 {
		t.Errorf("%v, and by Frobenius norms %v", p.TotalStd(), thesis)
	}
}
