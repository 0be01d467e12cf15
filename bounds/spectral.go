package bounds

import "math"

// spectralWork is how many multiplications a layer's spectral norm may take; a larger layer gets
// its Frobenius norm.
const spectralWork = 1 << 28

// spectralNorm bounds ‖W‖₂, the largest singular value, of a rows × cols matrix from above.
//
// With G = WWᵀ or WᵀW, whichever is smaller, ‖W‖₂² is G's largest eigenvalue. Power iteration would
// give a number below it; this is one above: a symmetric matrix has no eigenvalue beyond its
// Frobenius norm, and taking that of G⁸ in place of G brings it within a factor n^{1/16} of the
// largest. (Schatten norms: Horn and Johnson, Matrix Analysis, section 7.4.7.) Rounding is added at
// each step.
func spectralNorm(w []float64, rows, cols int) float64 {
	f := frobenius(w)
	n, terms := min(rows, cols), max(rows, cols)
	if work := float64(n) * float64(n) * float64(terms+3*n); f == 0 || n == 1 ||
		work > spectralWork {
		return f
	}
	if rows < cols { // columns of the shorter side side by side
		turned := make([]float64, len(w))
		for i := range rows {
			for j := range cols {
				turned[j*rows+i] = w[i*cols+j]
			}
		}
		w = turned
	}
	// Each entry of G is within γ of Σ|terms|, so the whole is within γ·‖W‖_F² in the Frobenius
	// norm.
	g := gram(w, n)
	return min(f, math.Sqrt(largestEigenvalue(g, n, 3)+gamma(terms+2, unit64)*f*f)*inflate)
}

// largestEigenvalue bounds |λ| for every eigenvalue λ of the symmetric n × n matrix h: λ² is one of
// h², and so on for each of the squarings.
func largestEigenvalue(h []float64, n, squarings int) float64 {
	f := frobenius(h)
	if squarings == 0 || f == 0 {
		return f
	}
	_, e := math.Frexp(f)
	for i := range h { // a power of two: exact, and squares stay in range
		h[i] = math.Ldexp(h[i], -e)
	}
	f = math.Ldexp(f, -e)
	square := gram(h, n)
	return math.Ldexp(math.Sqrt(largestEigenvalue(square, n,
		squarings-1)+gamma(n+2, unit64)*f*f)*inflate, e)
}

// gram is AᵀA of a matrix with n columns.
func gram(a []float64, n int) []float64 {
	g := make([]float64, n*n)
	for ; len(a) > 0; a = a[n:] {
		row := a[:n]
		for i, x := range row {
			if x == 0 {
				continue
			}
			for j, y := range row[i:] {
				g[i*n+i+j] += x * y
			}
		}
	}
	for i := range n {
		for j := range i {
			g[i*n+j] = g[j*n+i]
		}
	}
	return g
}

// frobenius bounds the root of the sum of squares.
func frobenius(w []float64) float64 {
	sum := 0.
	for _, x := range w {
		sum += x * x
	}
	return math.Sqrt(sum) * inflate
}
