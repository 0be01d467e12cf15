package bounds

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var adjacencies = []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne}

// every mode but Ball, which holds for clipped rows only: see ball_test.go.
var thesisMode, boxMode = Thesis(), Box()

var unclipped = []Mode{thesisMode, boxMode, Residual}

func certify(t testing.TB, c critic, config Config) *Certificate {
	t.Helper()
	cert := stattest.Must(c.certify(config))
	return cert
}

// encoded is a batch's released vector without noise.
func encoded(c critic, cert *Certificate, batch []row, o order) []int64 {
	s := Sum{Gradient: make([]int64, cert.Parameters()), Inputs: make([]int64, cert.sizes[0])}
	for _, x := range batch {
		c.run(x, o).addTo(&s, cert, 1)
	}
	v := make([]int64, cert.Coordinates())
	cert.EncodeTo(v, s)
	return v
}

func distance(cert *Certificate, a, b []int64) float64 {
	d := make([]int64, len(a))
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return norm(cert, d)
}

// Neighbouring batches, made by adding, removing or replacing a unit of up to n rows, random or
// optimised to be far apart, are never more than 1 apart, and one unit's part is never longer than
// Norm.
func TestNeighboursStayWithinTheCertificate(t *testing.T) {
	for seed, c := range critics(t) {
		random, optimised := 60, 1
		if *long {
			random, optimised = 2000, 40
		}
		// adult takes 50 times as long as the others; TestHalvedScalesAreViolated has its ascent
		if c.in.size == 200 {
			random, optimised = random/4, optimised/20
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := rand.New(rand.NewPCG(uint64(seed), 2))
			for _, adjacency := range adjacencies {
				for _, mode := range unclipped {
					n := 1 + u.IntN(3)
					cert := certify(t, c, Config{Mode: mode, Adjacency: adjacency, UnitRows: n})
					check := func(unit, other []row, o order) {
						t.Helper()
						rest := []row{randomRow(u, c.in), randomRow(u, c.in)}
						with := append(append([]row{}, rest...), unit...)
						without := append(append([]row{}, other...), rest...)
						if d := distance(cert, encoded(c, cert, with, o),
							encoded(c, cert, without, o)); d > 1 {
							t.Fatalf(
								"%v, %v, %d rows for %d of at most %d: neighbours are %v apart",
								mode, adjacency, len(unit), len(other), n, d)
						}
						if part := norm(cert, encoded(c, cert, unit, o)); part > cert.norm {
							t.Fatalf("%v, %v: a unit of %d rows has norm %v, more than %v", mode,
								adjacency, len(unit), part, cert.norm)
						}
					}
					draw := func(size int) (unit []row) {
						for range size {
							unit = append(unit, randomRow(u, c.in))
						}
						return unit
					}
					for i := range random {
						var other []row
						if adjacency == accountant.ReplaceOne {
							other = draw(u.IntN(n + 1))
						}
						check(draw(u.IntN(n+1)), other, order(i)%orders)
					}
					for range optimised {
						o := order(u.IntN(int(orders)))
						x, _ := ascend(u, c.in, func(x row) float64 {
							return norm(cert,
								encoded(c, cert, []row{x}, o))
						})
						unit, other := repeat(x, n), []row(nil)
						if adjacency == accountant.ReplaceOne {
							far := encoded(c, cert, []row{x}, o)
							y, _ := ascend(u, c.in,
								func(y row) float64 {
									return distance(cert, far,
										encoded(c, cert, []row{y}, o))
								})
							other = repeat(y, n)
						}
						check(unit, other, o)
					}
				}
			}
		})
	}
}

func repeat(x row, n int) (out []row) {
	for range n {
		out = append(out, x)
	}
	return out
}

