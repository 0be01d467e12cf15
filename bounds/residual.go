package bounds

import (
	"math"
)

// residual is what mode [Residual] takes off a row's gradient before noise is added, because the
// sum of the inputs, released once with noise of its own, already tells it.
//
// # The predictor
//
// Let x be a row's input and δ_j ∈ [lo, hi], M_j = (lo+hi)/2. Then
//
//	∇W¹_ij = x_i·δ_j = M_j·x_i + x_i·(δ_j − M_j).
//
// The first part is linear in x: summed over the batch it needs the sum of x only, d numbers in
// place of d·h. The second is a unit like the others with half-width (hi−lo)/2 in place of
// max(|lo|, |hi|): for one hidden layer of LeakyReLU(.2) .4·|w_j| in place of |w_j|, and nothing at
// all for a hidden unit that is always on or always off. In the same way, with one hidden layer,
// for s_j ∈ [lo, hi]
//
//	∇W²_j = φ(s_j) = κ_j·s_j + (φ(s_j) − κ_j·s_j),   κ_j = (φ(hi) − φ(lo))/(hi − lo),
//
// and s_j is linear in x. φ − κs is convex and equal at both ends, least at the kink, so its range
// is (1−α)·hi·|lo|/(hi+|lo|) wide.
//
// So the released vector is (Σx, Σ residuals), an invertible integer-linear function of (Σx, Σg):
// see [Certificate.EncodeTo]. The ellipsoid of the released vector is computed as for any other,
// with weights: noise on x_i reaches the gradient with variance ω_i = Σ_j M_ij² + Σ_j κ_j²·W_ij² (W
// centred in its block, as Σ_r x_r is the number of rows), and S² is the total variance of the
// gradient.
//
// Why this is allowed: M, κ and W depend on the weights alone, so the map is public; the proof is
// that of [ellipsoid] for another vector.
type residual struct {
	slope []int64 // M, inputs × units, in steps of F
	// κ_j·W_ij, inputs × units, in steps of F; nil unless there is exactly one hidden layer
	linear []int64
}

// shift takes the middle of an interval of δ_j off it, for count cells from input i on. Without a
// residual it does nothing.
func (b *builder) shift(delta *interval, i, count, j int) {
	if b.residual == nil {
		return
	}
	h := b.n.sizes[1]
	steps := math.Floor((delta.lo + delta.hi) / (2 * b.f))
	delta.lo -= steps * b.f
	delta.hi -= steps * b.f
	for c := range count {
		b.residual.slope[(i+c)*h+j] = int64(steps)
	}
}

// output records the residuals of the output layer's weights, from coordinate k on, and the
// predictor of s_j. One hidden layer.
//
// What is released of a row is v_j = x̂_j − Σ_i P_ij·x_i with P = κ_j·(W_ij − mean of the block)
// rounded to F. With s the exact sum s = b_j + Σ W_ij x_i, Σ P_ij·x_i is κ_j·(s − b_j − Σ means) up
// to ½F·|x_i| for each term that is not zero. The computed s is within the slack of the exact one,
// and x̂ within ½F of φ of it, which has a rounding of its own.
func (b *builder) output(k int) {
	h := b.n.sizes[1]
	b.residual.linear = make([]int64, b.in.size*h)
	kappa, offset := make([]float64, h), make([]float64, h)
	for j, s := range b.r.pre[0] {
		kappa[j] = chord(s, b.n.slope)
		offset[j] = float64(b.n.layers[0].Bias[j])
	}
	reach := float64(len(b.in.fields)) // Σ|x_i| of a row
	for _, f := range b.in.fields {
		mean := make([]float64, h)
		for c := range f.cells {
			for j := range mean {
				mean[j] += b.n.first(f.offset+c, j) / float64(f.cells)
			}
		}
		for c := range f.cells {
			p := b.residual.linear[(f.offset+c)*h:][:h]
			for j := range p {
				p[j] = int64(math.Round(kappa[j] * (b.n.first(f.offset+c, j) - mean[j]) / b.f))
			}
		}
		for j := range offset {
			offset[j] += mean[j]
		}
	}
	out := span{from: k, to: k + h}
	for j, s := range b.r.pre[0] {
		rest := func(s float64) float64 { return max(s, b.n.slope*s) - kappa[j]*s }
		i := interval{rest(s.lo), rest(s.lo)}
		for _, at := range []float64{s.hi, max(s.lo, min(s.hi, 0))} {
			i = interval{min(i.lo, rest(at)), max(i.hi, rest(at))}
		}
		// One slack for the critic's s_j, two for the float64 roundings of this function: n+2 of
		// them a term, at most.
		err := b.f*(1+reach)/2 + slack(1, s.size()) + 3*b.r.slack[j]
		shift := kappa[j] * offset[j]
		i = interval{i.lo + shift, i.hi + shift}.widen(err).rounded(b.grid)
		d, t := b.halve(i.lo, i.hi)
		b.scales[k+j], b.centre[k+j] = d, t
		out.sum += d
	}
	b.singles = append(b.singles, out)
}

// chord is the slope of φ between the ends of s.
func chord(s interval, slope float64) float64 {
	switch {
	case s.lo >= 0:
		return 1
	case s.hi <= 0:
		return slope
	}
	return (s.hi - slope*s.lo) / (s.hi - s.lo)
}

// sums records the units of the released sum of inputs, coordinates 0..inputs-1, after all
// predictors are known. A block's is a simplex of side 1: c equal for its cells, centre 1/m.
func (b *builder) sums() {
	for _, f := range b.in.fields {
		variance := 0.
		for c := range f.cells {
			variance += b.weight(f.offset + c)
		}
		m := float64(f.cells)
		t := b.down(1 / m)
		for c := range f.cells {
			b.scales[f.offset+c], b.centre[f.offset+c] = 1, b.steps(t)
		}
		b.add(unit{first: f.offset, stride: 1, count: f.cells, e: math.Sqrt(variance),
			norm: (1-t)*(1-t) + (m-1)*t*t}, 0, 1)
	}
}

// weight is ω_i, the variance that unit noise on the sum of input i brings to the gradient, and a
// step of the grid for an input that predicts nothing.
func (b *builder) weight(i int) float64 {
	h, sum := b.n.sizes[1], 0.
	for _, p := range b.residual.slope[i*h:][:h] {
		sum += float64(p) * float64(p)
	}
	if b.residual.linear != nil {
		for _, p := range b.residual.linear[i*h:][:h] {
			sum += float64(p) * float64(p)
		}
	}
	return sum*b.f*b.f + b.grid*b.grid
}
