package bounds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// blocks are the sizes of a domain's one-hot blocks.
func blocks(sizes ...int) []int { return sizes }

func size(in []int) (n int) {
	for _, m := range in {
		n += m
	}
	return n
}

func penaltyNetwork(in []int, scale float64, seed uint64, hidden ...int) Network {
	return referenceNetwork(seed, size(in), scale, hidden...)
}

// factorsAt are the factors t and δ of the penalty's gradient at a point, rounded to the grid:
// written for the eye.
func factorsAt(n Network, x []float64) (t, delta [][]float64) {
	p := runReference(n, x, 0x1p-40)
	norm := euclid(p.Input)
	for i := range p.Input {
		p.Input[i] *= 2 * (norm - 1) / norm
	}
	y := p.Input
	for l, layer := range n.Layers {
		t, delta = append(t, onGrid(y)), append(delta, onGrid(p.Delta[l]))
		if l == len(n.Layers)-1 {
			break
		}
		next := make([]float64, len(layer.Bias))
		for j := range next {
			for i, y := range y {
				next[j] += y * float64(layer.Weights[i*len(next)+j])
			}
			if p.S[l][j] < 0 {
				next[j] *= float64(n.Slope)
			}
		}
		y = next
	}
	return t, delta
}

func euclid(x []float64) float64 {
	square := 0.
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}

func onGrid(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = finestPenalty * math.Round(x[i]/finestPenalty)
	}
	return out
}

// addPenalty adds the contribution with its weight to a sum, in whole steps of the grid.
func addPenalty(sum []int64, t, delta [][]float64, weight int64) {
	k := 0
	for l := range t {
		for _, x := range t[l] {
			for _, d := range delta[l] {
				sum[k] += weight * int64(x/finestPenalty) * int64(d/finestPenalty)
				k++
			}
		}
	}
}

// penaltyNorm is ‖v/c‖₂ of a sum.
func penaltyNorm(p *PenaltyCertificate, v []int64) float64 {
	scales := make([]float64, p.Coordinates())
	p.ScalesTo(scales, 1)
	sum := 0.
	for k := range v {
		x := float64(v[k]) * p.Grid() / scales[k]
		sum += x * x
	}
	return math.Sqrt(sum)
}

// somePoint is a point between a row and another: cells sum to 1 in each block, or, at an end, are
// one-hot.
func somePoint(u *rand.Rand, in []int) []float64 {
	e := u.Float64()
	if u.IntN(4) == 0 {
		e = 1
	}
	var x []float64
	for _, m := range in {
		cells := make([]float64, m)
		cells[u.IntN(m)] = e
		cells[u.IntN(m)] += 1 - e
		x = append(x, cells...)
	}
	return x
}

func certifyPenalty(t *testing.T, n Network, c PenaltyConfig) *PenaltyCertificate {
	t.Helper()
	p := stattest.Must(CertifyPenalty(n, c))
	return p
}

// TestPenaltyRowsAreInTheEllipsoid: the weighted contribution of a row has at most the norm that
// neighbours are promised, and the weight is the largest that does so; with a reach of 1 no row is
// clipped, as the bound holds for all of them.
func TestPenaltyRowsAreInTheEllipsoid(t *testing.T) {
	in := blocks(3, 2, 5)
	u := rand.New(rand.NewPCG(8, 1))
	clipped := 0
	for seed, hidden := range [][]int{{}, {6}, {5, 4}, {3, 4, 2}} {
		for _, scale := range []float64{.3, 1, 3} {
			n := penaltyNetwork(in, scale, uint64(seed), hidden...)
			for _, c := range []PenaltyConfig{{Reach: 1}, {Reach: .02}, {Reach: .02, UnitRows: 3},
				{Reach: 1, UnitRows: 2}} {
				for _, adjacency := range adjacencies {
					c.Adjacency = adjacency
					p := certifyPenalty(t, n, c)
					limit := 1 / float64(max(1, c.UnitRows))
					if adjacency == accountant.ReplaceOne {
						limit /= 2
					}
					for range 30 {
						x, delta := factorsAt(n, somePoint(u, in))
						length := func(w int64) float64 {
							v := make([]int64, p.Coordinates())
							addPenalty(v, x, delta, w)
							return penaltyNorm(p, v)
						}
						w := p.Weight(x, delta)
						switch {
						case w < 0 || w > 256 || length(w) > limit:
							t.Fatalf("%v, %+v: weight %d has norm %v, limit %v", hidden, c, w,
								length(w), limit)
						case w < 256 && length(w+1) <= limit*(1-1e-5):
							t.Fatalf("%v, %+v: weight %d is too small", hidden, c, w)
						// 255: the bound is attained and the grid rounds up
						case c.Reach == 1 && w < 255:
							t.Fatalf("%v, %+v: weight %d of a row within the norm bound", hidden, c,
								w)
						case w < 255:
							clipped++
						}
					}
				}
			}
		}
	}
	if clipped == 0 {
		t.Error("no row was clipped: the test tests nothing")
	}
}