// The certificates are tight enough that half of one is false: an optimised row of the adult critic
// is longer than ½, so noise from halved scales would break the promise and this test would see it.
func TestHalvedScalesAreViolated(t *testing.T) {
	n := randomNetwork(oneHot(t, adult...), .2, 1, 64)
	c := newCritic[float32]("", n, oneHot(t, adult...), 0x1p-16)
	for _, adjacency := range adjacencies {
		for _, mode := range []Mode{Residual} {
			cert := certify(t, c, Config{Mode: mode, Adjacency: adjacency})
			u := rand.New(rand.NewPCG(1, 3))
			x, sup := ascend(u, c.in, func(x row) float64 {
				return norm(cert,
					encoded(c, cert, []row{x}, forwards))
			})
			if adjacency == accountant.ReplaceOne {
				far := encoded(c, cert, []row{x}, forwards)
				_, sup = ascend(u, c.in, func(y row) float64 {
					return distance(cert, far,
						encoded(c, cert, []row{y}, forwards))
				})
			}
			t.Logf("%v, %v: the farthest found is %.3f", mode, adjacency, sup)
			if sup > 1 {
				t.Errorf("%v, %v: %v is outside", mode, adjacency, sup)
			}
			if 2*sup <= 1 {
				t.Errorf("%v, %v: farthest row %v: halved scales would go unnoticed", mode,
					adjacency, sup)
			}
		}
	}
}

// Over all rows that a small domain has, and all pairs of them under replace-one: a unit gets at
// most the part it was given, single coordinates stay within their half-widths, and the parts are
// attained where both branches of a hidden unit are open.
func TestUnitsAgainstBruteForce(t *testing.T) {
	in := oneHot(t, 3, 4, 2, 1)
	for name, n := range map[string]Network{
		"open":         randomNetwork(in, .2, 12, 5),
		"decided":      biased(randomNetwork(in, .2, 13, 12)),
		"decided relu": biased(randomNetwork(in, 0, 14, 12)),
	} {
		for _, factor := range []float64{0x1p-20, 0x1p-6} {
			c := newCritic[float64](name, n, in, factor)
			for _, mode := range []Mode{Residual} {
				var rows [][]int64
				for _, adjacency := range adjacencies {
					config := Config{Mode: mode, Adjacency: adjacency}
					cert := certify(t, c, config)
					if adjacency == accountant.AddRemove {
						everyRow(in, func(x row) {
							rows = append(rows,
								encoded(c, cert, []row{x}, forwards))
						})
					} else {
						rows = differences(rows)
					}
					compareUnits(t, fmt.Sprintf("%s, %v, %v, factor %v", name, mode, adjacency,
						factor), c.measure(config), rows, name == "open" && factor < .01)
				}
			}
		}
	}
}

// differences is the difference of every two rows.
func differences(rows [][]int64) (out [][]int64) {
	for i, a := range rows {
		for _, b := range rows[:i] {
			d := make([]int64, len(a))
			for k := range d {
				d[k] = a[k] - b[k]
			}
			out = append(out, d)
		}
	}
	return out
}

// compareUnits compares a measured builder, its scales still d, with encoded vectors.
func compareUnits(t *testing.T, name string, b *builder, vectors [][]int64, tight bool) {
	t.Helper()
	at := func(v []int64, k int) float64 { return float64(v[k]) * b.grid / b.scales[k] }
	for i, u := range b.units {
		reached, live := 0., false
		for _, v := range vectors {
			part := 0.
			for r, k := 0, u.first; r < u.count; r, k = r+1, k+u.stride {
				part += at(v, k) * at(v, k)
				live = live || b.scales[k] > b.grid
			}
			reached = max(reached, part)
		}
		if reached > u.q*(1+1e-9) {
			t.Errorf("%s: unit %d reaches %v, more than its q = %v", name, i, reached, u.q)
		}
		if tight && live && u.count > 1 && !b.replace && reached < .99*u.q {
			t.Errorf("%s: unit %d reaches %v only of its q = %v", name, i, reached, u.q)
		}
	}
	width := 1.
	if b.replace {
		width = 2
	}
	for _, s := range b.singles {
		for k := s.from; k < s.to; k++ {
			for _, v := range vectors {
				if x := math.Abs(at(v, k)); x > width*(1+1e-9) {
					t.Fatalf("%s: coordinate %d is %v half-widths", name, k, x)
				}
			}
		}
	}
	// The parts q·a², a = d/c, sum to 1, less what roundings of the scales could cost.
	before := append([]float64(nil), b.scales...)
	b.factor = inflate
	b.solve()
	sum := 0.
	for _, u := range b.units {
		sum += u.q * math.Pow(before[u.first]/b.scales[u.first], 2)
	}
	for _, s := range b.singles {
		for k := s.from; k < s.to; k++ {
			sum += width * width * math.Pow(before[k]/b.scales[k], 2)
		}
	}
	if sum > 1-1e-8 || sum < 1-1e-6 {
		t.Errorf("%s: the parts sum to %v", name, sum)
	}
}

