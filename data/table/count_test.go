package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTable makes a table of codes without a schema, for the counting
// loops; skew > 0 makes low codes frequent.
func randomTable(rng *rand.Rand, rows int, sizes []int, skew int) *Table {
	t := &Table{sizes: sizes, rows: rows}
	for _, size := range sizes {
		c := NewCodes(size, rows)
		for i := range rows {
			v := rng.IntN(size)
			for range skew {
				v = min(v, rng.IntN(size))
			}
			c.Set(i, uint16(v))
		}
		t.cols = append(t.cols, c)
	}
	return t
}

// naiveCount is CountTo row by row.
func naiveCount(t *Table, dst []int64, cols []int) {
	for i := range t.rows {
		x := 0
		for _, c := range cols {
			x = x*t.sizes[c] + int(t.cols[c].At(i))
		}
		dst[x]++
	}
}

func TestCountsAgreeWithTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{2, 1, 7, 256, 257, 300, 16, 3, 100}
	for _, rows := range []int{0, 1, 3, 4, 5, 1023, 1025, 5000, 2*rowsPerWorker + 17} {
		tab := randomTable(rng, rows, sizes, 1)
		for _, cols := range [][]int{
			{}, {0}, {1}, {3}, {4}, {2, 0}, {0, 2}, {3, 3}, {3, 2}, {4, 0}, {5, 4}, {0, 2, 6}, {6, 2, 7},
			{2, 2, 2},
			{0, 4, 2}, {0, 1, 2, 6}, {7, 6, 2, 0, 1}, {3, 4, 6, 0}, {8, 8, 8},
		} {
			t.Run(fmt.Sprint(rows, cols), func(t *testing.T) {
				cells := 1
				for _, c := range cols {
					cells *= sizes[c]
				}
				got, want := tab.Counts(cols...), make([]int64, cells)
				naiveCount(tab, want, cols)
				if !slices.Equal(got, want) {
					t.Errorf("Counts(%v) over %d rows differs from the row-by-row count", cols, rows)
				}
			})
		}
	}
}
