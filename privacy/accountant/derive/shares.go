package derive

import (
	"math"
	"math/big"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// SharesDelta bounds the δ at ε of sums that parties have added noise shares to, each sum and its
// sensitivity chosen after those before (Kairouz, Liu, Steinke 2021, theorem 1: see
// [accountant.Shares.Rho]; then Canonne, Kamath, Steinke 2020, proposition 12):
//
//	δ ≤ e^((α−1)(αρ−ε))·(1 − 1/α)^α/(α − 1)   for every α > 1, the best of which is looked for
//
// It is 1 where there is no bound, or numbers are out of all proportion.
func SharesDelta(sums []accountant.Shares, epsilon float64) float64 {
	rho := number(0)
	for _, s := range sums {
		if !(float64(s.Sigma*s.Sigma) >= .5 && s.Sigma < 1e100 && s.Sensitivity > 0 &&
			s.Sensitivity < 1e100) || s.Honest < 1 || s.Honest > 1000 || s.Cells < 1 {
			return 1
		}
		n, d := number(float64(s.Honest)), number(float64(s.Cells))
		variance := product(number(s.Sigma), number(s.Sigma))
		tau, twoPi := number(0), product(pi(precision), number(-2))
		for k := 1; k < s.Honest; k++ {
			x := product(product(twoPi, pi(precision)), product(variance, number(float64(k))))
			tau = sum(tau, product(number(10), exp(quotient(x, number(float64(k+1))))))
		}
		square := quotient(product(number(s.Sensitivity), number(s.Sensitivity)), product(n, variance))
		first := sum(square, product(tau, product(d, number(.5))))
		second := sum(root(square), product(tau, root(d)))
		if second = product(second, second); second.Cmp(first) < 0 {
			first = second
		}
		rho = sum(rho, product(first, number(.5)))
	}
	at := func(t float64) float64 { // α = 1 + 2^t
		less := number(math.Exp2(t))
		alpha := sum(less, number(1))
		x := product(less, sum(product(alpha, rho), number(-epsilon)))
		x = sum(x, product(alpha, logBelowOne(quotient(number(1), alpha))))
		if x.Cmp(number(-maxLoss)) < 0 || x.Cmp(number(maxLoss)) > 0 {
			return 1
		}
		delta, _ := quotient(exp(x), less).Float64()
		return math.Min(1, delta)
	}
	best := -10.
	for t := best; t < 15; t += .5 {
		if at(t) < at(best) {
			best = t
		}
	}
	for step := .25; step > 1e-5; step /= 2 { // the bound is close to a parabola there
		for _, t := range []float64{best - step, best + step} {
			if at(t) < at(best) {
				best = t
			}
		}
	}
	return at(best)
}

func root(x *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sqrt(x) }

// logBelowOne is ln(1 − x), 0 < x < 1: −2·(y + y³/3 + y⁵/5 + ...) at y = x/(2 − x). It is cut off
// at 2000 terms: where x is close to 1 it comes out larger than it is.
func logBelowOne(x *big.Float) *big.Float {
	y := quotient(x, sum(number(2), product(x, number(-1))))
	out, term, square := number(0), y, product(y, y)
	for k := 1.; k < 4000 && term.MantExp(nil) > -precision; k += 2 {
		out = sum(out, quotient(term, number(k)))
		term = product(term, square)
	}
	return product(out, number(-2))
}
