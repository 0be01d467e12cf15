package attack

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// direction is a linear score of features, learnt from the pilot runs.
type direction struct {
	weights []float64
	shift   float64   // expected difference of the scores of neighbours
	out     []float64 // scores of the pilot runs on Out
	strong  []float64 // and on Strong
}

// learn is Fisher's linear discriminant between runs on Out and on Strong, weights ∝ (S +
// ridge)⁻¹·(mean Strong − mean Out), in which S is the covariance of the runs on Out. strength is
// how many units the tables differ by.
func learn(out, strong [][]float64, strength int) direction {
	n, p := float64(len(out)), len(out[0])
	mean, sd, diff := make([]float64, p), make([]float64, p), make([]float64, p)
	for k := range p {
		for _, x := range out {
			mean[k] += x[k] / n
		}
		for _, x := range out {
			sd[k] += (x[k] - mean[k]) * (x[k] - mean[k]) / (n - 1)
		}
		for _, x := range strong {
			diff[k] += (x[k] - mean[k]) / float64(len(strong))
		}
		sd[k] = math.Sqrt(sd[k])
		// A feature that does not vary at all is worth a great deal if it differs, and nothing else.
		if floor := 1e-9 * (math.Abs(mean[k]) + math.Abs(diff[k])); sd[k] <= floor {
			sd[k] = max(floor, math.SmallestNonzeroFloat64*1e30)
		}
		diff[k] /= sd[k]
	}
	// Few runs estimate a covariance badly: shrink the correlations as much as there are too few.
	shrink := min(.5, .02+float64(p)/(2*n))
	s := mat.NewSymDense(p, nil)
	for a := range p {
		for b := range a + 1 {
			sum := 0.0
			for _, x := range out {
				sum += (x[a] - mean[a]) / sd[a] * (x[b] - mean[b]) / sd[b]
			}
			sum *= (1 - shrink) / (n - 1)
			if a == b {
				sum += shrink
			}
			s.SetSym(a, b, sum)
		}
	}
	d := direction{weights: make([]float64, p)}
	var chol mat.Cholesky
	w := mat.NewVecDense(p, nil)
	if !chol.Factorize(s) || chol.SolveVecTo(w, mat.NewVecDense(p, diff)) != nil {
		w = mat.NewVecDense(p, diff)
	}
	for k := range p {
		d.weights[k] = w.AtVec(k) / sd[k]
		d.shift += w.AtVec(k) * diff[k] / float64(strength)
	}
	for _, x := range out {
		d.out = append(d.out, d.score(x))
	}
	for _, x := range strong {
		d.strong = append(d.strong, d.score(x))
	}
	return d
}

// score is the linear score of a run; a feature that is not a number counts as 0.
func (d direction) score(x []float64) float64 {
	sum := 0.0
	for k, w := range d.weights {
		if v := w * x[k]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += v
		}
	}
	return sum
}
