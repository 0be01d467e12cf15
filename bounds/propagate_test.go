package bounds

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var long = flag.Bool("long", false,
	"10⁶ random and 10⁴ optimised rows against every interval: some minutes")

// mixed is a domain of large blocks and small ones, down to one cell.
func mixed(t testing.TB) *Input { return oneHot(t, 5, 1, 2, 9, 1) }

func oneHot(t testing.TB, sizes ...int) *Input {
	t.Helper()
	fields := make([]Field, len(sizes))
	for k, m := range sizes {
		fields[k] = Block(m)
	}
	in := stattest.Must(NewInput(fields...))
	return in
}

// critic hides the type of a network's weights from tests.
type critic struct {
	name    string
	in      *Input
	factor  float64
	certify func(Config) (*Certificate, error)
	// certifyWith is certify with the factor of the Config.
	certifyWith func(Config) (*Certificate, error)
	measure     func(Config) *builder
	run         func(x row, o order) pass
}

func newCritic[T Float](name string, n Network, in *Input, f float64) critic {
	return critic{name, in, f,
		func(c Config) (*Certificate, error) { c.Factor = f; return Certify(n, in, c) },
		func(c Config) (*Certificate, error) { return Certify(n, in, c) },
		func(c Config) *builder {
			c.Factor = f
			var err error
			if c, err = c.checked(); err != nil {
				panic(err)
			}
			b, err := measure(checked(n, in.size), in, c)
			if err != nil {
				panic(err)
			}
			return b
		},
		func(x row, o order) pass { return run[T](n, x.dense(in), f, o) },
	}
}

// checked is a network that must be valid.
func checked(n Network, inputs int) *network {
	sizes, err := n.Sizes(inputs)
	if err != nil {
		panic(err)
	}
	return &network{slope: float64(n.Slope), sizes: sizes, layers: n.Layers}
}

// critics are networks of many shapes, computed in both types, on fine and coarse grids.
func critics(t testing.TB) []critic {
	m := mixed(t)
	return []critic{
		newCritic[float32]("adult float32", randomNetwork(oneHot(t, adult...), .2, 1, 64),
			oneHot(t, adult...), 0x1p-16),
		newCritic[float64]("mixed relu float64", randomNetwork(m, 0, 2, 16), m, 0x1p-20),
		newCritic[float32]("mixed float32, two hidden layers", randomNetwork(m, .2, 3, 12, 8), m,
			0x1p-16),
		newCritic[float64]("coarse grid", randomNetwork(oneHot(t, 3, 4, 2), .1, 4, 8),
			oneHot(t, 3, 4, 2), .25),
		newCritic[float32]("three hidden layers", randomNetwork(oneHot(t, 3, 4, 2), .01, 5, 6, 5,
			4), oneHot(t, 3, 4, 2), 0x1p-16),
		newCritic[float64]("no hidden layer", randomNetwork(m, .2, 6), m, 0x1p-16),
		newCritic[float32]("one hidden unit in each layer", randomNetwork(m, .5, 7, 1, 1), m,
			0x1p-16),
		newCritic[float32]("large weights", scaled(randomNetwork(oneHot(t, 4, 4, 2), .2, 8, 8), 40),
			oneHot(t, 4, 4, 2), 0x1p-16),
		newCritic[float64]("decided units", biased(randomNetwork(oneHot(t, 4, 4, 2), .2, 9, 12)),
			oneHot(t, 4, 4, 2), 0x1p-16),
		newCritic[float32]("all weights zero", scaled(randomNetwork(m, .2, 10, 5), 0), m, 0x1p-16),
	}
}

func scaled(n Network, by float32) Network {
	for _, l := range n.Layers {
		for i := range l.Weights {
			l.Weights[i] *= by
		}
		for i := range l.Bias {
			l.Bias[i] *= by
		}
	}
	return n
}

// biased makes hidden units that are always on, always off, or on for one cell's sake.
func biased(n Network) Network {
	first := n.Layers[0]
	for j := range first.Bias {
		first.Bias[j] = []float32{3, -3, 1, -1}[j%4]
		if j%4 >= 2 {
			first.Weights[(j%5)*len(first.Bias)+j] = []float32{-3, 3}[j%2]
		}
	}
	return n
}

