package pld

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A pld is a privacy-loss distribution on the grid k·h: it gives mass[i] to the loss (lo+i)·h and
// inf to +∞. Its privacy profile
//
//	δ(ε) = inf + Σ_k mass_k·(1 − e^{ε − kh})₊
//
// is an upper bound of the event's own, moved right by shift: δ_event(ε) ≤ δ(ε − shift) for every
// real ε. The masses are non-negative and may sum to a little more than 1. Upper bounds compose:
// the profile of a product is an integral of the profile of one factor against the other,
// non-negative, measure, so it grows with either (Zhu, Dong, Wang 2022, theorem 10,
// https://arxiv.org/abs/2106.08567).
type pld struct {
	lo    int
	mass  []float64
	inf   float64
	count float64 // the event is composed this often
	shift float64 // ≥ 0: rounding of the losses
}

// maxBins bounds the length of a grid, and so memory: about 50 bytes a bin.
const maxBins = 1 << 21

// Moving probability so that it lands on the grid. Let a cell [a, b] of the grid, b = a+h, hold
// losses with probability p under P and probability q under Q, so q = E[e^{−L}] over the cell. The
// profile of the cell is convex in α = e^ε; it is p − αq below e^a and 0 above e^b. The masses w_a
// + w_b = p with w_a·e^{−a} + w_b·e^{−b} = q have the chord of that function as their profile, so
// they are an upper bound, the least on this grid (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
// 2022, "Connect the dots", https://arxiv.org/abs/2207.04380). They remain one if p is replaced by
// something larger or q by something smaller; and if that leaves no non-negative w_a, p at b is
// one.

// pair is a dominating pair (P, Q) on the real line whose privacy loss ln(dP/dQ) increases with the
// point.
type pair interface {
	loss(x float64) float64
	point(loss float64) float64       // the inverse of loss; ±Inf beyond its range
	masses(i interval) (p, q float64) // each with a relative error of massError
	// P has at most tail outside [−x, x]; mu bounds the slope of the loss
	reach(tail float64) (x, mu float64)
}

// discretize puts a pair on the grid h. It reports false if that needs more than maxBins.
func discretize(pr pair, h, tail, count float64) (pld, bool) {
	x, mu := pr.reach(tail)
	first, last := math.Floor(pr.loss(-x)/h), math.Ceil(pr.loss(x)/h)
	last = math.Max(last, first+1) // losses that are all 0 need a cell too
	if !(last-first < maxBins) || math.Abs(first) > 1<<50 || math.Abs(last) > 1<<50 {
		return pld{}, false
	}
	bins := int(last - first)
	d := pld{lo: int(first), mass: make([]float64, bins+1), inf: tail, count: count}
	// The cells on the line have float64 ends, exactly; their losses differ from the grid's by no more
	// than this.
	d.shift = 32 * ulp * (1 + x*mu + mu*mu + h*math.Max(math.Abs(first), math.Abs(last)))
	less := 1 - massError - d.shift - 4*ulp
	a := pr.point(first * h)
	for i := range bins {
		top := (first + float64(i+1)) * h
		b := math.Max(a, pr.point(top))
		p, q := pr.masses(interval{a, b, b - a})
		p *= 1 + massError
		d.put(i, p, q*less*math.Exp(top), h)
		a = b
	}
	d.mass[0] += tail // the losses below the grid are rounded up
	// A distribution that lacks mass is no upper bound, and would make all that it is composed with
	// look cheap.
	return d, floats.Sum(d.mass) > 1-1e-9
}

// put splits the mass p of cell i, where qe is q·e^b.
func (d *pld) put(i int, p, qe, h float64) {
	low := 0.0
	if qe > p && !math.IsInf(qe, 1) {
		low = math.Min(p, (qe-p)/math.Expm1(h))
	}
	d.mass[i] += low
	d.mass[i+1] += p - low
}

// atom is probability at one privacy loss.
type atom struct{ loss, mass float64 }

// onGrid puts atoms in any order on the grid h. The masses have a relative error of atomError, the
// losses one of a few ulps.
func onGrid(atoms []atom, h, count float64) (pld, bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, a := range atoms {
		lo, hi = math.Min(lo, a.loss), math.Max(hi, a.loss)
	}
	first, last := math.Floor(lo/h), math.Floor(hi/h)+1
	if !(last-first < maxBins) || math.Abs(first) > 1<<50 || math.Abs(last) > 1<<50 {
		return pld{}, false
	}
	d := pld{lo: int(first), mass: make([]float64, int(last-first)+2), count: count}
	d.shift = 32 * ulp * (1 + math.Max(math.Abs(lo), math.Abs(hi)))
	for _, a := range atoms {
		k := math.Floor(a.loss / h)
		mass := a.mass * (1 + atomError)
		// The part that goes to the upper end keeps E[e^{−L}]; Expm1(kh − loss)/Expm1(−h) is in [0, 1] up
		// to the shift.
		up := math.Min(1, math.Max(0, math.Expm1(k*h-a.loss)/math.Expm1(-h)))
		i := int(k - first)
		d.mass[i] += mass * (1 - up)
		d.mass[i+1] += mass * up
	}
	return d, true
}

// atomError bounds the relative error of an atom's mass.
const atomError = 1e-12

// responseAtoms are the losses of randomised response, the dominating pair of every ε-DP mechanism
// (Kairouz, Oh, Viswanath 2017).
func responseAtoms(epsilon float64) []atom {
	p := 1 / (1 + math.Exp(-epsilon))
	return []atom{{-epsilon, math.Exp(-epsilon) * p}, {epsilon, p}}
}