// TestPenaltyNeighbours: sums of neighbouring batches are at most 1 apart in the norm of the
// scales, under each adjacency and for units of several rows, also after an ascent that looks for
// the worst points; and they come so near that halved scales or a limit for one row only would be
// noticed.
func TestPenaltyNeighbours(t *testing.T) {
	in := blocks(3, 2)
	u := rand.New(rand.NewPCG(8, 2))
	for _, adjacency := range adjacencies {
		for _, rows := range []int{1, 3} {
			worst := 0.
			for seed := range uint64(4) {
				n := penaltyNetwork(in, 4, seed, 4)
				p := certifyPenalty(t, n, PenaltyConfig{Adjacency: adjacency, UnitRows: rows,
					Reach: .01})
				batch := func(points [][]float64) []int64 {
					v := make([]int64, p.Coordinates())
					for _, x := range points {
						f, delta := factorsAt(n, x)
						addPenalty(v, f, delta, p.Weight(f, delta))
					}
					return v
				}
				apart := func(unit, other [][]float64) float64 {
					a, b := batch(unit), batch(other)
					for k := range a {
						a[k] -= b[k]
					}
					return penaltyNorm(p, a)
				}
				for range 30 {
					var unit, other [][]float64
					for range rows {
						unit = append(unit, somePoint(u, in))
						if adjacency == accountant.ReplaceOne {
							other = append(other, somePoint(u, in))
						}
					}
					best := apart(unit, other)
					for range 60 {
						k := u.IntN(rows)
						kept := unit[k]
						unit[k] = somePoint(u, in)
						if d := apart(unit, other); d > best {
							best = d
						} else {
							unit[k] = kept
						}
					}
					worst = max(worst, best)
				}
			}
			if worst > 1 || worst < .55 {
				t.Errorf("%v, %d rows a unit: neighbours are up to %v apart, certified 1",
					adjacency, rows, worst)
			}
		}
	}
}

// TestPenaltyScalesAreBest: the total variance is what TotalStd says, and no other scale of one
// layer, with the rest made up for it, has less.
func TestPenaltyScalesAreBest(t *testing.T) {
	in := blocks(4, 3)
	n := penaltyNetwork(in, 1, 5, 6, 3)
	norms := norms(n, size(in))
	for _, reach := range []float64{1, .1} {
		p := certifyPenalty(t, n, PenaltyConfig{Adjacency: accountant.AddRemove, Reach: reach})
		variance := func(scales []float64) (sum float64) {
			worst := 0. // Σ (ρB/c)² of a row that attains every bound
			for l, c := range scales {
				worst += reach * reach * norms[l] * norms[l] / (c * c)
			}
			for l, c := range scales {
				sum += float64(len(n.Layers[l].Weights)) * c * c * worst
			}
			return sum
		}
		least := variance(p.scales)
		if math.Abs(math.Sqrt(least)/p.TotalStd()-1) > 1e-9 {
			t.Errorf("reach %v: total standard deviation %v, want %v", reach, p.TotalStd(),
				math.Sqrt(least))
		}
		for l := range p.scales {
			for _, by := range []float64{.9, 1.1} {
				other := append([]float64(nil), p.scales...)
				other[l] *= by
				if variance(other) <= least {
					t.Errorf("reach %v: scale %d times %v has less variance", reach, l, by)
				}
			}
		}
	}
}

func TestPenaltyDecode(t *testing.T) {
	n := penaltyNetwork(blocks(3), 1, 1, 2)
	p := certifyPenalty(t, n, PenaltyConfig{Adjacency: accountant.AddRemove, Reach: 1})
	released := make([]int64, p.Coordinates()) // W¹ is 3 × 2, W² 2 × 1
	for k := range released {
		released[k] = int64(k+1) << 32
	}
	got := make([]float64, 3*2+2+2+1)
	got[6], got[10] = 5, 5
	p.DecodeTo(got, released)
	for k, want := range []float64{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0} {
		if got[k] != want {
			t.Errorf("parameter %d: %v, want %v", k, got[k], want)
		}
	}
	if p.Grid() != 0x1p-32 || p.Factor() != 0x1p-12 {
		t.Errorf("grid %v, factor %v", p.Grid(), p.Factor())
	}
}

