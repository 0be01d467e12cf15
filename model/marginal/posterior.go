package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// shapes are those of the gamma priors, a factor of about √10 apart; the first priorShapes are
// those of a code, the others those of many codes together. A small shape stands for few codes that
// hold nearly all rows, a large one for codes of equal counts.
var shapes = []float64{.03, .1, .3, 1, 3, 10, 30, 100}

const priorShapes = 5

// tiltSteps bounds the iterations; a dozen do.
const tiltSteps = 200

// expected returns the expected counts given noisy ones, y, whose noise is normal with standard
// deviations sigma, and their sum n > 0. codes says how many codes each count stands for, 1 if it
// is nil. The prior is that shares of codes have a symmetric Dirichlet distribution; its shape is
// one of five, weighted by how well they explain y (empirical Bayes).
//
// Given the shape α, counts are independent gammas conditioned on their sum. That condition is met
// by tilting: x_i has a density ∝ x^(α−1)·exp(λx − (x − y_i)²/2σ_i²), λ such that the means sum to
// n; the likelihood of y is the saddlepoint approximation with the same λ.
func expected(y, sigma, codes []float64, n float64) []float64 {
	tables := gammaNormals()
	var means [priorShapes][]float64
	var logs [priorShapes]float64
	for a := range means {
		at := make([]*gammaNormal, len(y))
		all := 0.0 // the sum of the shapes
		for i := range y {
			more := 0.0
			if codes != nil {
				more = math.Round(2 * math.Log10(codes[i]))
			}
			at[i] = &tables[min(a+int(more), len(shapes)-1)]
			all += at[i].shape
		}
		means[a], logs[a] = tilted(at, y, sigma, n)
		lgamma, _ := math.Lgamma(all)
		logs[a] += lgamma - (all-1)*math.Log(n)
	}
	out, sum, best := make([]float64, len(y)), 0.0, slices.Max(logs[:])
	for a, m := range means {
		w := math.Exp(logs[a] - best)
		sum += w
		for i, x := range m {
			out[i] += w * x
		}
	}
	floats.Scale(1/sum, out)
	return out
}

// tilted returns the means of the tilted counts and the log of their density at the sum n, but for
// what does not depend on the shapes.
func tilted(at []*gammaNormal, y, sigma []float64, n float64) (means []float64, log float64) {
	means = make([]float64, len(y))
	lambda, lo, hi, sum := 0.0, math.Inf(-1), math.Inf(1), 0.0
	for range tiltSteps { // Newton's, kept between the bounds found so far
		variance := math.SmallestNonzeroFloat64
		log, sum = -lambda*n, 0
		for i, g := range at {
			s := sigma[i]
			m := y[i]/s + lambda*s
			k, r := g.at(m)
			means[i] = s * r
			sum += means[i]
			variance += s * s * math.Max(g.shape+m*r-r*r, 0)
			log += k + g.shape*math.Log(s) - g.log
		}
		log -= math.Log(variance) / 2
		if math.Abs(sum-n) < 1e-6*n {
			break
		}
		if sum < n {
			lo = lambda
		} else {
			hi = lambda
		}
		if lambda -= (sum - n) / variance; lambda > lo && lambda < hi {
			continue
		}
		switch lambda = (lo + hi) / 2; {
		case math.IsInf(lo, -1):
			lambda = 2*hi - 1/n
		case math.IsInf(hi, 1):
			lambda = 2*lo + 1/n
		}
	}
	floats.Scale(n/sum, means)
	return means, log
}

// A gammaNormal tabulates the mean R(m) of t > 0 of density ∝ t^(shape−1)·exp(m·t − t²/2), and the
// log K(m) of the integral of that, whose derivative is R, for |m| ≤ end. log is that of Γ(shape).
type gammaNormal struct {
	shape, log, end float64
	k, r            []float64
}

const gammaStep = 1. / 32

// gammaNormals integrates the tables: from t·d/dt of the density, E[t²] = shape + m·R, so that R' =
// shape + m·R − R², which is stable upwards. Runge and Kutta's method of order 4.
var gammaNormals = sync.OnceValue(func() []gammaNormal {
	const h = gammaStep
	out := make([]gammaNormal, len(shapes))
	for i, a := range shapes {
		g := gammaNormal{shape: a, end: math.Ceil(12 + 6*math.Sqrt(a))}
		g.log, _ = math.Lgamma(a)
		slope := func(m, r float64) float64 { return a + m*r - r*r }
		k, r := g.tail(-g.end)
		for m := -g.end; m <= g.end; m += h {
			g.k, g.r = append(g.k, k), append(g.r, r)
			k1 := slope(m, r)
			k2 := slope(m+h/2, r+h/2*k1)
			k3 := slope(m+h/2, r+h/2*k2)
			k4 := slope(m+h, r+h*k3)
			k += h*r + h*h/6*(k1+k2+k3)
			r += h / 6 * (k1 + 2*k2 + 2*k3 + k4)
		}
		out[i] = g
	}
	return out
})

