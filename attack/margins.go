package attack

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
)

// margins are counts of rows over every column and over pairs of columns.
type margins struct {
	sizes  []int
	sets   [][]int
	counts [][]float64
}

// Limits of the pairs that margins hold: beyond them an attack sees columns only.
const (
	maxPairs     = 120
	maxPairCells = 1 << 14
)

func newMargins(sizes []int) *margins {
	m := &margins{sizes: sizes}
	add := func(cells int, cols ...int) {
		m.sets = append(m.sets, cols)
		m.counts = append(m.counts, make([]float64, cells))
	}
	for i, n := range sizes {
		add(n, i)
	}
	for i := range sizes {
		for j := range i {
			if len(m.sets) < len(sizes)+maxPairs && sizes[i]*sizes[j] <= maxPairCells {
				add(sizes[i]*sizes[j], i, j)
			}
		}
	}
	return m
}

// cell is the place of a row in set k.
func (m *margins) cell(k int, row []uint16) int {
	c := 0
	for _, col := range m.sets[k] {
		c = c*m.sizes[col] + int(row[col])
	}
	return c
}

// add counts a row with a weight.
func (m *margins) add(row []uint16, weight float64) {
	for k := range m.sets {
		m.counts[k][m.cell(k, row)] += weight
	}
}

// addTable counts the rows of a table.
func (m *margins) addTable(t *table.Table) {
	row := make([]uint16, len(m.sizes))
	for r := range t.Rows() {
		rowTo(row, t, r)
		m.add(row, 1)
	}
}

// addModel counts n rows drawn from a model, scaled to the number of rows that it stands for.
func (m *margins) addModel(p release.Params, n int) {
	sample := p.Sample(n, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	row := make([]uint16, len(m.sizes))
	for r := range n {
		for c := range row {
			row[c] = sample[c][r]
		}
		m.add(row, p.Total()/float64(n))
	}
}

// rowTo stores row r of a table in dst.
func rowTo(dst []uint16, t *table.Table, r int) {
	for c := range dst {
		dst[c] = t.Column(c).At(r)
	}
}

// excess is how many more rows than expected m holds in the cells of a row, each cell weighted; the
// sets are those of both.
func (m *margins) excess(
	expected *margins, row []uint16, weight func(set, cell int) float64,
) float64 {
	sum := 0.0
	for k := range m.sets {
		c := m.cell(k, row)
		sum += weight(k, c) * (m.counts[k][c] - expected.counts[k][c])
	}
	return sum
}
