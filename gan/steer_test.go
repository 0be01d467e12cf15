package gan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// steeringTest is a generator that knows nothing and the pairs of rows in which the second column
// is the first, but for one row in ten, and the third is even.
func steeringTest(t *testing.T) (*Generator, *Pairs) {
	e := testEncoder(t, 5, 5, 3)
	g, err := NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 8}, testRand(1))
	if err != nil {
		t.Fatal(err)
	}
	u, codes := testRand(2), make([][]uint16, 3)
	for range 100_000 {
		a := uint16(min(u.IntN(5), u.IntN(5)))
		b := a
		if u.IntN(10) == 0 {
			b = uint16(u.IntN(5))
		}
		codes[0], codes[1] = append(codes[0], a), append(codes[1], b)
		codes[2] = append(codes[2], uint16(u.IntN(3)))
	}
	return g, NewPairs(e, codes)
}

// apart is the mean total variation distance of the pairs of columns.
func apart(a, b *Pairs) float64 {
	sum, columns := 0., len(a.offsets)-1
	for i, x := range a.pairs.Data {
		sum += math.Abs(float64(x - b.pairs.Data[i]))
	}
	return sum / 2 / float64(columns*(columns-1))
}

// TestSampleToward: the pairs of steered rows are within a few rows a cell of what they are steered
// to, in one block of rows and in several, where rows as they come are far away. Of any row the
// same holds: nothing shows in which place it was drawn.
func TestSampleToward(t *testing.T) {
	g, want := steeringTest(t)
	draw := func(n int, seed uint64) [][]uint16 { return g.SampleToward(want, n, testRand(seed)) }
	if d := apart(want, NewPairs(g.encoder, g.Sample(20_000, testRand(3)))); d < .2 {
		t.Fatalf("rows as they come are %.4f away: nothing to do", d)
	}
	for n, limit := range map[int]float64{300: .03, 10_000: .003, 2*steeredRows + 9: .002} {
		if d := apart(want, NewPairs(g.encoder, draw(n, 4))); d > limit {
			t.Errorf("%d steered rows are %.4f away", n, d)
		}
	}
	a, b, c := draw(500, 5), draw(500, 5), draw(500, 6)
	for k := range a {
		if !slices.Equal(a[k], b[k]) || slices.Equal(a[k], c[k]) {
			t.Errorf("column %d: rows do not follow the seed", k)
		}
	}
	if len(draw(0, 1)[0]) != 0 {
		t.Error("rows in a sample of none")
	}
}

// TestSteeringCounts: after each draw the scores are what the rows so far say, to rounding, and a
// code that the generator does not give is not drawn.
func TestSteeringCounts(t *testing.T) {
	g, want := steeringTest(t)
	g.layers[2].B[4] = -200 // the last code of the first column, which one row in 25 has
	s := newSteering(g, want, testRand(7))
	counts, ones, n := make([]float64, len(s.two.Data)), make([]float64, len(s.one)), 0
	for _, rows := range []int{700, 700, 90} {
		s.draw(rows)
		s.again(s.rows[3], s.chance.Row(3), 4)
		n += rows
		for _, row := range s.rows {
			for _, a := range row {
				ones[a]++
				for _, b := range row {
					if a != b {
						counts[a*s.two.Cols+b]++
					}
				}
			}
		}
		check := func(scores, shares []float32, counts []float64) {
			for k, score := range scores {
				if shares[k] == 0 && counts[k] == 0 {
					continue // cells of one column
				}
				p := float64(shares[k])
				want := (2*(counts[k]-float64(n)*p) + 1) / (float64(rows)*p + 1)
				if math.Abs(want-float64(score)) > 1e-3*(1+math.Abs(want)) {
					t.Fatalf("after %d rows, cell %d: score %v, want %v", n, k, score, want)
				}
			}
		}
		check(s.one, want.ones, ones)
		check(s.two.Data, want.pairs.Data, counts)
	}
	if ones[4] > 0 {
		t.Errorf("%v rows with a code that the generator does not give", ones[4])
	}
}

func TestSteeringPanics(t *testing.T) {
	e := testEncoder(t, MaxSteered, 1)
	g, err := NewGenerator(e, GeneratorOptions{Latent: 1, Hidden: 1}, testRand(1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a row of too many cells is steered")
		}
	}()
	g.SampleToward(nil, 1, rand.New(rand.NewPCG(1, 1)))
}