// inside checks a pass against every interval, and the conditional ones given its own cells.
func inside(b *builder, x row, p pass) error {
	check := func(what string, got [][]float64, want [][]interval) error {
		for l := range want {
			for j, i := range want[l] {
				if v := got[l][j]; !(v >= i.lo && v <= i.hi) {
					return fmt.Errorf("%s of layer %d, unit %d: %v is not in [%v, %v]", what, l, j,
						v, i.lo, i.hi)
				}
			}
		}
		return nil
	}
	if err := check("s", p.pre, b.r.pre); err != nil {
		return err
	}
	if err := check("x", p.x, b.r.act); err != nil {
		return err
	}
	if err := check("δ", p.delta, b.r.delta); err != nil {
		return err
	}
	if len(p.pre) == 0 {
		return nil
	}
	for k, field := range b.in.fields {
		for j, d := range p.delta[0] {
			w := b.n.first(field.offset+int(x[k]), j)
			if i := b.r.given(b.n, b.f, k, j, w); !(d >= i.lo && d <= i.hi) {
				return fmt.Errorf("δ of unit %d given cell %v of field %d: %v is not in [%v, %v]",
					j, x[k], k, d, i.lo, i.hi)
			}
		}
	}
	return nil
}

// No row's computed numbers leave their intervals: not random ones, and not those found by ascent
// towards the ends of one pre-activation or δ (every one in turn) of any layer.
func TestNumbersStayInTheirIntervals(t *testing.T) {
	random, optimised := 2000, 30
	if *long {
		random, optimised = 100_000, 1000
	}
	for seed, c := range critics(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := rand.New(rand.NewPCG(uint64(seed), 1))
			b := c.measure(Config{Adjacency: accountant.AddRemove})
			for i := range random {
				x := randomRow(u, c.in)
				stattest.Check(t, inside(b, x, c.run(x, order(i)%orders)))
			}
			for i := range optimised {
				o := order(i) % orders
				x, _ := ascend(u, c.in, goal(u, c, o))
				stattest.Check(t, inside(b, x, c.run(x, o)))
			}
		})
	}
}

// goal picks one number of a pass, with a sign.
func goal(u *rand.Rand, c critic, o order) func(row) float64 {
	p := c.run(randomRow(u, c.in), o)
	sign := float64(1 - 2*u.IntN(2))
	if len(p.pre) == 0 {
		return func(x row) float64 { return sign * c.run(x, o).score }
	}
	l := u.IntN(len(p.pre))
	j, part := u.IntN(len(p.pre[l])), u.IntN(3)
	return func(x row) float64 {
		p := c.run(x, o)
		return sign * []float64{p.pre[l][j], p.x[l+1][j], p.delta[l][j]}[part]
	}
}

// Over all rows of a small domain the first layer's intervals are attained, and so are those of δ
// with one hidden layer: nothing is lost but roundings.
func TestOneHiddenLayerIsExact(t *testing.T) {
	in := oneHot(t, 3, 4, 2)
	for seed := range uint64(20) {
		n := randomNetwork(in, .2, seed, 6)
		c := newCritic[float64]("", n, in, 0x1p-20)
		b := c.measure(Config{Adjacency: accountant.AddRemove})
		h := 6
		hull := func(get func(pass) []float64) []interval {
			out := make([]interval, h)
			for j := range out {
				out[j] = interval{math.Inf(1), math.Inf(-1)}
			}
			everyRow(in, func(x row) {
				for j, v := range get(c.run(x, forwards)) {
					out[j] = interval{min(out[j].lo, v), max(out[j].hi, v)}
				}
			})
			return out
		}
		compare := func(what string, got, want []interval) {
			for j := range got {
				if math.Abs(got[j].lo-want[j].lo) > 4e-6 ||
					math.Abs(got[j].hi-want[j].hi) > 4e-6 {
					t.Errorf("seed %d: %s of unit %d: [%v, %v], brute force [%v, %v]", seed, what,
						j, got[j].lo, got[j].hi, want[j].lo, want[j].hi)
				}
			}
		}
		compare("s", b.r.pre[0], hull(func(p pass) []float64 { return p.pre[0] }))
		compare("x", b.r.act[1], hull(func(p pass) []float64 { return p.x[1] }))
		compare("δ", b.r.delta[0], hull(func(p pass) []float64 { return p.delta[0] }))
	}
}

// everyRow visits all rows of a domain of blocks.
func everyRow(in *Input, visit func(row)) {
	x := make(row, len(in.fields))
	var walk func(k int)
	walk = func(k int) {
		if k == len(x) {
			visit(x)
			return
		}
		for c := range in.fields[k].cells {
			x[k] = float64(c)
			walk(k + 1)
		}
	}
	walk(0)
}

