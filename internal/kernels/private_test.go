package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The tests of this file hold the sums over private rows of package gan to the model of arithmetic
// of package bounds, with every vector unit.

// sums is a critic on rows of codes, and what its three sums over private rows need besides.
type sums struct {
	name      string
	c         *critic.Critic
	in        *bounds.Input
	columns   []table.Codes
	generated []float32
	words     []uint64 // of each row, for the penalty
	certified bool     // only that sum, for the sake of time
}

const sumRows = 280 // more than a chunk, and no multiple of a tile

// edge makes some hidden units so negative that they never fire, with biases of .95·2^100 and terms
// of random signs beside them, and lets huge weights lead away from them unless a slope lets
// something through.
func edge(c *critic.Critic, u *rand.Rand) {
	layers := c.Network().Layers
	for l := range len(layers) - 1 {
		w, b, next := layers[l].Weights, layers[l].Bias, layers[l+1].Weights
		columns := c.Encoder().Columns()
		if l > 0 {
			columns = len(w) / len(b) * 64 // roughly the inputs, times the size of activations
		}
		for j := range b {
			if j%3 != 0 {
				continue
			}
			b[j] = -.95 * 0x1p100
			for i := range len(w) / len(b) {
				w[i*len(b)+j] = float32((2*u.Float64() - 1) * .04 * 0x1p100 / float64(columns))
			}
			units := len(next) / len(b)
			for k := j * units; k < (j+1)*units && c.Slope() == 0; k++ {
				// The next layer's δ multiply it.
				next[k] = float32((2*u.Float64() - 1) * .9 * 0x1p100 / float64(units*units))
			}
		}
	}
}

func newSums(
	t *testing.T, seed uint64, slope float32, change func(*critic.Critic, *rand.Rand),
	hidden ...int,
) sums {
	t.Helper()
	u := rand.New(rand.NewPCG(seed, 3))
	sizes := []int{3, 2, 17, 4, 9}
	e, err := critic.NewEncoderOf(sizes)
	if err != nil {
		t.Fatal(err)
	}
	var fields []bounds.Field
	for _, m := range sizes {
		fields = append(fields, bounds.Block(m))
	}
	s := sums{generated: make([]float32, 7*e.Cells())}
	if s.in, err = bounds.NewInput(fields...); err != nil {
		t.Fatal(err)
	}
	if s.c, err = critic.New(e, critic.Options{Hidden: hidden, Slope: slope}, u); err != nil {
		t.Fatal(err)
	}
	for _, layer := range s.c.Network().Layers {
		for j := range layer.Bias {
			layer.Bias[j] = float32(u.NormFloat64() / 3)
		}
	}
	change(s.c, u)
	for _, m := range sizes {
		codes := table.Codes{U16: make([]uint16, sumRows)}
		for i := range codes.U16 {
			codes.U16[i] = uint16(u.IntN(m))
		}
		s.columns = append(s.columns, codes)
	}
	for i := range s.generated {
		s.generated[i] = float32(u.Float64())
	}
	for range sumRows {
		s.words = append(s.words, u.Uint64())
	}
	return s
}

// of returns, one after the other, everything that the three sums add for the rows. weigh is nil
// for a network without certificates.
func (s sums) of(
	factor float64, weigh func(x, delta [][]float64) int64, paid *bounds.PenaltyCertificate,
	rows []int,
) []int64 {
	n, inputs, weights := len(s.c.Parameters()), s.c.Encoder().Cells(), 0
	for _, layer := range s.c.Network().Layers {
		weights += len(layer.Weights)
	}
	out := make([]int64, 2*n+inputs+weights+1)
	s.c.AddSumTo(out[:n], out[n:n+inputs], factor, s.columns, rows)
	if s.certified {
		return out
	}
	rest := out[n+inputs:]
	three := func(x, delta [][]float64) int64 { return 3 }
	if weigh == nil {
		weigh = three
	}
	rest[0] = s.c.AddClippedSumTo(rest[1:][:n], factor, weigh, s.columns, rows)
	at, size, weight := 0, 0x1p-12, three
	if paid != nil {
		size, weight = paid.Factor(), paid.Weight
	}
	draw := func() uint64 { at++; return s.words[rows[at-1]] }
	s.c.AddPenaltySumTo(rest[1+n:], size, s.generated, draw, weight, s.columns, rows)
	return out
}

func someSums(t *testing.T) (out []sums) {
	add := func(name string, s sums) { s.name = name; out = append(out, s) }
	plain := func(*critic.Critic, *rand.Rand) {}
	for _, hidden := range [][]int{{33}, {13, 7}, {40, 5, 17}} {
		add(fmt.Sprint("random ", hidden), newSums(t, 1, .2, plain, hidden...))
		add(fmt.Sprint("at the limit ", hidden), newSums(t, 2, 0, edge, hidden...))
	}
	// A slope that brings 2^99 down to a factor of some size.
	add("at the limit, small slope", newSums(t, 3, 0x1p-92, edge, 33))
	return out
}