// On every network of every domain: the thesis's noise is never less than the box's, nor that less
// than the blocks'.
func TestOrderOfModes(t *testing.T) {
	for seed := range uint64(200) {
		u := rand.New(rand.NewPCG(seed, 5))
		var fields []Field
		for range 1 + u.IntN(6) {
			fields = append(fields, Block(1+u.IntN(9)))
		}
		in := stattest.Must(NewInput(fields...))
		var hidden []int
		for range u.IntN(4) {
			hidden = append(hidden, 1+u.IntN(12))
		}
		n := scaled(randomNetwork(in, float32(u.Float64()*float64(u.IntN(2))), seed, hidden...),
			float32(math.Exp(min(u.NormFloat64(), 1))))
		c := newCritic[float64](fmt.Sprint(seed), n, in, 0x1p-16)
		for _, adjacency := range adjacencies {
			size := map[Mode]float64{}
			for _, mode := range unclipped {
				size[mode] = certify(t, c, Config{Mode: mode, Adjacency: adjacency}).TotalStd()
			}
			// beyond every row: blocks alone
			ball := certify(t, c, Config{Mode: Ball(1e30), Adjacency: adjacency}).TotalStd()
			const slack = 1 + 1e-3 // scales of at least one grid step
			if size[thesisMode]*slack < size[boxMode]/2 || adjacency == accountant.AddRemove &&
				size[thesisMode]*slack < size[boxMode] || adjacency == accountant.AddRemove &&
				size[boxMode]*slack < ball {
				t.Errorf("seed %d, %v, %d hidden layers: thesis %v, box %v, blocks %v", seed,
					adjacency, len(hidden), size[thesisMode], size[boxMode], ball)
			}
		}
	}
}

// The figures that the design counts on: on adult thesis is 10 times box and 36 times residual.
func TestSizesOnAdult(t *testing.T) {
	c := newCritic[float32]("", randomNetwork(oneHot(t, adult...), .2, 1, 64), oneHot(t, adult...),
		0x1p-16)
	size := map[Mode]float64{}
	for _, mode := range unclipped {
		size[mode] = certify(t, c, Config{Mode: mode, Adjacency: accountant.AddRemove}).TotalStd()
		t.Logf("%-9v √(total variance) %8.1f", mode, size[mode])
	}
	if !(size[thesisMode] > 10*size[boxMode] && size[thesisMode] > 36*size[Residual]) {
		t.Errorf("sizes %v", size)
	}
}

