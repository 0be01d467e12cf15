package pld

import "math"

// The dominating pairs of the Gaussian mechanism on a Poisson sample, in units of σ, with μ = 1/z.
// N(m) is N(m, 1).
//
// Let one unit's vector be g under one neighbour and g′ under the other, ‖g‖, ‖g′‖ ≤ μ. Given the
// rest of the sample, whose sum may be taken as the origin, the outputs are (1−q)N(0) + qN(g) and
// (1−q)N(0) + qN(g′); mixing over the rest only brings them closer (joint convexity). For a test f
// with E_{N(0)}f = Φ(−t), Neyman and Pearson give E_{N(g)}f ≤ Φ(μ−t) and E_{N(g′)}f ≥ Φ(−μ−t). So
// for α ≥ 1
//
//	E_P f − α·E_Q f = q·E_{N(g)}f − αq·E_{N(g′)}f − (1−q)(α−1)·E_{N(0)}f
//	               ≤ q·Φ(μ−t)   − αq·Φ(−μ−t)    − (1−q)(α−1)·Φ(−t)
//
// with equality on the line for g = μ, g′ = −μ and the half-line f = 1(x > t). For α < 1 exchange P
// and Q. This is the pair for replace-one; for add-remove the unit is absent on one side, g′ = 0
// there, and the same argument gives (1−q)N(0) + qN(μ) against N(0), in both orders.

// gaussianPair is N(μ) against N(0): the loss is μx − μ²/2.
type gaussianPair struct{ mu float64 }

func (g gaussianPair) loss(x float64) float64     { return g.mu*x - g.mu*g.mu/2 }
func (g gaussianPair) point(loss float64) float64 { return loss/g.mu + g.mu/2 }
func (g gaussianPair) masses(i interval) (p, q float64) {
	return normalMass(i.shifted(-g.mu)), normalMass(i)
}
func (g gaussianPair) reach(tail float64) (x, mu float64) { return normalReach(tail) + g.mu, g.mu }

// normalReach is an x with Φ(−x) ≤ tail: Φ(−x) ≤ e^{−x²/2}/2.
func normalReach(tail float64) float64 { return math.Sqrt(-2 * math.Log(tail)) }

// removePair is (1−q)N(0) + qN(μ) against N(0): the table with the unit against the one without.
type removePair struct{ q, mu float64 }

func (r removePair) loss(x float64) float64 {
	return math.Log1p(r.q * math.Expm1(r.mu*x-r.mu*r.mu/2))
}

func (r removePair) point(loss float64) float64 {
	ratio := math.Expm1(loss) + r.q // q·dN(μ)/dN(0), with an error of a few ulps of e^loss
	if loss < -0.5 {
		ratio = math.Exp(loss) - (1 - r.q)
	}
	if ratio <= 0 {
		return math.Inf(-1)
	}
	return math.Log(ratio/r.q)/r.mu + r.mu/2
}

func (r removePair) masses(i interval) (p, q float64) {
	q = normalMass(i)
	return (1-r.q)*q + r.q*normalMass(i.shifted(-r.mu)), q
}

func (r removePair) reach(tail float64) (x, mu float64) { return normalReach(tail) + r.mu, r.mu }

// addPair is N(0) against (1−q)N(0) + qN(μ), reflected so that the loss increases.
type addPair struct{ q, mu float64 }

func (a addPair) loss(x float64) float64     { return -removePair(a).loss(-x) }
func (a addPair) point(loss float64) float64 { return -removePair(a).point(-loss) }
func (a addPair) masses(i interval) (p, q float64) {
	q, p = removePair(a).masses(interval{-i.b, -i.a, i.width})
	return p, q
}
func (a addPair) reach(tail float64) (x, mu float64) { return normalReach(tail), a.mu }

// replacePair is (1−q)N(0) + qN(μ) against (1−q)N(0) + qN(−μ). The reverse pair is its reflection.
type replacePair struct{ q, mu float64 }

func (r replacePair) loss(x float64) float64 {
	plus := removePair(r)
	return plus.loss(x) - plus.loss(-x)
}

// point solves the quadratic in w = e^{μx}, κ = e^{−μ²/2}: qκw² − (1−q)(e^L − 1)w − qκe^L = 0, w =
// e^{L/2}·(s + √(s²+1)), s = (1−q)·sinh(L/2)/(qκ).
func (r replacePair) point(loss float64) float64 {
	s := (1 - r.q) * math.Sinh(loss/2) / r.q * math.Exp(r.mu*r.mu/2)
	return (loss/2 + math.Asinh(s)) / r.mu
}

func (r replacePair) masses(i interval) (p, q float64) {
	centre := (1 - r.q) * normalMass(i)
	return centre + r.q*normalMass(i.shifted(-r.mu)), centre + r.q*normalMass(i.shifted(r.mu))
}

func (r replacePair) reach(tail float64) (x, mu float64) {
	return normalReach(tail) + r.mu, 2 * r.mu
}
