package pld

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// A profile is an upper bound of the privacy profile of a composition, made by composing PLDs.
//
// The convolution is done by FFT on tilted masses. With M = Σ_k mass_k·e^{λkh} the tilted
// distribution mass_k·e^{λkh}/M composes like the original, and with p the composed one and M the
// product,
//
//	δ(ε) = inf + M·Σ_{kh > ε} p_k·e^{−λkh}·(1 − e^{ε−kh})
//
// λ is chosen so that M·e^{−λε}, the Chernoff bound of δ(ε), is small at the ε of interest. An
// error of p, whether from the floating point of the FFT or from mass outside the window of the
// cyclic convolution, is multiplied by M·e^{−λε} too: it is a relative error, so that δ = 1e-12 is
// as certain as δ = 0.1. Untilted, the rounding noise of the FFT alone would be of that size.
type profile struct {
	h      float64
	lambda float64
	logM   float64
	first  int       // p[i] is at the loss (first+i)·h
	p      []float64 // may have small negative entries
	// bound on Σ_{kh > ε} |error of p_k|·e^{−λ(kh−ε)}: rounding, and the mass that wrapped around
	err   float64
	inf   float64
	grow  float64 // the true masses are within a factor e^{±grow}
	shift float64
	top   float64 // no loss but +∞ is above it
}

const (
	// windowTail is the tilted mass allowed outside each end of the window, by Chernoff's bound.
	windowTail = 1e-10
	// fftError·log2(N) bounds the relative L2 error of one FFT of length N: each butterfly level adds
	// η = μ + γ₄(√2 + μ), where μ ≤ 12 ulp is the error of gonum's twiddle factors, sin and cos of an
	// angle up to 2π with three roundings (Higham 2002, Accuracy and stability, theorem 24.2).
	fftError = 20 * ulp
	// tiltError bounds the relative error of a tilted mass: an exponent up to maxTilt, and up to
	// resync multiplications.
	tiltError = 1e-12
	maxTilt   = 600
	resync    = 256
	// sumError bounds the relative error of evaluating the two sums of δ(ε).
	sumError = 1e-9
)

// compose returns the profile of the terms, all on the grid h. If it would need more than maxBins,
// or its error bound is vacuous, it returns false and the factor by which to widen the grid.
func compose(terms []pld, h, lambda float64) (profile, float64, bool) {
	for _, d := range terms {
		lambda = math.Min(lambda, maxTilt/(h*float64(len(d.mass))))
	}
	c := profile{h: h, lambda: lambda}
	tilted := make([][]float64, len(terms))
	steps, mean, variance, kept, excess := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, d := range terms {
		p, logM := d.tilt(lambda, h)
		tilted[i] = p
		m, v := moments(p, d.lo)
		c.logM += d.count * logM
		mean += d.count * m * h
		variance += d.count * v * h * h
		kept += d.count * math.Log1p(-d.inf)
		excess += d.count * math.Max(0, floats.Sum(d.mass)+d.inf-1)
		c.shift += d.count * d.shift
		c.top += d.count * h * float64(d.lo+len(d.mass)-1)
		steps += d.count
	}
	// ∏(F+p) − ∏F for finite mass F ≤ 1−p+x and infinite mass p is at most e^{Σx}(1 − ∏(1−p)).
	c.inf = -math.Expm1(kept) * math.Exp(excess)
	c.grow = steps*(tiltError+2*massError) + sumError
	lo, hi := window(terms, h, lambda, c.logM, mean, math.Sqrt(variance))
	need := (hi-lo)/h + 4
	if !(need <= maxBins) {
		return profile{}, math.Max(1.01, need/maxBins), false
	}
	n := 64
	for float64(n) < need {
		n *= 2
	}
	c.first = int(math.Floor((lo+hi)/2/h)) - n/2
	if !c.convolve(terms, tilted, n) {
		return profile{}, 2, false
	}
	return c, 1, true
}

// convolve fills p and err.
func (c *profile) convolve(terms []pld, tilted [][]float64, n int) bool {
	fft := fourier.NewFFT(n)
	perLevel := fftError * math.Log2(float64(n))
	root := math.Sqrt(float64(n))
	folded := make([]float64, n)
	product := make([]complex128, n/2+1)
	for i := range product {
		product[i] = 1
	}
	var coeff []complex128
	// A transform with L2 error e has |ẑ| ≤ 1 up to e pointwise, so a product of powers has an L2
	// error of at most Σ count·e·(1+e)^Σcount.
	worst, sum, smallest := 0.0, 0.0, 1.0
	for i, d := range terms {
		clear(folded)
		for j, x := range tilted[i] {
			folded[mod(d.lo+j, n)] += x
		}
		norm := floats.Norm(folded, 2)
		worst += d.count * perLevel * root * norm
		sum += d.count * (perLevel + 4*ulp) * norm
		smallest = math.Min(smallest, norm)
		coeff = fft.Coefficients(coeff, folded)
		for j, z := range coeff {
			product[j] *= power(z, int64(d.count))
		}
	}
	if !(worst < 0.5) {
		return false
	}
	cyclic := fft.Sequence(folded, product)
	c.p = make([]float64, n)
	for i := range c.p {
		c.p[i] = cyclic[mod(c.first+i, n)] / float64(n)
	}
	// By Cauchy and Schwarz an L2 error e counts as at most e·√(Σ_{j>0} e^{−2λjh}) ≤ e/√(1 −
	// e^{−2λh}); it has N terms at most.
	weights := math.Min(float64(n), -1/math.Expm1(-2*c.lambda*c.h))
	c.err = 2*math.Sqrt(weights)*(sum+perLevel*smallest) + 4*windowTail
	return true
}