// The trace that TotalStd reports is the sum of the squared scales, or for Residual that of the
// decoded gradient's noise.
func TestTotalStdIsTheNoise(t *testing.T) {
	for _, c := range critics(t) {
		for _, mode := range unclipped {
			cert := certify(t, c, Config{Mode: mode, Adjacency: accountant.AddRemove, UnitRows: 3})
			variance := make([]float64, cert.Parameters())
			released := make([]int64, cert.Coordinates())
			zero, got := make([]float64, cert.Parameters()), make([]float64, cert.Parameters())
			cert.DecodeTo(zero, nil, released, 0)
			for k, scale := range cert.scales { // unit steps in one coordinate show the linear map
				if mode != Residual {
					variance[k] += scale * scale
					continue
				}
				released[k] = 1 << 20
				cert.DecodeTo(got, nil, released, 0)
				released[k] = 0
				for i := range got {
					x := (got[i] - zero[i]) / (cert.Grid() * (1 << 20)) * scale
					variance[i] += x * x
				}
				if k > 300 && cert.Coordinates() > 2000 {
					break // adult: too many to do all; its other coordinates map one to one
				}
			}
			if mode == Residual && cert.Coordinates() > 2000 {
				for k := 302; k < len(cert.scales); k++ {
					variance[k-cert.Inputs()] += cert.scales[k] * cert.scales[k]
				}
			}
			total := 0.
			for _, v := range variance {
				total += v
			}
			// The floor of one step of the grid under ω only ever adds, and not more than the
			// coarsest grid here shows. Roots in float32 make the noise more by 2⁻²².
			if want := math.Sqrt(total); cert.TotalStd() < want*(1-1e-6) ||
				cert.TotalStd() > want*(1+1e-3) {
				t.Errorf("%s, %v: TotalStd %v, noise %v", c.name, mode, cert.TotalStd(), want)
			}
		}
	}
}

func TestUnitRowsMultiply(t *testing.T) {
	c := critics(t)[1]
	for _, mode := range unclipped {
		one := certify(t, c, Config{Mode: mode, Adjacency: accountant.AddRemove})
		five := certify(t, c, Config{Mode: mode, Adjacency: accountant.AddRemove, UnitRows: 5})
		a, b := one.Scales(), five.Scales()
		for k := range a {
			if math.Abs(b[k]-5*a[k]) > 1e-12*b[k] {
				t.Fatalf("%v: scale %v for units of five rows, %v for one", mode, b[k], a[k])
			}
		}
		if five.unitRows != 5 || one.unitRows != 1 ||
			math.Abs(five.TotalStd()-5*one.TotalStd()) > 1e-9*five.TotalStd() {
			t.Errorf("%v: sizes %v and %v", mode, five.TotalStd(), one.TotalStd())
		}
	}
}

// TestNoiseThatCannotBeDrawn: a certificate whose noise has too many steps of a grid that
// cannot follow it is refused.
func TestNoiseThatCannotBeDrawn(t *testing.T) {
	in := oneHot(t, 1, 2)
	n := Network{Layers: []Layer{
		{Weights: []float32{1, -1, 2, 0, 3, 1}, Bias: []float32{0, 1}},
		{Weights: []float32{1, -2}, Bias: []float32{0}},
	}}
	one := Config{Adjacency: accountant.AddRemove, NoiseMultiplier: 1}
	for name, c := range map[string]struct {
		factor, z float64
		want      error
	}{
		"as it is": {0, 1, nil}, "no noise is asked for": {0x1p-22, 0, nil},
		"too many steps": {0, 1e15, errConfig}, "a fine grid": {0x1p-22, 10, errConfig},
	} {
		config := one
		config.Factor, config.NoiseMultiplier = c.factor, c.z
		stattest.Wraps(t, stattest.Err(Certify(n, in, config)), c.want, "%s", name)
	}
}

