package bounds

import "github.com/decoy-dp/decoy/privacy/accountant"

// builder holds what the modes share while a certificate is made.
type builder struct {
	ellipsoid
	n           *network
	in          *Input // boxed if the mode is
	r           *ranges
	f           float64
	first       int  // coordinate of the first weight
	conditional bool // use intervals of δ given the active cell
	residual    *residual
	patches     []patch
}

// measure finds every unit's bound.
func measure(n *network, in *Input, c Config) (*builder, error) {
	if c.Mode.way().boxed {
		in = in.boxed()
	}
	b := &builder{n: n, in: in, f: c.Factor, r: propagate(n, in, c.Factor)}
	if err := b.r.check(b.f); err != nil {
		return nil, err
	}
	b.grid, b.half, b.replace = b.f*b.f, .5/(b.f*b.f), c.Adjacency == accountant.ReplaceOne
	b.conditional = !c.Mode.Clipped()
	coordinates := n.parameters()
	if c.Mode == Residual {
		b.first = in.size
		coordinates += in.size
		b.residual = &residual{slope: make([]int64, len(n.layers[0].Weights))}
	}
	b.scales, b.centre = make([]float64, coordinates), make([]int64, coordinates)
	blocks := 0
	for _, field := range in.fields {
		blocks += min(field.cells, 1)
	}
	// one a block and hidden unit, and in mode Residual one a field
	b.units = make([]unit, 0, blocks*n.sizes[1]+len(in.fields))
	k := b.first
	for f, field := range in.fields {
		if field.cells > 0 {
			b.block(f)
		} else {
			b.outer(k, b.r.act[0][field.offset:][:1], b.r.delta[0])
		}
		k += field.width() * n.sizes[1]
	}
	for l, layer := range n.layers {
		if l > 0 {
			if b.residual != nil && len(n.layers) == 2 {
				b.output(k)
			} else {
				b.outer(k, b.r.act[l], b.r.delta[l])
			}
			k += len(layer.Weights)
		}
		b.outer(k, []interval{{1, 1}}, b.r.delta[l])
		k += len(layer.Bias)
	}
	if b.residual != nil {
		b.sums()
	}
	return b, nil
}

// outer records x_i·δ_j for every i and j, row-major from coordinate k on.
func (b *builder) outer(k int, x, delta []interval) {
	from, h := k, len(delta)
	sum, rows, columns := 0., b.inSteps(x), b.inSteps(delta)
	for i := range x {
		sum += b.products(b.scales[k:k+h], b.centre[k:k+h], rows.lo[i], rows.hi[i], columns)
		k += h
	}
	b.singles = append(b.singles, span{from: from, to: k, sum: sum})
}

// products sets the half-widths and centres of x·δ_j for every j, as [ellipsoid.Halve]
// does, and returns the sum of the half-widths. It is the loop over all weights of deep layers, so
// it runs on integers: in steps of F the ends are whole numbers of at most 2²⁶, and their products,
// in steps of the grid, of at most 2⁵².
//
// If x may be 0 and no δ_j may change its sign, as in the last hidden layer, the products lie
// between f·first and f·last, f the end of δ_j farther from 0. With w = last − first the half-width
// ⌈w|f|/2⌉ is then at most |f|·(w+1)/2, as |f| ≥ 1, and that is used.
func (b *builder) products(
	scales []float64, centre []int64, first, last int64, delta steps,
) float64 {
	scales, centre = scales[:len(delta.lo)], centre[:len(delta.lo)]
	sum, other := 0., 0. // in turn, as one would wait for each addition
	if delta.far != nil && first <= 0 && last >= 0 {
		d, middle := float64(max(last-first+1, 2))/2*b.grid, first+last
		for j, f := range delta.far[:len(delta.lo)] {
			d := d * float64(max(f, -f))
			scales[j], centre[j] = d, middle*f>>1
			sum, other = other+d, sum
		}
		return sum + other
	}
	hi := delta.hi[:len(delta.lo)]
	for j, lo := range delta.lo {
		hi := hi[j]
		p, q, r, s := first*lo, first*hi, last*lo, last*hi
		least, most := min(p, q, r, s), max(p, q, r, s)
		d := float64(max(most-least+1, 2)>>1) * b.grid
		scales[j], centre[j] = d, (least+most)>>1
		sum, other = other+d, sum
	}
	return sum + other
}

// steps are intervals whose ends are whole numbers of steps of F.
type steps struct {
	lo, hi []int64
	// if each interval lies on one side of 0, the ends that are farther from it; else nil
	far []int64
}

func (b *builder) inSteps(x []interval) steps {
	all := make([]int64, 3*len(x))
	out := steps{all[:len(x)], all[len(x) : 2*len(x)], all[2*len(x):]}
	inside := false
	for i, x := range x {
		lo, hi := int64(x.lo/b.f), int64(x.hi/b.f)
		out.lo[i], out.hi[i], out.far[i] = lo, hi, hi
		if hi <= 0 {
			out.far[i] = lo
		}
		inside = inside || lo < 0 && hi > 0 || out.far[i] == 0
	}
	if inside {
		out.far = nil
	}
	return out
}

// inflate covers the float64 roundings of everything that is computed from the intervals: sums of
// fewer than 2²⁶ terms, and z·c by the caller.
const inflate = 1 + 0x1p-24

func (b *builder) certificate(in *Input, c Config) *Certificate {
	out := &Certificate{
		mode: c.Mode, unitRows: c.UnitRows, factor: c.Factor,
		sizes: b.n.sizes, fields: in.fields,
		scales: b.scales, centre: b.centre, residual: b.residual,
	}
	b.factor = inflate * float64(c.UnitRows)
	out.total, out.norm = c.Mode.way().scale(&b.ellipsoid)
	if c.Adjacency == accountant.AddRemove || out.norm > 1 {
		out.norm = 1
	}
	return out
}