// The intervals are of the activation x^{l−1} times δ^l, as finite differences of D say, and not of
// ∇x^{l−1} times δ^l, as printed in the thesis: the printed product leaves the interval.
func TestGradientConvention(t *testing.T) {
	in := mixed(t)
	n := scaled(randomNetwork(in, .2, 11, 5, 4), 2)
	c := newCritic[float64]("", n, in, 0x1p-22)
	b := c.measure(Config{Mode: Box(), Adjacency: accountant.AddRemove})
	u := rand.New(rand.NewPCG(1, 1))
	printed := 0
	for range 20 {
		x := randomRow(u, in)
		p := c.run(x, forwards)
		g := p.gradient()
		k := 0
		for l, layer := range n.Layers {
			for _, weights := range [][]float32{layer.Weights, layer.Bias} {
				for i := range weights {
					const step = 0x1p-14
					kept := weights[i]
					weights[i] = kept + step
					up, width := c.run(x, forwards).score, float64(weights[i])
					weights[i] = kept - step
					down := c.run(x, forwards).score
					width -= float64(weights[i])
					weights[i] = kept
					want := (up - down) / width
					if math.Abs(g[k]-want) > 1e-6 {
						t.Fatalf("layer %d: gradient %v, finite difference %v", l+1, g[k], want)
					}
					if mu := float64(b.centre[k]) * b.grid; math.Abs(want-mu) > b.scales[k]+1e-6 {
						t.Fatalf("layer %d: derivative %v is not within %v of %v", l+1, want,
							b.scales[k], mu)
					}
					k++
				}
			}
			if l == 1 { // W²: ∇x¹·δ² in place of x¹·δ²
				at := k - len(layer.Weights) - len(layer.Bias)
				for i, d := range p.down[0] {
					for j, delta := range p.delta[1] {
						if q := at + i*4 + j; math.Abs(d*delta-float64(b.centre[q])*b.grid) > b.scales[q] {
							printed++
						}
					}
				}
			}
		}
	}
	if printed == 0 {
		t.Error("the printed formula never leaves the intervals: the two look alike here")
	}
}

// Each step of the propagation allows for its own roundings: from inputs known exactly (the
// intervals are points) the computed numbers stay in the interval, in every order of summation.
// (That some differ from the exact ones shows that the test needs slack.)
func TestEachStepAllowsForItsRoundings(t *testing.T) {
	u := rand.New(rand.NewPCG(6, 1))
	const in, out = 40, 30
	outside := map[string]int{} // of the same intervals without slack
	check := func(step string, i interval, exact, got float64) {
		t.Helper()
		if !(got >= i.lo && got <= i.hi) {
			t.Errorf("%s: computed %v is not in [%v, %v]", step, got, i.lo, i.hi)
		}
		if got != exact {
			outside[step]++
		}
	}
	for range 50 {
		first, second := Layer{Weights: make([]float32, 3*in), Bias: make([]float32, in)},
			Layer{Weights: make([]float32, in*out), Bias: make([]float32, out)}
		for _, w := range [][]float32{first.Weights, first.Bias, second.Weights, second.Bias} {
			for i := range w {
				w[i] = float32(u.NormFloat64())
			}
		}
		n := Network{Slope: .3, Layers: []Layer{first, second,
			{Weights: make([]float32, out), Bias: []float32{0}}}}
		net := checked(n, 3)
		x, back := make([]float32, in), make([]float32, out)
		var points, backPoints []interval
		for i := range x {
			x[i] = float32(u.NormFloat64())
			points = append(points, interval{float64(x[i]), float64(x[i])})
		}
		for j := range back {
			back[j] = float32(u.NormFloat64())
			backPoints = append(backPoints, interval{float64(back[j]), float64(back[j])})
		}
		r := &ranges{}
		s, down := r.affine(net, 1, points), r.pullback(net, 1, backPoints)
		for o := range orders {
			for j := range s {
				check("affine", s[j], dot(forwards, widened(column[float32](second, j)), widened(x),
					float64(second.Bias[j])), float64(dot(o, column[float32](second, j), x,
					second.Bias[j])))
			}
			for i := range down {
				row := second.Weights[i*out:][:out]
				check("pullback", down[i], dot(forwards, widened(row), widened(back), 0),
					float64(dot(o, row, back, 0)))
			}
		}
		for _, x := range x {
			if x < 0 {
				exact := float64(n.Slope) * float64(x)
				check("activate", activate(interval{float64(x), float64(x)}, net), exact,
					float64(n.Slope*x))
				check("product", product(interval{net.slope, net.slope},
					interval{float64(x), float64(x)}), exact, float64(n.Slope*x))
			}
		}
		ones := make([]Field, in)
		for i := range ones {
			ones[i] = Block(1)
		}
		domain := stattest.Must(NewInput(ones...))
		net.layers, net.sizes = []Layer{second}, []int{in, out}
		s = (&ranges{}).first(net, domain)
		one := make([]float32, in)
		for i := range one {
			one[i] = 1
		}
		for o := range orders {
			for j := range s {
				check("first", s[j], dot(forwards, widened(column[float32](second, j)),
					widened(one),
					float64(second.Bias[j])), float64(dot(o, column[float32](second, j), one,
					second.Bias[j])))
			}
		}
	}
	for _, step := range []string{"affine", "pullback", "activate", "product", "first"} {
		if outside[step] == 0 {
			t.Errorf("%s: nothing was ever rounded: this test sees no slack", step)
		}
	}
}