// tail has the first terms of the asymptotic series for large |m|.
func (g *gammaNormal) tail(m float64) (k, r float64) {
	a := g.shape
	if m < 0 {
		return g.log - a*math.Log(-m) - a*(a+1)/(2*m*m), -a / m * (1 - (a+1)/(m*m))
	}
	return m*m/2 + math.Log(2*math.Pi)/2 + (a-1)*math.Log(m) + (a-1)*(a-2)/(2*m*m),
		m + (a-1)/m - (a-1)*(a-2)/(m*m*m)
}

// at interpolates.
func (g *gammaNormal) at(m float64) (k, r float64) {
	x := (m + g.end) / gammaStep
	if !(x >= 0 && x < float64(len(g.r)-1)) {
		return g.tail(m)
	}
	i := int(x)
	x -= float64(i)
	return g.k[i] + x*(g.k[i+1]-g.k[i]), g.r[i] + x*(g.r[i+1]-g.r[i])
}

// cutNormalMean is E[t | t ≥ 0] for t ~ N(mu, sigma²). Far below zero the ratio of density to tail
// is replaced by its asymptote, where the mean is σ²/|μ|.
func cutNormalMean(mu, sigma float64) float64 {
	a := mu / sigma
	if a < -25 {
		return sigma / -a
	}
	density := math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
	tail := math.Erfc(-a/math.Sqrt2) / 2
	return mu + sigma*density/tail
}

// cutNormal draws t ≥ 0 of t ~ N(mu, sigma²) (Robert, Simulation of truncated normal variables,
// Statistics and Computing 5, 1995: where 0 is above the mean, from an exponential law).
func cutNormal(mu, sigma float64, u *rand.Rand) float64 {
	a := math.Min(-mu/sigma, 1e9) // beyond, an exponential law to the last digit
	rate := (a + math.Sqrt(a*a+4)) / 2
	for {
		if a <= 0 {
			if x := mu + sigma*u.NormFloat64(); x >= 0 {
				return x
			}
			continue
		}
		above := u.ExpFloat64() / rate
		if d := a + above - rate; u.Float64() < math.Exp(-d*d/2) {
			return sigma * above
		}
	}
}

// closest replaces x by the non-negative numbers of the given sum that are closest to it, by Σ(x' −
// x)²/V: x' = max(0, x − λV). A cell that would be negative is 0, for any λ that follows (Michelot,
// Journal of Optimization Theory and Applications 50, 1986).
func closest(x, variance []float64, total float64) {
	zero := make([]bool, len(x))
	for {
		sum, weight := -total, 0.0
		for i, v := range variance {
			if !zero[i] {
				sum, weight = sum+x[i], weight+v
			}
		}
		lambda, again := sum/weight, false
		for i, v := range variance {
			if !zero[i] && x[i] < lambda*v {
				zero[i], again = true, true
			}
		}
		if again {
			continue
		}
		for i, v := range variance {
			if x[i] -= lambda * v; zero[i] {
				x[i] = 0
			}
		}
		return
	}
}

// surer is by how much the sum of squares of a rule is less than that of independent columns: a
// likelihood e⁵ times as large.
const surer = 10

// emptyCells says which cells of a table over columns of these sizes are empty by a rule, given
// counts y with normal noise of standard deviations sigma; independent columns expect n·mu. A model
// close to independent columns keeps rows there.
//
// A line holds the k cells that differ in the code of one column. The rule is that all of its rows
// are in its largest cell. It is taken to hold if it explains the counts, with a sum of squares
//
//	Σ ((y − expected)/σ)² ≤ k + √(2k),
//
// the mean and one deviation of that of noise, and far better than independent columns do. Where
// these are right instead, it is found with a probability of at most k·e⁻⁵: the mean of a
// likelihood ratio is 1, and there is one for each cell that may be the largest. It is not looked
// for where independent columns have more than four fifths of the line in the largest cell: the few
// rows of a rare class that noise hides there are what a prediction is made of.
func emptyCells(y, sigma, mu []float64, n float64, sizes []int) []bool {
	empty, apart := make([]bool, len(y)), len(y)
	for _, k := range sizes {
		width := apart
		apart /= k
		for first := range y {
			if first%width >= apart {
				continue // not the first of a line
			}
			total, top, rule, independent := 0.0, first, 0.0, 0.0
			for i := first; i < first+width; i += apart {
				m := n * mu[i]
				a, b := y[i]/sigma[i], (y[i]-m)/sigma[i]
				total, rule, independent = total+m, rule+a*a, independent+b*b
				if y[i] > y[top] {
					top = i
				}
			}
			a, b := y[top]/sigma[top], (y[top]-total)/sigma[top]
			rule += b*b - a*a
			if 5*n*mu[top] <= 4*total && rule <= float64(k)+math.Sqrt(2*float64(k)) &&
				rule+surer < independent {
				for i := first; i < first+width; i += apart {
					empty[i] = i != top
				}
			}
		}
	}
	return empty
}
