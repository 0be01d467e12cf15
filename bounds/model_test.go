package bounds

import (
	"math"
	"math/rand/v2"
)

// row is one point of a domain: the active cell of each block.
type row []float64

// randomRow draws cells uniformly.
func randomRow(u *rand.Rand, in *Input) row {
	x := make(row, len(in.fields))
	for k, field := range in.fields {
		x[k] = float64(u.IntN(field.cells))
	}
	return x
}

// dense is the input vector of a row.
func (x row) dense(in *Input) []float64 {
	out := make([]float64, in.size)
	for k, field := range in.fields {
		out[field.offset+int(x[k])] = 1
	}
	return out
}

// Float is what the model computes in: the precision of the weights or a better one.
type Float interface{ float32 | float64 }

// order is a way to sum that the model of arithmetic allows.
type order int

const (
	forwards  order = iota
	backwards       // with fused multiply-add
	pairwise
	orders
)

// dot is Σ a_i·b_i + c in T.
func dot[T Float](o order, a, b []T, c T) T {
	switch o {
	case forwards:
		sum := c
		for i := range a {
			sum += T(a[i] * b[i])
		}
		return sum
	case backwards:
		sum := T(0)
		for i := len(a) - 1; i >= 0; i-- {
			sum = T(math.FMA(float64(a[i]), float64(b[i]), float64(sum)))
		}
		return sum + c
	}
	if len(a) == 0 {
		return c
	}
	if len(a) == 1 {
		return T(a[0]*b[0]) + c
	}
	h := len(a) / 2
	return dot(o, a[:h], b[:h], 0) + dot(o, a[h:], b[h:], c)
}

// pass is all that the model computes of a row.
type pass struct {
	score float64
	pre   [][]float64 // of hidden layers
	x     [][]float64 // x[0] the input, x[l] rounded
	delta [][]float64 // rounded
	down  [][]float64 // ∇x of hidden layer l before φ'
}

// run is the critic as the package comment demands it, written for the eye: an independent second
// implementation.
func run[T Float](n Network, input []float64, f float64, o order) pass {
	var p pass
	x := make([]T, len(input))
	for i := range x {
		x[i] = T(input[i])
	}
	p.x = append(p.x, input)
	last := len(n.Layers) - 1
	var pres [][]T
	for l, layer := range n.Layers {
		h := len(layer.Bias)
		s := make([]T, h)
		for j := range s {
			s[j] = dot(o, column[T](layer, j), x, T(layer.Bias[j]))
		}
		if l == last {
			p.score = float64(s[0])
			break
		}
		pres = append(pres, s)
		x = make([]T, h)
		for j := range x {
			x[j] = s[j]
			if s[j] < 0 || s[j] == 0 && o == backwards {
				x[j] = T(n.Slope) * s[j]
			}
		}
		p.pre = append(p.pre, widened(s))
		p.x = append(p.x, nearest(widened(x), f, o))
	}
	back := []T{1}
	p.delta = make([][]float64, last+1)
	p.down = make([][]float64, last)
	p.delta[last] = []float64{1}
	for l := last; l > 0; l-- {
		layer := n.Layers[l]
		h := len(layer.Bias)
		down := make([]T, len(layer.Weights)/h)
		for i := range down {
			down[i] = dot(o, as[T](layer.Weights[i*h:][:h]), back, 0)
		}
		p.down[l-1] = widened(down)
		for j := range down {
			if s := pres[l-1][j]; s < 0 || s == 0 && o == backwards {
				down[j] *= T(n.Slope)
			}
		}
		back = down
		p.delta[l-1] = nearest(widened(back), f, o)
	}
	return p
}

// as converts weights.
func as[T Float](x []float32) []T {
	out := make([]T, len(x))
	for i := range x {
		out[i] = T(x[i])
	}
	return out
}

func column[T Float](l Layer, j int) []T {
	h := len(l.Bias)
	w := make([]T, len(l.Weights)/h)
	for i := range w {
		w[i] = T(l.Weights[i*h+j])
	}
	return w
}

func widened[T Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = float64(x[i])
	}
	return out
}

// nearest rounds to multiples of f, ties up or to even.
func nearest(x []float64, f float64, o order) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		if o == forwards {
			out[i] = f * math.Floor(x[i]/f+.5)
		} else {
			out[i] = f * math.RoundToEven(x[i]/f)
		}
	}
	return out
}

// gradient is g of the row in the certificate's order, in units of the data.
func (p pass) gradient() []float64 {
	var g []float64
	for l, delta := range p.delta {
		for _, x := range p.x[l] {
			for _, d := range delta {
				g = append(g, x*d)
			}
		}
		g = append(g, delta...)
	}
	return g
}

// addTo adds the row with a weight (in steps of rowStep) to a sum.
func (p pass) addTo(s *Sum, c *Certificate, weight int64) {
	f := c.factor
	if s.Gradient == nil {
		s.Gradient, s.Inputs = make([]int64, c.Parameters()), make([]int64, c.sizes[0])
	}
	s.Rows += weight
	for i, x := range p.x[0] {
		s.Inputs[i] += weight * exact(x/f)
	}
	for k, g := range p.gradient() {
		s.Gradient[k] += weight * exact(g/(f*f))
	}
}

// exact converts a whole number.
func exact(x float64) int64 {
	if x != math.Floor(x) || math.Abs(x) > 1<<53 {
		panic("a contribution is not a whole number of steps")
	}
	return int64(x)
}

// norm is ‖v/c‖₂ of an encoded vector.
func norm(c *Certificate, v []int64) float64 {
	sum := 0.
	for k := range v {
		x := float64(v[k]) * c.Grid() / c.scales[k]
		sum += x * x
	}
	return math.Sqrt(sum)
}

// ascend improves a row by changing one field at a time to what makes goal largest, from a random
// row, until nothing helps.
func ascend(u *rand.Rand, in *Input, goal func(row) float64) (row, float64) {
	x := randomRow(u, in)
	best := goal(x)
	for improved := true; improved; {
		improved = false
		for _, k := range u.Perm(len(in.fields)) {
			kept := x[k]
			for c := range in.fields[k].cells {
				x[k] = float64(c)
				if g := goal(x); g > best {
					best, kept, improved = g, x[k], true
				}
			}
			x[k] = kept
		}
	}
	return x, best
}
