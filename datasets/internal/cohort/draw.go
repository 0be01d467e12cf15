package cohort

import (
	"math"
	"math/rand/v2"
)

// A source turns a public seed into the few draws that the simulation needs. Every decision that
// rests on a float64 (a rounding, a threshold, a choice) goes through it, and it keeps the smallest
// distance that any of them had from tipping over. That distance is the proof that the tables do
// not depend on the machine: see [Table.Margin].
type source struct {
	pcg    *rand.PCG
	margin float64
}

func newSource(seed1, seed2 uint64) *source {
	return &source{pcg: rand.NewPCG(seed1, seed2), margin: math.Inf(1)}
}

// note records that a decision was at the given distance from its other side.
func (s *source) note(distance float64) {
	s.margin = math.Min(s.margin, math.Abs(distance))
}

// uniform returns a number in (0, 1): an odd multiple of 2^-54, exact.
func (s *source) uniform() float64 {
	return (float64(s.pcg.Uint64()>>11) + .5) / (1 << 53)
}

// normal returns the centred sum of twelve 32-bit uniforms: mean 0, variance 1, excess kurtosis
// -0.1, never beyond ±6. The sum is one of integers, so that it is the same on every machine, which
// a rejection sampler on floats is not.
func (s *source) normal() float64 {
	var sum int64
	for range 6 {
		u := s.pcg.Uint64()
		sum += int64(u>>32) + int64(u&math.MaxUint32)
	}
	return float64(sum-6*math.MaxUint32) / (1 << 32)
}

// logistic returns a standard logistic variable: P(logistic ≤ x) = 1/(1+e^-x).
func (s *source) logistic() float64 {
	u := s.uniform()
	return math.Log(u / (1 - u))
}

// below reports x < threshold.
func (s *source) below(x, threshold float64) bool {
	s.note(x - threshold)
	return x < threshold
}

// chance is true with probability 1/(1+e^-logit).
func (s *source) chance(logit float64) bool {
	return s.below(s.logistic(), logit)
}

// round returns the integer next to x, held within [lo, hi].
func (s *source) round(x float64, lo, hi int) int {
	n := math.Floor(x + .5)
	s.note(.5 - math.Abs(x-n))
	return min(max(int(n), lo), hi)
}

// step returns how many of the increasing thresholds are at or below x.
func (s *source) step(x float64, thresholds ...float64) int {
	n := 0
	for _, t := range thresholds {
		if !s.below(x, t) {
			n++
		}
	}
	return n
}

// pick returns index i with probability weights[i] / Σ weights.
func (s *source) pick(weights ...float64) int {
	var total float64
	for _, w := range weights {
		total += w
	}
	x := s.uniform() * total
	for i, w := range weights[:len(weights)-1] {
		if s.below(x, w) {
			return i
		}
		x -= w
	}
	return len(weights) - 1
}
