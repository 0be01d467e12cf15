package marginal

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChooser. Rows of two columns, each drawn from a chance that is off from the pairs, become as
// these have them: of 4,000 rows a pair is off by less than a third of what it is without. Rows
// without a chance are never drawn, and the same u draws the same rows.
func TestChooser(t *testing.T) {
	want := [][]float64{{.3, .1, 0}, {.05, .25, .3}}
	var codes [2][]uint16
	for a, row := range want {
		for b, share := range row {
			for range int(share * 1000) {
				codes[0], codes[1] = append(codes[0], uint16(a)), append(codes[1], uint16(b))
			}
		}
	}
	pairs := CountPairs([]int{2, 3}, codes[:])
	const n = 4000
	draw := func(way string, seed uint64) (rows [][]uint16, off float64) {
		u := rand.New(rand.NewPCG(seed, 1))
		c := NewChooser(pairs, n, [][]float32{{4, 16}, {0, 4}})
		any := func() []uint16 { // column 1 comes from nothing
			row := []uint16{1, uint16(u.IntN(3))}
			if u.IntN(10) < 4 {
				row[0], row[1] = 0, uint16(u.IntN(2))
			}
			return row
		}
		for range n {
			row := any()
			if way == "choose" {
				offered := [][]uint16{row, any(), any(), any(), {0, 2}}
				chance := []float32{1, 1, 1, 1, 0}
				c.Weigh(offered, chance)
				row = offered[Pick(chance, chance[0]+chance[1]+chance[2]+chance[3], u)]
			}
			if row[0] == 0 && row[1] == 2 {
				t.Fatalf("%s: %v has no chance", way, row)
			}
			c.Count(row)
			rows = append(rows, row)
		}
		for a, shares := range want {
			for b, share := range shares {
				k := 0.
				for _, row := range rows {
					if int(row[0]) == a && int(row[1]) == b {
						k++
					}
				}
				off += max(k/n-share, share-k/n) / 2
			}
		}
		return rows, off
	}
	_, without := draw("", 1)
	for _, way := range []string{"choose"} {
		rows, off := draw(way, 1)
		t.Logf("%s: %.3f, and %.3f without", way, off, without)
		if off > without/3 {
			t.Errorf("%s: %.3f off, and %.3f without", way, off, without)
		}
		if same, _ := draw(way, 1); !slices.EqualFunc(rows, same, slices.Equal[[]uint16]) {
			t.Errorf("%s: the same seed draws other rows", way)
		}
	}
}
