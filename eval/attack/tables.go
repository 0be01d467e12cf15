package attack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// The shapes of worst-case tables. Both are made of two opposite rows: the corner has the first
// code in every column, the target the last.
const (
	// balanced has as many rows of the one as of the other. Counts are far from 0 and respond to
	// one more row as noise lets them: it shows noise that is too small, a wrong sensitivity, a
	// step that was not charged.
	balanced = "balanced"
	// rare has corner rows only, so that the target's codes occur in one of the two tables and not
	// in the other: it shows what depends on which codes occur.
	rare = "rare"
)

// Shapes lists the shapes.
func Shapes() []string { return []string{balanced, rare} }

// Pair is two neighbouring tables, and a third that tells how a method responds to their
// difference.
type Pair struct {
	Name    string
	Out, In *table.Table // differ by one privacy unit: In has it
	// Strong differs from Out as In does, by Strength units. Runs on it are never evidence: they
	// only teach an audit where to look, with a signal that is Strength times as large.
	Strong   *table.Table
	Strength int
	// codes of the unit's rows; of the rows they replace under replace-one, and of the opposite
	// corner
	Target, Corner []uint16
}

// neighbours builds neighbouring tables of a schema, of about the given number of rows (at least 8
// units). Under add/remove In has one unit of target rows more than Out; under replace-one it has a
// unit of target rows where Out has one of corner rows. A unit is a row, or as many rows as the
// schema lets one id have.
func neighbours(s *schema.Schema, adj accountant.Adjacency, shape string, rows int) (*Pair, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	// The relation is read off the schema and the adjacency here, not asked of package privacy: an
	// auditor does not take the audited's word.
	k := 1
	if s.Unit != "" {
		k = max(1, s.MaxRowsPerUnit)
	}
	sizes := s.Sizes()
	p := &Pair{Name: shape, Corner: make([]uint16, len(sizes)), Target: lastCodes(sizes)}
	if slices.Max(sizes) == 1 {
		return nil, fmt.Errorf("all columns of the schema have one code only: there is "+
			"nothing to tell apart: %w", schema.ErrInvalid)
	}
	units := max(8, rows/k)
	p.Strength = max(2, units/4)
	targets := 0
	if shape == balanced {
		targets = units / 2
	} else if shape != rare {
		return nil, fmt.Errorf("tables of shape %q are unknown; there is %v", shape, Shapes())
	}
	build := func(more int) (*table.Table, error) {
		corners := units - targets
		if adj == accountant.ReplaceOne {
			corners -= more
		}
		return tableOf(s, k, slices.Concat(slices.Repeat([][]uint16{p.Corner}, corners),
			slices.Repeat([][]uint16{p.Target}, targets+more)))
	}
	var errs [3]error
	p.Out, errs[0] = build(0)
	p.In, errs[1] = build(1)
	p.Strong, errs[2] = build(p.Strength)
	return p, errors.Join(errs[:]...)
}

// lastCodes is the row with the last code in every column.
func lastCodes(sizes []int) (row []uint16) {
	for _, n := range sizes {
		row = append(row, uint16(n-1))
	}
	return row
}

func randomRow(u *rand.Rand, sizes []int) []uint16 {
	row := make([]uint16, len(sizes))
	for i, n := range sizes {
		row[i] = uint16(u.IntN(n))
	}
	return row
}

// RandomTable is n units of a schema, each of one row (with an id column, of as many equal rows as
// an id may have), with every code equally likely: a public table for attacks.
func RandomTable(s *schema.Schema, n int, seed uint64) (*table.Table, error) {
	u, units := rand.New(rand.NewPCG(seed, 0)), make([][]uint16, n)
	for i := range units {
		units[i] = randomRow(u, s.Sizes())
	}
	return tableOf(s, privacy.NeighboursOf(s, accountant.AddRemove).MaxRowsPerUnit, units)
}

// tableOf has units of k equal rows.
func tableOf(s *schema.Schema, k int, units [][]uint16) (*table.Table, error) {
	columns, ids := make([]table.Codes, len(s.Columns)), []uint32(nil)
	for c, size := range s.Sizes() {
		columns[c] = table.NewCodes(size, k*len(units))
		for r := range k * len(units) {
			columns[c].Set(r, units[r/k][c])
		}
	}
	for r := range k * len(units) {
		if s.Unit != "" {
			ids = append(ids, uint32(r/k))
		}
	}
	return table.FromColumns(s, columns, ids)
}

// rowOf is row r of a table.
func rowOf(t *table.Table, r int) []uint16 {
	row := make([]uint16, len(t.Schema().Columns))
	for c := range row {
		row[c] = t.Column(c).At(r)
	}
	return row
}

// drawn are rows of a model.
func drawn(p release.Params, n int, u *rand.Rand) [][]uint16 {
	columns := p.Sample(n, u)
	rows := make([][]uint16, n)
	for r := range rows {
		rows[r] = make([]uint16, len(columns))
		for c := range columns {
			rows[r][c] = columns[c][r]
		}
	}
	return rows
}

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

// sampledRows is how many rows are drawn from a model that cannot be asked for counts. Drawing adds
// noise of its own, which costs an audit power but never makes it wrong.
const sampledRows = 20_000

// sampled counts rows drawn from a model, scaled to the number of rows that it stands for.
func sampled(p release.Params, sizes []int) *margins {
	m, u := newMargins(sizes), rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for _, row := range drawn(p, sampledRows, u) {
		m.count(row, p.Total()/sampledRows)
	}
	return m
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
