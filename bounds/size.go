package bounds

import (
	"fmt"
	"math"
)

// SizeGradientTo sets gradient, a network of the same shape as n, to the derivative with respect to
// n's weights and biases of the size S of its certificate (TotalStd for units of one row), and
// returns S. S depends on public weights only, so a penalty on it in the critic's loss costs no
// privacy and buys smaller noise. For networks with one hidden layer, modes Blocks and Residual.
//
// It is the derivative of S before rounding to the grid, where that exists; S has kinks where a
// bound of a pre-activation is 0 and where two cells tie for the least or largest weight, and one
// side's derivative is used there. All units' sizes but those of W² are proportional to |w_j|, w =
// W², as δ_j = φ'(s_j)·w_j and the bounds of φ' are constant between kinks. The rest follows from
// the half-widths of φ(s_j) (of its residual in mode Residual) and the weights ω by the chain rule.
//
// Errors are those of [Certify], and [ErrConfig] for another mode, shape or for lengths that do not
// fit.
func SizeGradientTo[T Float](gradient, n Network[T], in *Input, c Config) (size float64,
	err error) {
	if c.Mode != Blocks && c.Mode != Residual || len(n.Layers) != 2 {
		return 0, fmt.Errorf(
			"bounds: %w: the size has a gradient in modes blocks and residual with one hidden layer", ErrConfig)
	}
	net, err := load(n, in.size)
	if err != nil {
		return 0, err
	}
	for l, layer := range n.Layers {
		if len(gradient.Layers) != 2 || len(gradient.Layers[l].Weights) != len(layer.Weights) ||
			len(gradient.Layers[l].Bias) != len(layer.Bias) {
			return 0, fmt.Errorf("bounds: %w: the gradient's shape is not the network's", ErrConfig)
		}
	}
	if c, err = c.checked(); err != nil {
		return 0, err
	}
	b, err := measure(net, in, c)
	if err != nil {
		return 0, err
	}
	s := slope{b: b, h: net.sizes[1], root: 1, w: make([]float64, net.w[0].len()),
		bias: make([]float64, net.sizes[1]), out: make([]float64, net.sizes[1])}
	if b.replace {
		s.root = 2
	}
	s.proportional()
	for j, bounds := range b.r.pre[0] {
		lo, hi := s.halfWidth(bounds)
		s.bounds(j, lo, hi)
	}
	if b.residual != nil {
		s.sums()
	}
	store(gradient.Layers[0].Weights, s.w)
	store(gradient.Layers[0].Bias, s.bias)
	store(gradient.Layers[1].Weights, s.out)
	clear(gradient.Layers[1].Bias)
	b.factor = 1
	size, _ = b.solve()
	return size, nil
}

// slope is ∂S for a network with one hidden layer of h units.
type slope struct {
	b            *builder // measured, not solved: scales hold d
	h            int
	root         float64   // √q of a single coordinate
	w, bias, out []float64 // ∂S/∂W¹, ∂S/∂b¹, ∂S/∂W²
}

// proportional adds, for each hidden unit j, what is proportional to |w_j|: the units of the first
// layer's weights and biases.
func (s *slope) proportional() {
	b, units := s.b, s.b.units
	for _, f := range b.in.fields {
		for j := range s.h {
			if f.cells > 0 {
				s.out[j] += units[j].e * math.Sqrt(units[j].q)
			} else {
				s.out[j] += s.root * b.scales[b.first+f.offset*s.h+j]
			}
		}
		if f.cells > 0 {
			units = units[s.h:] // block recorded one a hidden unit, in order
		}
	}
	for j := range s.out {
		s.out[j] += s.root * b.scales[b.first+b.in.size*s.h+j]
		s.out[j] = s.perWeight(j, s.out[j])
	}
}

// perWeight is x/w_j, or 0, which is a subgradient of |w_j| too, where w_j is lost in the grid.
func (s *slope) perWeight(j int, x float64) float64 {
	w := s.b.n.w[1].at(j)
	if math.Abs(w) < 2*s.b.f {
		return 0
	}
	return x / w
}

// halfWidth is the derivative of the size of the unit of W²_j with respect to the bounds of s_j.
func (s *slope) halfWidth(i interval) (lo, hi float64) {
	alpha, half := s.b.n.slope, s.root/2
	if s.b.residual == nil {
		at := func(x float64) float64 {
			if x >= 0 {
				return half
			}
			return half * alpha
		}
		return -at(i.lo), at(i.hi)
	}
	if i.lo >= 0 || i.hi <= 0 {
		return 0, 0
	}
	// half·(1−α)·hi·|lo|/(hi+|lo|)
	width := i.hi - i.lo
	return -half * (1 - alpha) * i.hi * i.hi / (width * width),
		half * (1 - alpha) * i.lo * i.lo / (width * width)
}

// bounds adds the derivative with respect to W¹ and b¹, given those with respect to the bounds of
// s_j.
func (s *slope) bounds(j int, lo, hi float64) {
	b := s.b
	s.bias[j] += lo + hi
	for k, f := range b.in.fields {
		at := func(c int) int { return (f.offset+c)*s.h + j }
		if f.cells == 0 {
			x, w := b.r.act[0][f.offset], b.n.w[0].at(at(0))
			if w < 0 {
				x = interval{x.hi, x.lo}
			}
			s.w[at(0)] += lo*x.lo + hi*x.hi
			continue
		}
		least, most := false, false
		for c := range f.cells {
			if w := b.n.w[0].at(at(c)); w == b.r.least[k][j] && !least {
				s.w[at(c)] += lo
				least = true
			}
			if w := b.n.w[0].at(at(c)); w == b.r.most[k][j] && !most {
				s.w[at(c)] += hi
				most = true
			}
		}
	}
}

// sums adds the derivative of the units of the inputs' sum, e_f·√q with e_f² = Σ_i (Σ_j M_ij² + Σ_j
// P_ij²) (times d² for a scalar), P_ij = κ_j·(W_ij − mean). Deviations from a mean: ∂/∂W_ij =
// ∂/∂P_ij·κ_j, as the P of a block sum to 0.
func (s *slope) sums() {
	b := s.b
	units := b.units[len(b.units)-len(b.in.fields):]
	chords, slopes := make([]float64, s.h), make([]float64, s.h) // κ, and ∂S/∂κ
	for j, i := range b.r.pre[0] {
		chords[j] = chord(i, b.n.slope)
	}
	for k, f := range b.in.fields {
		g := math.Sqrt(units[k].q) / units[k].e
		if f.cells == 0 {
			g *= b.scales[f.offset] * b.scales[f.offset]
		}
		for at := f.offset * s.h; at < (f.offset+f.width())*s.h; at++ {
			j := at % s.h
			m, p := float64(b.residual.slope[at])*b.f, float64(b.residual.linear[at])*b.f
			s.out[j] += s.perWeight(j, g*m*m)
			s.w[at] += g * p * chords[j]
			if chords[j] > 0 {
				slopes[j] += g * p * p / chords[j]
			}
		}
	}
	for j, i := range b.r.pre[0] {
		if i.lo < 0 && i.hi > 0 {
			width := i.hi - i.lo
			each := slopes[j] * (1 - b.n.slope) / (width * width)
			s.bounds(j, each*i.hi, -each*i.lo)
		}
	}
}

// store converts src to dst.
func store[T Float](dst []T, src []float64) {
	for i, x := range src {
		dst[i] = T(x)
	}
}