// TestPenaltyGridFollowsTheNoise: whatever the noise multiplier, its noise can be drawn, and the
// scales stay as they are.
func TestPenaltyGridFollowsTheNoise(t *testing.T) {
	n := penaltyNetwork(blocks(16, 9, 16), 1, 1, 32, 16)
	for z := 1.; z <= 1e9; z *= 10 {
		p := certifyPenalty(t, n, PenaltyConfig{Adjacency: accountant.AddRemove, Reach: 1,
			NoiseMultiplier: z})
		fine := certifyPenalty(t, n, PenaltyConfig{Adjacency: accountant.AddRemove, Reach: 1})
		largest := z * slices.Max(p.scales)
		if !slices.Equal(p.scales, fine.scales) || largest > 0x1p47*p.Grid() ||
			p.Factor() > finestPenalty && largest <= 0x1p47*p.Grid()/16 {
			t.Errorf("z = %v: factor %v, %v steps of noise", z, p.Factor(), largest/p.Grid())
		}
	}
}

// norms are the products of both factors'
func norms(n Network, inputs int) []float64 {
	sizes, err := n.Sizes(inputs)
	if err != nil {
		panic(err)
	}
	t, delta := factors(n, sizes)
	for l := range t {
		t[l] *= delta[l]
	}
	return t
}

func TestPenaltyRefuses(t *testing.T) {
	n := penaltyNetwork(blocks(3), 1, 1, 2)
	good := PenaltyConfig{Adjacency: accountant.ReplaceOne, Reach: .5, UnitRows: 2}
	for name, change := range map[string]func(*PenaltyConfig){
		"no adjacency":     func(c *PenaltyConfig) { c.Adjacency = 9 },
		"no reach":         func(c *PenaltyConfig) { c.Reach = 0 },
		"NaN":              func(c *PenaltyConfig) { c.Reach = math.NaN() },
		"beyond the bound": func(c *PenaltyConfig) { c.Reach = 1.01 },
		"rows":             func(c *PenaltyConfig) { c.UnitRows = -1 },
		"noise":            func(c *PenaltyConfig) { c.NoiseMultiplier = math.NaN() },
	} {
		c := good
		change(&c)
		stattest.Wraps(t, stattest.Err(CertifyPenalty(n, c)), errConfig, "%s", name)
	}
	stattest.Wraps(t, stattest.Err(CertifyPenalty(Network{}, good)), ErrNetwork, "no layers")
	// One factor beyond the range of exact products, though the product of both is small.
	tiny, huge := penaltyNetwork(blocks(3), 1, 1, 2), float32(limit*finestPenalty*1e4)
	for i := range tiny.Layers[0].Weights {
		tiny.Layers[0].Weights[i] /= huge * 1e4
	}
	for i := range tiny.Layers[1].Weights {
		tiny.Layers[1].Weights[i] *= huge
	}
	stattest.Wraps(t, stattest.Err(CertifyPenalty(tiny, good)), ErrNetwork, "a huge factor")
	p := certifyPenalty(t, n, good)
	for name, call := range map[string]func(){
		"scales":   func() { p.ScalesTo(make([]float64, 3), 1) },
		"released": func() { p.DecodeTo(make([]float64, 11), make([]int64, 2)) },
		"gradient": func() { p.DecodeTo(make([]float64, 8), make([]int64, 8)) },
		"t":        func() { p.Weight(nil, make([][]float64, 2)) },
		"units":    func() { p.Weight([][]float64{{1, 1, 1}, {1, 1}}, [][]float64{{1}, {1}}) },
	} {
		stattest.Panics(t, call, "%s", name)
	}
	if w := p.Weight([][]float64{{math.Inf(1), 1, 1}, {1, 1}}, [][]float64{{1, 1}, {1}}); w != 0 {
		t.Errorf("an infinite factor has weight %d", w)
	}
	// A factor that the sums' int32 would not hold, however small its product in the ellipsoid:
	// beside a δ of 0 too.
	for _, x := range []float64{math.NaN(), math.Inf(-1), -0x1p31 * p.Factor()} {
		if w := p.Weight([][]float64{{x, 0, 0}, {0, 0}}, [][]float64{{0, 0}, {1}}); w != 0 {
			t.Errorf("a factor of %v has weight %d", x, w)
		}
	}
}
