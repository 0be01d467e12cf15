package matrix

import "math"

// Adam holds the moments of the update of Kingma and Ba (2015, arXiv 1412.6980, algorithm 1) for
// one slice of parameters.
type Adam struct {
	Beta1, Beta2 float32 // decay of the moments, in [0, 1)
	Epsilon      float32 // > 0, added to the root of the second moment
	M, V         []float32
	Steps        int // taken so far
}

// NewAdam returns the state for n parameters, all moments zero, with epsilon 1e-8.
func NewAdam(n int, beta1, beta2 float32) *Adam {
	return &Adam{Beta1: beta1, Beta2: beta2, Epsilon: 1e-8, M: make([]float32, n),
		V: make([]float32, n)}
}

// adamStep holds beta1, 1−beta1, beta2, 1−beta2, rate and epsilon, the last two with the correction
// of the bias.
type adamStep [6]float32

// Update takes one step against gradient: with m and v the moments,
//
//	w ← w − rate · (m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε).
func (a *Adam) Update(w, gradient []float32, rate float32) {
	same("Adam", len(a.M), len(w), len(gradient), len(a.V))
	a.Steps++
	t := float64(a.Steps)
	fix1 := 1 - math.Pow(float64(a.Beta1), t)
	fix2 := math.Sqrt(1 - math.Pow(float64(a.Beta2), t))
	c := adamStep{a.Beta1, 1 - a.Beta1, a.Beta2, 1 - a.Beta2, float32(float64(rate) * fix2 / fix1),
		float32(float64(a.Epsilon) * fix2)}
	n := 0
	if vectors && len(w) >= 8 {
		n = len(w) &^ 7
		adamAVX2(n, &w[0], &a.M[0], &a.V[0], &gradient[0], &c)
	}
	for i, g := range gradient[n:] {
		m := c[0]*a.M[n+i] + c[1]*g
		v := c[2]*a.V[n+i] + c[3]*(g*g)
		a.M[n+i], a.V[n+i] = m, v
		w[n+i] -= c[4] * m / (float32(math.Sqrt(float64(v))) + c[5])
	}
}