// power returns z^n, n ≥ 1; its relative error is at most 2n·√5 ulps.
func power(z complex128, n int64) complex128 {
	for n%2 == 0 {
		z *= z
		n /= 2
	}
	result := z
	for n /= 2; n > 0; n /= 2 {
		z *= z
		if n%2 == 1 {
			result *= z
		}
	}
	return result
}

// tilt returns mass_k·e^{λkh}/M and ln M. The weight of the rightmost mass is 1 before division, so
// nothing overflows.
func (d pld) tilt(lambda, h float64) (p []float64, logM float64) {
	p = make([]float64, len(d.mass))
	sum := 0.0
	d.weigh(lambda, h, func(i int, w float64) {
		p[i] = d.mass[i] * w
		sum += p[i]
	})
	for i := range p {
		p[i] /= sum
	}
	return p, math.Log(sum) + lambda*h*float64(d.lo+len(d.mass)-1)
}

// logMGF returns ln Σ_k mass_k·e^{skh}.
func (d pld) logMGF(s, h float64) float64 {
	sum, end := 0.0, len(d.mass)-1
	d.weigh(s, h, func(i int, w float64) { sum += d.mass[i] * w })
	if s < 0 {
		end = 0
	}
	return math.Log(sum) + s*h*float64(d.lo+end)
}

// weigh calls f(i, w) for every i, from the end with the larger weight on, where w is 1.
func (d pld) weigh(s, h float64, f func(i int, w float64)) {
	step, w := math.Exp(-math.Abs(s)*h), 1.0
	last := len(d.mass) - 1
	for j := range d.mass {
		if j%resync == 0 {
			w = math.Exp(-math.Abs(s) * h * float64(j))
		}
		if s < 0 {
			f(j, w)
		} else {
			f(last-j, w)
		}
		w *= step
	}
}

// window returns an interval outside which the tilted composition has at most windowTail at each
// end: for any s > 0, P(L > b) ≤ exp(K(λ+s) − K(λ) − sb), and the mirror image.
func window(terms []pld, h, lambda, logM, mean, sd float64) (lo, hi float64) {
	logMGF := func(s float64) float64 {
		sum := 0.0
		for _, d := range terms {
			sum += d.count * d.logMGF(s, h)
		}
		return sum
	}
	least, most := 0.0, 0.0 // the ends of the support
	for _, d := range terms {
		least += d.count * h * float64(d.lo)
		most += d.count * h * float64(d.lo+len(d.mass)-1)
	}
	lo, hi = least, most
	width := math.Sqrt(-2*math.Log(windowTail)) / math.Max(sd, h)
	// The best s is near width if the tail is Gaussian, and smaller if it is heavier, which losses
	// above 0 can have.
	for _, s := range []float64{width / 64, width / 16, width / 4, width / 2, width} {
		hi = math.Min(hi, (logMGF(lambda+s)-logM-math.Log(windowTail))/s)
	}
	for _, s := range []float64{width / 4, width / 2, width} {
		lo = math.Max(lo, -(logMGF(lambda-s)-logM-math.Log(windowTail))/s)
	}
	return math.Min(lo, mean), math.Max(hi, mean)
}

// scan calls f at the grid points from the top of the window down, until it returns false. On the
// cell from loss to loss + h the profile is
//
//	δ(loss + x) = inf + scale·(a − e^x·b)      up to scale·err
//
// It reports whether f stopped it.
func (c profile) scan(f func(loss, scale, a, b float64) bool) bool {
	a, b := 0.0, 0.0 // Σ_{j>k} p_j·e^{−λ(j−k)h} and the same with λ+1
	fallA, fallB := math.Exp(-c.lambda*c.h), math.Exp(-(c.lambda+1)*c.h)
	for i := len(c.p) - 1; i >= 0; i-- {
		loss := float64(c.first+i) * c.h
		if !f(loss, math.Exp(c.logM-c.lambda*loss), a, b) {
			return true
		}
		a, b = (a+c.p[i])*fallA, (b+c.p[i])*fallB
	}
	return false
}

// upper returns an ε ≥ 0 at which the composition is (ε, delta)-DP, or +Inf.
func (c profile) upper(delta float64) float64 {
	delta *= math.Exp(-c.grow)
	epsilon := math.Inf(1)
	if c.inf <= delta {
		epsilon = math.Max(0, c.top) * (1 + 1e-12)
	}
	c.scan(func(loss, scale, a, b float64) bool {
		if c.inf+scale*(a-b+c.err) <= delta {
			epsilon = math.Max(0, loss)
			return loss > 0
		}
		// The profile crosses delta between loss and the last epsilon, where a − rb + err = (delta −
		// inf)/scale.
		if r := (a + c.err - (delta-c.inf)/scale) / b; b > 0 {
			epsilon = math.Min(epsilon, math.Max(0, loss+math.Log(math.Max(1, r))))
		}
		return false
	})
	return epsilon + c.shift
}

// deltaAt returns a δ at which the composition is (epsilon, δ)-DP.
func (c profile) deltaAt(epsilon float64) float64 {
	epsilon -= c.shift
	delta := 1.0
	c.scan(func(loss, scale, a, b float64) bool {
		if loss > epsilon {
			return true
		}
		x := math.Min(c.h, epsilon-loss)
		delta = (c.inf + scale*(a-math.Exp(x)*b+c.err)) * math.Exp(c.grow)
		return false
	})
	return math.Min(1, delta)
}

func mod(k, n int) int {
	if k %= n; k < 0 {
		k += n
	}
	return k
}

// moments returns the mean and variance of lo + i under the probabilities p.
func moments(p []float64, lo int) (mean, variance float64) {
	for i, v := range p {
		mean += v * float64(lo+i)
	}
	for i, v := range p {
		d := float64(lo+i) - mean
		variance += v * d * d
	}
	return mean, variance
}
