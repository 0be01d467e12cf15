package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
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

func TestCountToAgreesWithTheDefinition(t *testing.T) {
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
				got, want := make([]int64, cells), make([]int64, cells)
				got[0], want[0] = 5, 5 // CountTo adds
				tab.CountTo(got, cols)
				naiveCount(tab, want, cols)
				if !slices.Equal(got, want) {
					t.Errorf("CountTo(%v) over %d rows differs from the row-by-row count", cols, rows)
				}
			})
		}
	}
}

func TestCountToRefusesAWrongLength(t *testing.T) {
	tab := randomTable(rand.New(rand.NewPCG(1, 2)), 10, []int{2, 3}, 0)
	for _, n := range []int{0, 1, 5, 7} {
		stattest.Panics(t, func() { tab.CountTo(make([]int64, n), []int{0, 1}) },
			"a marginal of 6 cells counted into %d", n)
	}
}
