// Package noise draws exact discrete noise on secret randomness.
//
// It holds a source of randomness, three noise distributions ([DiscreteLaplace], [RoundedGaussian],
// [DiscreteGaussian]) and the exponential mechanism, [Select]. It knows no data, no ε and no
// sensitivity: turning a scale into a privacy claim is for the caller. It is not a source of public
// randomness, reproducible or fast; for weights and sampling there is math/rand/v2.
//
// # Exact
//
// Exact means that the distribution of a result is the named one, with the float64 parameter read
// as the rational number m·2^e that it is, provided the words of the source are independent and
// uniform. No probability is rounded. Each decision with probability p compares a uniform U with p.
// The first 63 or 64 binary digits of U against a proven interval around p decide almost always;
// when they do not, more digits of U are drawn and p is computed with math/big until they do.
// Floating point appears in those intervals only, never in a result, and each interval's proof is
// beside it.
//
// # Range
//
// Scales are limited to [[MinScale], [MaxScale]], and a result that does not fit an int64 is an
// event that no run sees: its probability is below exp(−2^14) for the discrete Laplace and
// exp(−2^27) for the Gaussian. The law is exact even there: a draw is the value modulo 2^64, and
// what is released, (q + noise) mod 2^64 by Go's wrapping addition, is a function of q + noise.
//
// # What exactness does not hide
//
// Running time depends on the random numbers and, in Select, on the scores. A caller who publishes
// how long a draw took publishes something about the noise (Jin, McMurtry, Rubinstein, Ohrimenko
// 2022, arXiv 2112.05307).
//
// Sources: Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", arXiv
// 2004.00010 (CKS below); Karney 2016, "Sampling exactly from the normal distribution", ACM TOMS
// 42(1), arXiv 1303.6257.
package noise

import (
	"errors"
	"fmt"
	"math"
)

// The range of every scale and standard deviation, in units of what the noise is added to.
const (
	MinScale = 0x1p-10
	MaxScale = 0x1p48
)

// ErrParameter is wrapped by every error of this package.
var ErrParameter = errors.New("parameter out of range")

// checkScale refuses what is not in [MinScale, MaxScale], NaN included.
func checkScale(name string, x float64) error {
	if !(x >= MinScale && x <= MaxScale) {
		return fmt.Errorf("%w: %s %v is not in [2^-10, 2^48]", ErrParameter, name, x)
	}
	return nil
}

// split returns m and e with x = m·2^e, 2^52 ≤ m < 2^53, for positive finite x.
func split(x float64) (m uint64, e int) {
	f, e := math.Frexp(x)
	return uint64(f * (1 << 53)), e - 53
}
