package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func testRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

var sizes = []int{5, 5, 3}

// want are the pairs of rows in which the second column is the first, but for one row in ten, and
// the third is even.
func want() *Pairs {
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
	return CountPairs(sizes, codes)
}

// even draws rows of which all are as likely.
func even(n int, u *rand.Rand) [][]uint16 {
	codes := make([][]uint16, len(sizes))
	for k, size := range sizes {
		for range n {
			codes[k] = append(codes[k], uint16(u.IntN(size)))
		}
	}
	return codes
}

func flat(dst []float32, _, _ int) {
	for c := range dst {
		dst[c] = 1
	}
}

// apart is the mean total variation distance of the pairs of columns.
func apart(a, b *Pairs) float64 {
	sum, columns := 0., len(a.Offsets)-1
	for i, x := range a.Two.Data {
		sum += math.Abs(float64(x - b.Two.Data[i]))
	}
	return sum / 2 / float64(columns*(columns-1))
}

// TestCount compares with the definition; pairs that meet a model have its columns, and are scaled.
func TestCount(t *testing.T) {
	codes := even(700, testRand(1))
	p := CountPairs(sizes, codes)
	share := func(cells ...int) float64 {
		n := 0
		for r := range codes[0] {
			all := true
			for _, cell := range cells {
				k := 2
				for p.Offsets[k] > cell {
					k--
				}
				all = all && int(codes[k][r]) == cell-p.Offsets[k]
			}
			if all {
				n++
			}
		}
		return float64(n) / 700
	}
	for i, one := range p.Ones {
		if math.Abs(float64(one)-share(i)) > 1e-6 {
			t.Errorf("cell %d: %v, want %v", i, one, share(i))
		}
		for j, two := range p.Two.Row(i) {
			if i != j && math.Abs(float64(two)-share(i, j)) > 1e-6 {
				t.Errorf("cells %d and %d: %v, want %v", i, j, two, share(i, j))
			}
		}
	}
	m, err := FromFactors(sizes, [][]int{{0}, {1}, {2}},
		[][]float64{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 2, 1}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	was := p.Two.Row(0)[11] * .2 / p.Ones[0] * .5 / p.Ones[11]
	p.Meet(m)
	if a, b := p.Two.Row(0)[11], p.Two.Row(11)[0]; a != b || math.Abs(float64(a-was)) > 1e-6 {
		t.Errorf("a pair of %v and %v, want %v", a, b, was)
	}
	for i, want := range []float64{.2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .25, .5, .25} {
		if math.Abs(float64(p.Ones[i])-want) > 1e-6 {
			t.Errorf("cell %d has %v, the model %v", i, p.Ones[i], want)
		}
	}
}

// TestRows: the pairs of steered rows are within a few rows a cell of what they are steered to, in
// one block and in several, which make up for each other, where rows as they come are far away; and
// one row in ten makes up for what chance has left in all.
func TestRows(t *testing.T) {
	want := want()
	if d := apart(want, CountPairs(sizes, even(20_000, testRand(3)))); d < .2 {
		t.Fatalf("rows as they come are %.4f away: nothing to do", d)
	}
	for limit, blocks := range map[float64][]int{
		.03: {300}, .003: {10_000}, .002: {9000, 1, 9000, 2000},
	} {
		s, all := NewSteering(want, testRand(4)), make([][]uint16, 3)
		for _, n := range blocks {
			block := even(n, testRand(5))
			s.Rows(block, []float64{1, 8, 64, 512}, n, flat)
			for k := range all {
				all[k] = append(all[k], block[k]...)
			}
		}
		if d := apart(want, CountPairs(sizes, all)); d > limit {
			t.Errorf("%v steered rows are %.4f away", blocks, d)
		}
	}
	near, rows := CountPairs(sizes, even(1<<20, testRand(11))), even(10_000, testRand(12))
	before := apart(near, CountPairs(sizes, rows))
	NewSteering(near, testRand(13)).Rows(rows, []float64{512}, 1000, flat)
	if after := apart(near, CountPairs(sizes, rows)); after > before/4 {
		t.Errorf("one row in ten brings %.4f to %.4f", before, after)
	}
	draw := func(seed uint64) [][]uint16 {
		codes := even(500, testRand(6))
		NewSteering(want, testRand(seed)).Rows(codes, []float64{64}, 500, flat)
		return codes
	}
	a, b, c := draw(5), draw(5), draw(6)
	for k := range a {
		if !slices.Equal(a[k], b[k]) || slices.Equal(a[k], c[k]) {
			t.Errorf("column %d: rows do not follow the seed", k)
		}
	}
	NewSteering(want, testRand(1)).Rows(even(0, nil), []float64{64}, 9, flat) // none
}

// TestScores: after each block the scores are what the rows so far say, to rounding, and a code
// without a chance is not drawn.
func TestScores(t *testing.T) {
	want := want()
	s := NewSteering(want, testRand(7))
	counts, ones, n := make([]float64, len(s.two.Data)), make([]float64, len(s.one)), 0
	for _, rows := range []int{700, 700, 90} {
		codes := even(rows, testRand(8))
		s.Rows(codes, []float64{4, 512}, rows, func(dst []float32, i, k int) {
			flat(dst, i, k)
			if k == 0 {
				dst[4] = 0
			}
		})
		n += rows
		row := make([]int, 3)
		for i := range rows {
			for k := range row {
				row[k] = s.p.Offsets[k] + int(codes[k][i])
			}
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
		check(s.one, want.Ones, ones)
		check(s.two.Data, want.Two.Data, counts)
	}
	if ones[4] > 0 {
		t.Errorf("%v rows with a code that has no chance", ones[4])
	}
	codes := [][]uint16{{4}, {0}, {1}}
	NewSteering(want, testRand(1)).Rows(codes, []float64{1}, 1,
		func(dst []float32, _, _ int) { clear(dst) })
	if codes[0][0] != 4 || codes[1][0] != 0 || codes[2][0] != 1 {
		t.Errorf("a row without any chance became %v", codes)
	}
}

// TestDraws: with β = 0 codes are drawn by their chances alone. Null: 40,000 draws of a code of
// chance .3; z = 5 has a false-alarm rate of 6e-7, and .29 or .31 is 4.4 standard deviations off.
func TestDraws(t *testing.T) {
	codes := even(40_000, testRand(9))
	NewSteering(want(), testRand(10)).Rows(codes, []float64{0}, 40_000, func(dst []float32, _, _ int) {
		clear(dst)
		dst[0], dst[2] = 3, 7
	})
	for k, column := range codes {
		n := 0.
		for _, code := range column {
			switch code {
			case 0:
				n++
			case 2:
			default:
				t.Fatalf("column %d: code %d has no chance", k, code)
			}
		}
		if z := (n - 12_000) / math.Sqrt(40_000*.3*.7); math.Abs(z) > 5 {
			t.Errorf("column %d: %v of 40,000 draws have a code of chance .3", k, n)
		}
	}
}

func TestExp(t *testing.T) {
	for x := 0.; x > -79.9; x -= .0137 {
		if got, want := float64(exp(x)), math.Exp(x); math.Abs(got-want) > 1e-7*want {
			t.Fatalf("e^%v = %v, want %v", x, got, want)
		}
	}
	if exp(-81) != 0 || exp(math.Inf(-1)) != 0 || exp(0) != 1 {
		t.Error("e^x at the ends")
	}
}
