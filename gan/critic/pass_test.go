package critic

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// randomColumns draws n rows of codes.
func randomColumns(u *rand.Rand, e *Encoder, n int) (out []table.Codes) {
	for _, size := range e.Sizes() {
		c := table.Codes{U16: make([]uint16, n)}
		for i := range c.U16 {
			c.U16[i] = uint16(u.IntN(size))
		}
		out = append(out, c)
	}
	return out
}

// naiveSum is AddSumTo by its definition: the rounded factors of each row alone, multiplied one by
// one.
func naiveSum(c *Critic, factor float64, columns []table.Codes, rows []int) []int64 {
	dst, one := make([]int64, len(c.parameters)), int64(1/factor)
	for _, row := range rows {
		c.each(factor, columns, []int{row}, nil, func(p *pass) {
			at := 0
			for l := range c.layers {
				in, units := c.sizes[l], c.sizes[l+1]
				delta, x := p.deltas[l][:units], make([]int64, in)
				if l > 0 {
					copy(x, p.inputs[l])
				} else {
					for _, cell := range p.cells[0] {
						x[cell] = one
					}
				}
				for k := range in {
					for j := range units {
						dst[at+k*units+j] += x[k] * delta[j]
					}
				}
				at += in * units
				for j := range units {
					dst[at+j] += one * delta[j]
				}
				at += units
			}
		})
	}
	return dst
}

// TestSumIsExact: every shape of layers and number of rows gives the sum of the definition, to the
// last digit, in several goroutines at a time.
func TestSumIsExact(t *testing.T) {
	u := newRand(30)
	e := stattest.Must(NewEncoderOf([]int{3, 2, 5, 4, 1}))
	for _, hidden := range [][]int{{1}, {3}, {8}, {33, 12}, {40, 5, 17}} {
		c := stattest.Must(New(e, Options{Hidden: hidden, Slope: .2}, u))
		const total, factor = 300, 0x1p-20
		columns := randomColumns(u, e, total)
		var all sync.WaitGroup
		for _, n := range []int{300, 256, 131, 2, 1, 0, 300} {
			rows := u.Perm(total)[:n]
			all.Go(func() {
				got, want := make([]int64, len(c.parameters)), naiveSum(c, factor, columns, rows)
				c.Clone().AddSumTo(got, nil, factor, columns, rows)
				for i := range got {
					if got[i] != want[i] {
						t.Errorf("hidden %v, %d rows: number %d is %d, want %d", hidden, n, i,
							got[i], want[i])
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// TestOf: a critic of a network is a copy of it, and adds up what that does; one of a linear
// network counts cells. What is no network of these rows is refused.
func TestOf(t *testing.T) {
	u := newRand(32)
	e := stattest.Must(NewEncoderOf([]int{3, 2}))
	given := stattest.Must(New(e, Options{Hidden: []int{4, 3}, Slope: .2}, u))
	c, err := Of(e, given.Network())
	if err != nil || !slices.Equal(c.Parameters(), given.Parameters()) || c.Slope() != .2 {
		t.Fatalf("another network: %v", err)
	}
	given.Parameters()[0]++
	if c.Parameters()[0] == given.Parameters()[0] {
		t.Error("the weights are the caller's")
	}
	linear := bounds.Network{Layers: []bounds.Layer{{Weights: make([]float32, 5),
		Bias: make([]float32, 1)}}}
	if c, err = Of(e, linear); err != nil {
		t.Fatal(err)
	}
	sum, columns := make([]int64, 6), []table.Codes{{U8: []uint8{0, 2, 2}}, {U8: []uint8{1, 1, 0}}}
	c.AddSumTo(sum, nil, 1, columns, nil)
	if want := []int64{1, 0, 2, 1, 2, 3}; !slices.Equal(sum, want) {
		t.Errorf("counts %v, want %v", sum, want)
	}
	wide, _ := NewEncoderOf([]int{3, 3})
	slope := given.Network()
	slope.Slope = 2
	for name, f := range map[string]func() (*Critic, error){
		"other rows": func() (*Critic, error) { return Of(wide, linear) },
		"no layer":   func() (*Critic, error) { return Of(e, bounds.Network{}) },
		"slope":      func() (*Critic, error) { return Of(e, slope) },
	} {
		stattest.Wraps(t, stattest.Err(f()), bounds.ErrNetwork, "%s", name)
	}
}
