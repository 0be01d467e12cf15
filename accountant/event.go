package accountant

// Event is one call of a mechanism, with the parameters that decide its privacy cost. The set is sealed and the meaning of an
// event never changes; every event is a comparable value.
type Event interface {
	event()
}

// Gaussian is the Gaussian mechanism: noise N(0, σ²I) on a vector with Euclidean sensitivity Δ, z = σ/Δ. It is exactly (1/z)-GDP.
type Gaussian struct {
	NoiseMultiplier float64 // z = σ/Δ > 0
}

// SubsampledGaussian is the Gaussian mechanism on a Poisson sample: each privacy unit is in the sample with probability q, independently.
type SubsampledGaussian struct {
	Rate            float64 // q, 0 < q ≤ 1
	NoiseMultiplier float64 // z = σ/Δ > 0
}

// DiscreteGaussian adds P(x) ∝ exp(−x²/2σ²) on the integers, σ = z·Sensitivity, where one coordinate moves by at most Sensitivity.
type DiscreteGaussian struct {
	NoiseMultiplier float64 // z = σ/Sensitivity > 0
	Sensitivity     int64   // ≥ 1
}

// Laplace is the Laplace mechanism, continuous or discrete, with ε = Δ₁/scale.
type Laplace struct {
	Epsilon float64 // > 0
}

// Exponential is the exponential mechanism P(t) ∝ exp(ε·u(t)/(2Δu)), or any other ε-bounded-range mechanism.
type Exponential struct {
	Epsilon float64 // > 0
}

// Approx is any (ε, δ)-DP step.
type Approx struct {
	Epsilon float64 // ≥ 0
	Delta   float64 // 0 ≤ δ < 1
}

func (Gaussian) event()           {}
func (SubsampledGaussian) event() {}
func (DiscreteGaussian) event()   {}
func (Laplace) event()            {}
func (Exponential) event()        {}
func (Approx) event()             {}
