package attack

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
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
	n, p := len(out), len(out[0])
	standard, sd, diff := mat.NewDense(n, p, nil), make([]float64, p), make([]float64, p)
	for k := range p {
		x := feature(out, k)
		mean, deviation := stat.MeanStdDev(x, nil)
		sd[k], diff[k] = deviation, stat.Mean(feature(strong, k), nil)-mean
		// A feature that does not vary at all is worth a great deal if it differs, and nothing else.
		if floor := 1e-9 * (math.Abs(mean) + math.Abs(diff[k])); sd[k] <= floor {
			sd[k] = max(floor, math.SmallestNonzeroFloat64*1e30)
		}
		diff[k] /= sd[k]
		floats.AddConst(-mean, x)
		floats.Scale(1/sd[k], x)
		standard.SetCol(k, x)
	}
	// Few runs estimate a covariance badly: shrink the correlations as much as there are too few.
	shrink := min(.5, .02+float64(p)/float64(2*n))
	var s mat.SymDense
	stat.CovarianceMatrix(&s, standard, nil)
	s.ScaleSym(1-shrink, &s)
	for k := range p {
		s.SetSym(k, k, s.At(k, k)+shrink)
	}
	d := direction{weights: make([]float64, p)}
	var chol mat.Cholesky
	w := mat.NewVecDense(p, nil)
	if !chol.Factorize(&s) || chol.SolveVecTo(w, mat.NewVecDense(p, diff)) != nil {
		w = mat.NewVecDense(p, diff)
	}
	for k := range p {
		d.weights[k] = w.AtVec(k) / sd[k]
		d.shift += w.AtVec(k) * diff[k] / float64(strength)
	}
	d.out, d.strong = d.scores(out), d.scores(strong)
	return d
}

// feature is one feature of all runs.
func feature(runs [][]float64, k int) (out []float64) {
	for _, x := range runs {
		out = append(out, x[k])
	}
	return out
}

// scores are the linear scores of runs; a feature that is not a number counts as 0.
func (d direction) scores(runs [][]float64) (out []float64) {
	for _, x := range runs {
		sum := 0.0
		for k, w := range d.weights {
			if v := w * x[k]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum += v
			}
		}
		out = append(out, sum)
	}
	return out
}
