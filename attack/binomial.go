package attack

import (
	"fmt"

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
	// the largest p at which P(X ≥ s) ≤ tail for X ~ Binomial(n, p)
	lower := func(s int) float64 {
		return largest(float64(s)/float64(n), func(p float64) bool { return atLeast(s, n, p) <= tail })
	}
	return lower(successes), 1 - lower(n-successes)
}

// largest is the largest x from 0 to high at which it holds, rounded down; from there on it does
// not.
func largest(high float64, holds func(x float64) bool) float64 {
	low := 0.0
	for range 100 {
		if middle := low + (high-low)/2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
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
