package attack

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
)

// margins are counts of rows over every column and over sets of columns.
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

// newMargins has every column and pairs of columns.
func newMargins(sizes []int) *margins {
	m := &margins{sizes: sizes}
	for i, n := range sizes {
		m.add(make([]float64, n), i)
	}
	for i := range sizes {
		for j := range i {
			if len(m.sets) < len(sizes)+maxPairs && sizes[i]*sizes[j] <= maxPairCells {
				m.add(make([]float64, sizes[i]*sizes[j]), i, j)
			}
		}
	}
	return m
}

// add takes in the counts of a set of columns.
func (m *margins) add(counts []float64, cols ...int) {
	m.sets, m.counts = append(m.sets, cols), append(m.counts, counts)
}

// cell is the place of a row in set k. A model that has bought coarser bins has fewer codes: the
// last one stays the last one.
func (m *margins) cell(k int, row []uint16) int {
	c := 0
	for _, col := range m.sets[k] {
		c = c*m.sizes[col] + min(int(row[col]), m.sizes[col]-1)
	}
	return c
}

// count counts a row with a weight.
func (m *margins) count(row []uint16, weight float64) {
	for k := range m.sets {
		m.counts[k][m.cell(k, row)] += weight
	}
}

// addTable counts the rows of a table.
func (m *margins) addTable(t *table.Table) {
	for r := range t.Rows() {
		m.count(rowOf(t, r), 1)
	}
}

// sampledRows is how many rows are drawn from a model that cannot be asked for counts. Drawing adds
// noise of its own, which costs an audit power but never makes it wrong.
const sampledRows = 20_000

// sampled counts rows drawn from a model, scaled to the number of rows that it stands for.
func sampled(p release.Params, sizes []int) *margins {
	m := newMargins(sizes)
	sample := p.Sample(sampledRows, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	row := make([]uint16, len(sizes))
	for r := range sampledRows {
		for c := range row {
			row[c] = sample[c][r]
		}
		m.count(row, p.Total()/sampledRows)
	}
	return m
}

// rowOf is row r of a table.
func rowOf(t *table.Table, r int) []uint16 {
	row := make([]uint16, len(t.Schema().Columns))
	for c := range row {
		row[c] = t.Column(c).At(r)
	}
	return row
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

// view is what an auditor who holds the parameters of a model looks at: how many rows it thinks
// there are, and how many with the target's codes, column by column and in the combinations that it
// models, beside those of the opposite corner.
//
// The features are: number of rows; rows with the target's code in each column; rows with the
// corner's, summed over columns; rows with the target's codes in combinations, and with the
// corner's.
func view(params release.Params, target, corner []uint16) ([]float64, error) {
	m, group, err := modelled(params)
	if err != nil {
		return nil, err
	}
	target, corner = group(target), group(corner)
	out := []float64{params.Total()}
	corners, pairs, cornerPairs := 0.0, 0.0, 0.0
	for k, set := range m.sets {
		t, c := m.counts[k][m.cell(k, target)], m.counts[k][m.cell(k, corner)]
		if len(set) == 1 {
			out = append(out, t)
			corners += c
		} else {
			pairs += t
			cornerPairs += c
		}
	}
	return append(out, corners, pairs, cornerPairs), nil
}

// modelled are the counts of a model, and what it takes a row for. A graphical model is asked: it
// sees groups of codes, and a rare code is seen with its group. Of others rows are drawn.
func modelled(
	params release.Params,
) (m *margins, group func(row []uint16) []uint16, err error) {
	p, ok := params.(*release.Marginal)
	if !ok {
		return sampled(params, params.Sizes()), func(row []uint16) []uint16 { return row }, nil
	}
	m = &margins{sizes: p.Model.Sizes()}
	sets := p.Model.Cliques()
	for col := range m.sizes {
		sets = append([][]int{{len(m.sizes) - 1 - col}}, sets...)
	}
	for _, cols := range sets {
		n := 1
		for _, col := range cols {
			n *= m.sizes[col]
		}
		counts := make([]float64, n)
		if err := p.Model.MarginalTo(counts, cols); err != nil {
			return nil, nil, err
		}
		m.add(counts, cols...)
	}
	codes := p.Sizes()
	return m, func(row []uint16) []uint16 {
		out := make([]uint16, len(row))
		for col, code := range row {
			out[col] = min(code, uint16(codes[col]-1))
			if g := p.Grouping.Groups(col); g != nil {
				out[col] = uint16(g[out[col]])
			}
		}
		return out
	}, nil
}
