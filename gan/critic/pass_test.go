package critic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/table"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// encoder is of five columns, of which two are scaled if some are.
func encoder(t *testing.T, scaled bool) *Encoder {
	t.Helper()
	e, err := NewEncoderOf([]int{3, 2, 5, 4, 1})
	if err == nil && scaled {
		e, err = e.Scaled([]bool{false, true, false, true, false})
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

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
		c.Each(factor, columns, []int{row}, nil, func(p *Pass) {
			at := 0
			for l := range c.layers {
				in, units := c.sizes[l], c.sizes[l+1]
				delta, x := p.Delta[l][:units], make([]int64, in)
				if l > 0 {
					copy(x, p.X[l])
				} else {
					for k, cell := range p.Cells(0) {
						if x[cell] = one; c.encoder.IsScaled(k) {
							x[cell] = int64(p.values[0][k] * float32(one))
						}
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
// last digit, from a pass that others have used before, in several goroutines at a time.
func TestSumIsExact(t *testing.T) {
	u := newRand(30)
	encoders := []*Encoder{encoder(t, false), encoder(t, true)}
	for k, hidden := range [][]int{{1}, {3}, {8}, {33, 12}, {40, 5, 17}} {
		e := encoders[k%2]
		c, err := New(e, Options{Hidden: hidden, Slope: .2}, u)
		if err != nil {
			t.Fatal(err)
		}
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

// TestPassIsWiped: nothing of the rows is left in a pass that goes back to the others.
func TestPassIsWiped(t *testing.T) {
	u := newRand(31)
	e := encoder(t, true)
	c, _ := New(e, Options{Hidden: []int{9, 7}, Slope: .2}, u)
	columns := randomColumns(u, e, chunk)
	p := newPass(c)
	p.c, p.one = c, 1<<10
	for _, p.N = range []int{chunk, 5, 0} {
		p.read(columns, nil, 0)
		p.first()
		p.forward()
		p.backward()
		for _, v := range [][]int64{p.X[1][:p.N*9], p.Delta[0][:p.N*9], p.Delta[1][:p.N*7]} {
			for i := range v {
				v[i] = 1
			}
		}
		p.wipe(p.N)
		left := fmt.Sprint(p.cells, p.values, p.S, p.x, p.delta, p.X, p.Delta)
		if strings.Trim(left, "0[] ") != "" {
			t.Fatalf("%d rows: there is left %s", p.N, left)
		}
	}
	got := c.passes.Get().(*Pass)
	if len(got.X[1]) != chunk*9 || len(got.cells) != chunk {
		t.Error("a pass of another shape")
	}
}
