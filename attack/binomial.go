package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// clopperPearson returns bounds on the probability of an event that occurred in successes of n
// independent trials: each of low and high is wrong with probability at most tail, at every n
// (Clopper & Pearson 1934, Biometrika 26).
//
// It panics unless 0 ≤ successes ≤ n, n > 0 and 0 < tail < 1.
func clopperPearson(successes, n int, tail float64) (low, high float64) {
	if n <= 0 || successes < 0 || successes > n || !(tail > 0 && tail < 1) {
		panic(fmt.Sprintf("attack: %d successes of %d trials, tail %v", successes, n, tail))
	}
	return lowerRate(successes, n, tail), 1 - lowerRate(n-successes, n, tail)
}

// lowerRate is the largest p at which P(X ≥ s) ≤ tail for X ~ Binomial(n, p), rounded down.
func lowerRate(s, n int, tail float64) float64 {
	if s == 0 {
		return 0
	}
	lo, hi := 0.0, float64(s)/float64(n)
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if atLeast(s, n, mid) <= tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// atLeast is P(X ≥ s) for X ~ Binomial(n, p).
func atLeast(s, n int, p float64) float64 {
	switch {
	case s <= 0:
		return 1
	case s > n:
		return 0
	}
	return mathext.RegIncBeta(float64(s), float64(n-s)+1, p)
}

// logChoose is ln C(n, k).
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// binomial is P(X = k) for X ~ Binomial(n, p), 0 < p < 1.
func binomial(k, n int, p float64) float64 {
	return math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