// TestNumbersAtTheLimitStayInTheirIntervals: with weights whose sums come close to the limit of
// package bounds every row's gradient, on every vector unit, is in the intervals that the
// certificates are made of; with biases a tenth larger nothing is certified.
func TestNumbersAtTheLimitStayInTheirIntervals(t *testing.T) {
	const factor = 0x1p-16
	for _, s := range someSums(t) {
		// Beyond every row a ball has scales c² = b·(its total), for a number within b of its
		// centre or m one-hot cells whose distance from theirs is at most b·√m.
		cert, err := bounds.Certify(s.c.Network(), s.in, bounds.Config{Mode: bounds.Ball(1e30),
			Adjacency: accountant.AddRemove, Factor: factor})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		centre, reach := cert.Centre(), cert.Scales()
		for k, c := range reach {
			reach[k] = c * c / cert.TotalStd() * (1 + 1e-6)
		}
		at, units := 0, cert.Sizes()[1]
		for _, cells := range s.c.Encoder().Sizes() {
			for range cells * units {
				reach[at] *= math.Sqrt(float64(cells))
				at++
			}
		}
		kernels.EachUnit(func(level string) {
			for i := range sumRows {
				g := make([]int64, len(centre))
				s.c.AddSumTo(g, nil, factor, s.columns, []int{i})
				for k, g := range g {
					if x := float64(g) * factor * factor; !(math.Abs(x-centre[k]) <= reach[k]) {
						t.Fatalf("%s, %s, row %d: gradient %d is %v, not within %v of %v",
							s.name, level, i, k, x, reach[k], centre[k])
					}
				}
			}
		})
		if s.name[:2] != "at" {
			continue
		}
		for _, x := range []float32{1.1, 0x1p20} {
			beyond := s.c.Network()
			for l, layer := range beyond.Layers {
				beyond.Layers[l].Bias = slices.Clone(layer.Bias)
				for j, b := range layer.Bias {
					beyond.Layers[l].Bias[j] = b * x
				}
			}
			_, err := bounds.Certify(beyond, s.in, bounds.Config{Adjacency: accountant.AddRemove})
			if err == nil {
				t.Errorf("%s: accepted with biases %v times as large", s.name, x)
			}
		}
	}
}

// TestSumsAreSumsOfRows: what a row adds to each of the three sums does not depend on the rest of
// the batch or on its place in it. Over a batch, permuted and cut in every way, they are to the
// last digit what the rows give alone: for networks at the limit, and for ones beyond that compute
// infinities and NaNs.
func TestSumsAreSumsOfRows(t *testing.T) {
	const factor = 0x1p-16
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	all := someSums(t)
	wide := newSums(t, 6, .2, func(*critic.Critic, *rand.Rand) {}, 200, 190)
	wide.name, wide.certified = "random, products of several goroutines", true
	all = append(all, wide)
	for _, slope := range []float32{0, .2} {
		for seed, hidden := range [][]int{{33}, {13, 7}} {
			s := newSums(t, uint64(seed), slope, func(c *critic.Critic, u *rand.Rand) {
				for i, w := range c.Parameters() {
					if u.IntN(3) > 0 {
						c.Parameters()[i] = float32(math.Copysign(3e38, float64(w)))
					}
				}
			}, hidden...)
			s.name = fmt.Sprint("overflow ", hidden, slope)
			all = append(all, s)
		}
	}
	u := rand.New(rand.NewPCG(5, 5))
	for _, s := range all {
		var weigh func(x, delta [][]float64) int64
		var paid *bounds.PenaltyCertificate
		if s.name[:2] != "ov" {
			ball := bounds.Config{
				Adjacency: accountant.AddRemove, Mode: bounds.Ball(.5), Factor: factor,
			}
			cert, err := bounds.Certify(s.c.Network(), s.in, ball)
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			weigh = bounds.NewClipper(cert).Weight
			if s.name[:2] == "ra" {
				c := bounds.PenaltyConfig{Adjacency: accountant.AddRemove, Reach: .1}
				if paid, err = bounds.CertifyPenalty(s.c.Network(), c); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
			}
		}
		kernels.EachUnit(func(level string) {
			want := s.of(factor, weigh, paid, []int{0})
			for i := 1; i < sumRows; i++ {
				add(want, s.of(factor, weigh, paid, []int{i}))
			}
			for _, cuts := range [][]int{{sumRows}, {1, 12, 6, 7, 254}, {3, 277}} {
				order := u.Perm(sumRows)
				got := make([]int64, len(want))
				for _, n := range cuts {
					add(got, s.of(factor, weigh, paid, order[:n]))
					order = order[n:]
				}
				for k := range want {
					if got[k] != want[k] {
						t.Fatalf("%s, %s, cut into %v: number %d is %d, of single rows %d",
							s.name, level, cuts, k, got[k], want[k])
					}
				}
			}
		})
	}
}

func add(dst, src []int64) {
	for k, x := range src {
		dst[k] += x
	}
}
