package pld

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Of samples: against another library, and the binomial sum of Mironov, Talwar and Zhang for
// integer orders, which is a second derivation.
func TestSampleMGF(t *testing.T) {
	for _, row := range readOracle(t).RDP {
		got := sampleMGF(row.Rate, 1/row.NoiseMultiplier, row.Adjacency)(row.Alpha-1) / (row.Alpha - 1)
		if got < row.RDP*(1-1e-13) || got > row.RDP*(1+3e-9)+1e-12 {
			t.Errorf("%+v: %v, want it from above", row, got)
		}
	}
	for _, q := range []float64{1e-4, .01, .3, .99} {
		for _, z := range []float64{.4, 1, 6} {
			for _, alpha := range []int{2, 3, 8, 33} {
				terms, most := make([]float64, alpha+1), math.Inf(-1)
				for k := range terms {
					a, _ := math.Lgamma(float64(alpha + 1))
					b, _ := math.Lgamma(float64(k + 1))
					c, _ := math.Lgamma(float64(alpha - k + 1))
					terms[k] = a - b - c + float64(alpha-k)*math.Log(1-q) + float64(k)*math.Log(q) +
						float64(k*(k-1))/(2*z*z)
					most = math.Max(most, terms[k])
				}
				sum := 0.0
				for _, x := range terms {
					sum += math.Exp(x - most)
				}
				want := most + math.Log(sum)
				got := sampleMGF(q, 1/z, accountant.AddRemove)(float64(alpha - 1))
				if got < want-1e-13*(1+want) || got > want*(1+1e-11)+1e-12*float64(alpha) {
					t.Errorf("q %v z %v α %d: %v, want %v", q, z, alpha, got, want)
				}
			}
		}
	}
	// Near q = 1 it is that of a Gaussian, under replace-one of half the noise.
	for adj, mu2 := range map[accountant.Adjacency]float64{accountant.AddRemove: 1. / 9,
		accountant.ReplaceOne: 4. / 9} {
		if got := sampleMGF(1-1e-9, 1./3, adj)(4); !near(got, gaussianMGF(mu2)(4), 1e-6) {
			t.Errorf("%v: %v, want %v", adj, got, gaussianMGF(mu2)(4))
		}
	}
}

// Of randomised response: the sum over its two outcomes. Of any bounded-range pair: brute force
// over t.
func TestPureMGFs(t *testing.T) {
	for _, epsilon := range []float64{1e-3, .1, 1, 5, 30} {
		for _, lambda := range []float64{.1, 1, 19, 300} {
			p := 1 / (1 + math.Exp(-epsilon))
			want := lambda*epsilon + math.Log(p+(1-p)*math.Exp(-2*lambda*epsilon))
			if got := responseMGF(epsilon)(lambda); got < want*(1-1e-12)-1e-15 ||
				got > want*(1+1e-9)+1e-3*epsilon*epsilon {
				t.Errorf("ε %v λ %v: response %v, want %v", epsilon, lambda, got, want)
			}
			got, best := rangeMGF(epsilon)(lambda), 0.0
			for i := 1; i < 4000; i++ {
				x := float64(i) / 4000 * epsilon
				p := math.Expm1(x-epsilon) / math.Expm1(-epsilon)
				best = math.Max(best, lambda*x+math.Log(p+(1-p)*math.Exp(-lambda*epsilon)))
			}
			if got < best*(1-1e-12)-1e-13 || got > best*(1+1e-3)+1e-12 ||
				got > lambda*math.Min((lambda+1)*epsilon*epsilon/8, epsilon) {
				t.Errorf("ε %v λ %v: range %v, brute force %v", epsilon, lambda, got, best)
			}
		}
	}
}

// TestRDPIsAnUpperBound: it is above the grid, and where the grid is, not far.
func TestRDPIsAnUpperBound(t *testing.T) {
	for _, c := range []accountant.Composition{
		events(times(subsampled(.1, 2), 200)), events(times(exponential(.1), 15)),
		events(times(laplace(.1), 20), times(approx(.2, 1e-9), 9), times(filter(.3), 1)),
	} {
		rdp, err := RDP(c, 1e-6, accountant.AddRemove)
		got := mustEpsilon(t, c, 1e-6, accountant.AddRemove)
		if err != nil || got.Method != "pld" || rdp.Epsilon < got.Epsilon ||
			rdp.Epsilon > 1.2*got.Epsilon {
			t.Errorf("%v: %+v by Rényi DP (%v), %+v on the grid", c, rdp, err, got)
		}
	}
}
