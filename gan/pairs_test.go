package gan

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
)

// someRows are rows of codes of testSizes, in which column 1 follows column 0.
func someRows(n int, sizes []int) [][]uint16 {
	u := testRand(31)
	codes := make([][]uint16, len(sizes))
	for range n {
		first := u.IntN(sizes[0])
		for k, m := range sizes {
			code := u.IntN(m)
			if k < 2 {
				code = first % m
			}
			codes[k] = append(codes[k], uint16(code))
		}
	}
	return codes
}

// slow is weight · L by its definition.
func (p *pairLoss) slow(x Matrix, codes [][]uint16) (loss float64) {
	half, n := x.Rows/2, float64(len(codes[0]))
	mean := func(side, i, j int) (sum float64) {
		for r := range half {
			row := x.Row(side*half + r)
			v := float64(row[i])
			if j >= 0 {
				v *= float64(row[j])
			}
			sum += v / float64(half)
		}
		return sum
	}
	count := 0.
	cell := func(share float64, i, j int) {
		loss += pairRows / max(share/n, float64(p.floor)) * (mean(0, i, j) - share/n) *
			(mean(1, i, j) - share/n)
		count++
	}
	for k := range codes {
		for c := range p.Offsets[k+1] - p.Offsets[k] {
			one := 0.
			for _, code := range codes[k] {
				if int(code) == c {
					one++
				}
			}
			cell(one, p.Offsets[k]+c, -1)
			for o := range k {
				for d := range p.Offsets[o+1] - p.Offsets[o] {
					both := 0.
					for r, code := range codes[k] {
						if int(code) == c && int(codes[o][r]) == d {
							both++
						}
					}
					cell(both, p.Offsets[k]+c, p.Offsets[o]+d)
				}
			}
		}
	}
	return loss / count
}

// TestPairsGradient compares the loss with its definition, and the gradient with differences of
// the loss, which is a product of quadratic means: exact for a step of any size but for rounding.
func TestPairsGradient(t *testing.T) {
	e, u := testEncoder(t, testSizes...), testRand(32)
	codes := someRows(200, testSizes)
	p := newPairLoss(marginal.CountPairs(e.Sizes(), codes))
	g := stattest.Must(NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u))
	const batch, weight = 8, .5
	x, down := g.NewPass(batch, Head{Mean: true}).Forward(u), matrix.New(batch, e.Cells())
	down.Data[3] = 7
	got := p.AddTo(down, x, weight, u)
	if want := weight * p.slow(x, codes); math.Abs(got-want) > 1e-4*math.Abs(want) {
		t.Fatalf("loss %v, by the definition %v", got, want)
	}
	down.Data[3] -= 7 // it adds
	differences(t, "pairs", x.Data, down.Data, 1e-2, .01,
		func() float64 { return weight * p.slow(x, codes) })
}

// TestPairsAreLearned: a generator that was distilled has the dependence of two columns, of wide
// rows too, of which a step sees some columns. Null: independent columns are .5 off or more.
func TestPairsAreLearned(t *testing.T) {
	for name, sizes := range map[string][]int{"narrow": {4, 4, 3}, "wide": {4, 4, 300, 300}} {
		e, u := testEncoder(t, sizes...), testRand(33)
		codes := someRows(2000, sizes)
		g := stattest.Must(NewGenerator(e, GeneratorOptions{Latent: 8, Hidden: 32}, u))
		d := g.Distil(marginal.CountPairs(e.Sizes(), codes))
		for k := range 400 {
			d.Step(float64(k)/400, u)
		}
		d.Settle()
		same, rows := 0, g.Sample(4000, u)
		for r, code := range rows[0] {
			if rows[1][r] == code {
				same++
			}
		}
		if same < 3200 {
			t.Errorf("%s: %d of 4000 rows agree, all should", name, same)
		}
	}
}