// TestGridFollowsTheNoise: whatever the noise multiplier, its noise can be drawn, on the finest
// grid of those that are tried; not if a factor is given.
func TestGridFollowsTheNoise(t *testing.T) {
	const most = 0x1p47
	for _, c := range critics(t) {
		for _, mode := range append([]Mode{Ball(.5)}, unclipped...) {
			for z := 1.; z <= 1e11; z *= 100 {
				config := Config{Mode: mode, Adjacency: accountant.AddRemove, NoiseMultiplier: z}
				cert, err := c.certifyWith(config)
				if err != nil {
					t.Fatalf("%s, %v, z = %v: %v", c.name, mode, z, err)
				}
				largest, f := z*slices.Max(cert.Scales()), cert.Factor()
				switch {
				case largest > most*cert.Grid():
					t.Errorf("%s, %v, z = %v: %v steps of noise", c.name, mode, z,
						largest/cert.Grid())
				// scales change a little with the grid
				case f > defaultFactor && largest <= most*cert.Grid()/16/1.5:
					t.Errorf("%s, %v, z = %v: factor %v is coarser than needed", c.name, mode, z, f)
				}
				config.Factor = 0x1p-20
				if cert, err = c.certifyWith(config); err == nil && cert.Factor() != config.Factor {
					t.Errorf("%s, %v, z = %v: factor %v, given %v", c.name, mode, z, cert.Factor(),
						config.Factor)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	in := oneHot(t, 2, 2)
	good := func() Network { return randomNetwork(in, .2, 1, 3) }
	config := Config{Adjacency: accountant.AddRemove}
	for _, r := range []struct {
		name     string
		n        func(*Network)
		c        func(*Config)
		sentinel error
		says     string
	}{
		{"no layers", func(n *Network) { n.Layers = nil }, nil, ErrNetwork, "no layers"},
		{"two outputs", func(n *Network) { n.Layers = n.Layers[:1] }, nil, ErrNetwork,
			"3 units"},
		{"short weights", func(n *Network) {
			n.Layers[0].Weights = n.Layers[0].Weights[1:]
		}, nil, ErrNetwork, "layer 1"},
		{"no units", func(n *Network) { n.Layers[1].Bias = nil }, nil, ErrNetwork,
			"layer 2"},
		{"NaN weight", func(n *Network) { n.Layers[0].Weights[3] = float32(math.NaN()) }, nil,
			ErrNetwork, "not finite"},
		{"infinite bias", func(n *Network) { n.Layers[1].Bias[0] = float32(math.Inf(-1)) }, nil,
			ErrNetwork, "not finite"},
		{"overflow", func(n *Network) { n.Layers[0].Weights[0] = 1e38 }, nil, ErrNetwork,
			"overflow"},
		{"large activations", func(n *Network) { n.Layers[0].Bias[0] = 1025 }, nil,
			ErrNetwork, "may exceed 1024"},
		{"large gradients", func(n *Network) { n.Layers[1].Weights[0] = -1025 }, nil,
			ErrNetwork, "may exceed 1024"},
		{"negative slope", func(n *Network) { n.Slope = -.1 }, nil, ErrNetwork, "slope"},
		{"slope above 1", func(n *Network) { n.Slope = 1.5 }, nil, ErrNetwork, "slope"},
		{"slope NaN", func(n *Network) { n.Slope = float32(math.NaN()) }, nil, ErrNetwork, "slope"},
		{"no adjacency", nil, func(c *Config) { c.Adjacency = 0 }, errConfig, "adjacency"},
		{"unknown adjacency", nil, func(c *Config) { c.Adjacency = 3 }, errConfig, "adjacency"},
		{"negative rows", nil, func(c *Config) { c.UnitRows = -1 }, errConfig, "-1 rows"},
		{"factor 3", nil, func(c *Config) { c.Factor = 3 }, errConfig, "factor 3"},
		{"factor above 1", nil, func(c *Config) { c.Factor = 2 }, errConfig, "factor 2"},
		{"factor too fine", nil, func(c *Config) { c.Factor = 0x1p-27 }, errConfig, "factor"},
		{"factor NaN", nil, func(c *Config) { c.Factor = math.NaN() }, errConfig, "factor"},
		{"ball without radius", nil, func(c *Config) { c.Mode = Ball(0) }, errConfig,
			"radius 0"},
		{"infinite radius", nil, func(c *Config) { c.Mode = Ball(math.Inf(1)) },
			errConfig, "radius"},
	} {
		n, c := good(), config
		if r.n != nil {
			r.n(&n)
		}
		if r.c != nil {
			r.c(&c)
		}
		cert, err := Certify(n, in, c)
		if cert != nil || !errors.Is(err, r.sentinel) ||
			!strings.Contains(err.Error(), r.says) {
			t.Errorf("%s: got %v, want %q", r.name, err, r.says)
		}
	}
	stattest.Passes(t, stattest.Err(Certify(good(), in, config)),
		"the network that the refusals start from")
	for name, fields := range map[string][]Field{
		"no fields":      nil,
		"empty block":    {Block(0)},
		"negative block": {Block(-1)},
	} {
		if in, err := NewInput(fields...); in != nil || err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
