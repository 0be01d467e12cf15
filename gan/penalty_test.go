package gan

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// penaltyCase is a critic with rows, generated rows and a word for each row.
type penaltyCase struct {
	c         *Critic
	columns   []table.Codes
	generated Matrix
	words     []uint64
}

func newPenaltyCase(t *testing.T, rows int, hidden ...int) penaltyCase {
	u := testRand(41)
	e := testEncoder(t, testSizes...)
	c := stattest.Must(NewCritic(e, CriticOptions{Hidden: hidden, Slope: .2}, u))
	for _, layer := range views(c, c.Parameters()) {
		for i := range layer.W.Data {
			layer.W.Data[i] *= 2 // norms on both sides of 1
		}
		copy(layer.B, normals(u, len(layer.B), .3))
	}
	p := penaltyCase{c: c, columns: randomColumns(u, e, rows),
		generated: matrix.New(7, c.Sizes()[0])}
	for i := range p.generated.Data {
		p.generated.Data[i] = float32(u.Float64())
	}
	for range rows {
		p.words = append(p.words, u.Uint64())
	}
	return p
}

// weights is the number of weights, without biases.
func (p penaltyCase) weights() (n int) {
	for _, layer := range p.c.Network().Layers {
		n += len(layer.Weights)
	}
	return n
}

// sum calls AddPenaltySumTo on some rows with their words.
func (p penaltyCase) sum(
	factor float64, weight func(t, delta [][]float64) int64, rows []int,
) []int64 {
	out := make([]int64, p.weights())
	next := 0
	draw := func() uint64 {
		next++
		if rows == nil {
			return p.words[next-1]
		}
		return p.words[rows[next-1]]
	}
	p.c.AddPenaltySumTo(out, factor, p.generated.Data, draw, weight, p.columns, rows)
	return out
}

func fullWeight(_, _ [][]float64) int64 { return 1 }

// TestPenaltySumIsThePenalty: at the same points the sum is the gradient of the two-sided penalty
// that a tutor takes of dense rows (which is compared with finite differences and with Gorgonia
// elsewhere), up to the rounding to the grid.
func TestPenaltySumIsThePenalty(t *testing.T) {
	const rows, factor = 300, 0x1p-20
	for name, p := range map[string]penaltyCase{
		"one layer":  newPenaltyCase(t, rows, 8),
		"two layers": newPenaltyCase(t, rows, 8, 5),
	} {
		e := p.c.Encoder()
		mixed := matrix.New(rows, p.c.Sizes()[0])
		for i, word := range p.words {
			partner, rest := bits.Mul64(word, uint64(p.generated.Rows))
			alpha := float32(rest>>40) * 0x1p-24
			row := mixed.Row(i)
			for k, column := range p.columns {
				row[e.Offset(k)+int(column.At(i))] = 1
			}
			for j, g := range p.generated.Row(int(partner)) {
				row[j] = alpha*row[j] + (1-alpha)*g
			}
		}
		tutor := NewTutor(p.c, rows)
		want, _ := tutor.Gradient(mixed)
		clear(want)
		tutor.AddPenalty(mixed, 1, false)
		got := p.sum(factor, fullWeight, nil)
		for l, part := range views(p.c, want) {
			for k, w := range part.W.Data {
				g := float64(got[k]) * factor * factor / rows
				if math.Abs(g-float64(w)) > 1e-5*(1+math.Abs(float64(w))) {
					t.Fatalf("%s, layer %d, weight %d: %v, want %v", name, l+1, k, g, w)
				}
			}
			got = got[len(part.W.Data):]
		}
	}
}

// TestPenaltySumIsWeighted: with weights that are a function of the factors the sum is exactly that
// of single rows with the same words, wherever a row stands; the factors are those that the sum
// multiplies.
func TestPenaltySumIsWeighted(t *testing.T) {
	const factor = 0x1p-12
	p := newPenaltyCase(t, 320, 5, 3)
	weight := func(t, delta [][]float64) int64 {
		return int64(1000*math.Abs(t[0][0]+delta[0][0])) & 0xff
	}
	want := make([]int64, p.weights())
	for i := range p.words {
		var product []int64
		one := p.sum(factor, func(x, delta [][]float64) int64 {
			w := weight(x, delta)
			for l := range x {
				for _, a := range x[l] {
					for _, b := range delta[l] {
						product = append(product, int64(a/factor)*int64(b/factor)*w)
					}
				}
			}
			return w
		}, []int{i})
		if !slices.Equal(one, product) {
			t.Fatalf("row %d: the sum is not the product of its factors", i)
		}
		for k, v := range one {
			want[k] += v
		}
	}
	if !slices.Equal(p.sum(factor, weight, nil), want) {
		t.Error("the sum is not that of its rows")
	}
}

// TestPenaltySumOfLargeFactors: a factor times a weight of 256 that is more than 32 bits is
// multiplied exactly all the same.
func TestPenaltySumOfLargeFactors(t *testing.T) {
	const factor = 0x1p-16
	p := newPenaltyCase(t, 40, 8, 8)
	for _, layer := range views(p.c, p.c.Parameters())[1:] {
		for i := range layer.W.Data {
			layer.W.Data[i] *= 30
		}
	}
	largest := 0.
	got := p.sum(factor, func(_, delta [][]float64) int64 {
		for _, d := range delta[0] {
			largest = max(largest, d, -d)
		}
		return 256
	}, nil)
	if largest <= 0x1p31/256*factor || largest > 0x1p26*factor {
		t.Fatalf("the test's factors reach %v", largest)
	}
	for k, v := range p.sum(factor, fullWeight, nil) {
		if got[k] != 256*v {
			t.Fatalf("weight %d: %d, want 256 times %d", k, got[k], v)
		}
	}
}

func TestPenaltySumPanics(t *testing.T) {
	p := newPenaltyCase(t, 3, 2)
	draw := func() uint64 { return 0 }
	dst := make([]int64, p.weights())
	generated := p.generated.Data
	for name, call := range map[string]func(){
		"factor": func() {
			p.c.AddPenaltySumTo(dst, .3, generated, draw, fullWeight, p.columns, nil)
		},
		"length": func() {
			p.c.AddPenaltySumTo(dst[1:], .5, generated, draw, fullWeight, p.columns, nil)
		},
		"nobody": func() { p.c.AddPenaltySumTo(dst, .5, nil, draw, fullWeight, p.columns, nil) },
		"too wide": func() {
			p.c.AddPenaltySumTo(dst, .5, generated[1:], draw, fullWeight, p.columns, nil)
		},
		"too short": func() {
			p.c.AddPenaltySumTo(dst, .5, generated, draw, fullWeight, p.columns[1:], nil)
		},
	} {
		stattest.Panics(t, call, "%s", name)
	}
}
