package query

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/table"
)

var (
	testSchema    = gatetest.Schema
	testTable     = gatetest.Table
	someRows      = gatetest.SomeRows
	follows       = gatetest.Follows
	roundedNormal = gatetest.RoundedNormal
	relations     = mechtest.Relations
)

func gaussian(sigma float64, n int) accountant.Charge {
	return accountant.Charge{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}
}

// toyCells puts a row in the cell that a function of its codes names.
type toyCells struct {
	size   int
	of     func(row [3]uint16) uint32
	rows   int // seen
	blocks []int
}

func (c *toyCells) Size() int { return c.size }

func (c *toyCells) CellsTo(dst []uint32, columns []table.Codes) {
	c.rows += len(dst)
	c.blocks = append(c.blocks, columns[0].Len())
	for i := range dst {
		dst[i] = c.of([3]uint16{columns[0].At(i), columns[1].At(i), columns[2].At(i)})
	}
}

// spread is a cell out of 24 for every row.
func spread(row [3]uint16) uint32 { return uint32(row[0])*12 + uint32(row[1])*4 + uint32(row[2]) }

// bit is a question: whether the first code is 1.
func bit() *toyCells {
	return &toyCells{size: 2, of: func(row [3]uint16) uint32 { return uint32(row[0]) }}
}

func TestHistogramCounts(t *testing.T) {
	const n = cellBlock + 1234 // two blocks
	tab := testTable(t, testSchema("", 0), someRows(n), nil)
	want := make([]int64, 24)
	tab.CountTo(want, []int{0, 1, 2})
	cells := &toyCells{size: 24, of: spread}
	if got := countCells(tab, cells, 24); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if cells.rows != n || !slices.Equal(cells.blocks, []int{cellBlock, 1234}) {
		t.Errorf("%d rows seen in blocks of %v", cells.rows, cells.blocks)
	}
	// What is no cell counts as the last: the row is still in exactly one.
	wild := &toyCells{
		size: 3,
		of:   func(row [3]uint16) uint32 { return map[uint16]uint32{0: 1, 1: math.MaxUint32}[row[0]] },
	}
	if got := countCells(tab, wild, 3); got[0] != 0 || got[1]+got[2] != n || got[2] != n/2 {
		t.Errorf("rows out of range are counted as %v", got)
	}
	if got := countCells(tab.Select(nil), cells, 24); slices.Max(got) != 0 {
		t.Errorf("no rows are counted as %v", got)
	}
}

// TestBlocksAreApart: what CellsTo appends to a column of its block does not reach the rows behind
// it.
func TestBlocksAreApart(t *testing.T) {
	for _, c := range []table.Codes{{U8: []uint8{1, 2, 3}}, {U16: []uint16{1, 2, 3}}} {
		block := slice(c, 0, 2)
		if block.U8 != nil {
			_ = append(block.U8, 9)
		} else {
			_ = append(block.U16, 9)
		}
		if block.Len() != 2 || c.At(2) != 3 {
			t.Errorf("an append reached the next row: %v", c)
		}
	}
}

// TestHistogramSensitivity compares how far a histogram moves between neighbours with Δ₂ of the
// event, under every relation.
func TestHistogramSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 8))
	for _, nb := range relations {
		far := 0.
		for range 3000 {
			ra, rb := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
			s := testSchema("", 0)
			a := countCells(testTable(t, s, ra, nil), &toyCells{size: 5, of: spread}, 5)
			b := countCells(testTable(t, s, rb, nil), &toyCells{size: 5, of: spread}, 5)
			sum := 0.
			for i := range a {
				sum += float64((a[i] - b[i]) * (a[i] - b[i]))
			}
			far = max(far, math.Sqrt(sum))
		}
		delta := 10 / nb.MeasureEvent(Cells{}, 10).(accountant.Gaussian).NoiseMultiplier
		if far > delta*(1+1e-12) || far < delta*(1-1e-12) {
			t.Errorf("%v: a histogram moves by up to %v, the event says %v", nb, far, delta)
		}
	}
}

// TestHistogramNoise. Null: released − true value is round(N(0, σ²)), independent between cells; 20
// 000 draws, false-alarm rate 1e-6 each. A scale 30 % off must be rejected.
func TestHistogramNoise(t *testing.T) {
	const n, sigma = 20000, 4.0
	tab := testTable(t, testSchema("", 0), someRows(60), nil)
	s := mechtest.On(t, tab, 0, gaussian(sigma, n))
	cells := &toyCells{size: 24, of: spread}
	truth := countCells(tab, cells, 24)
	noiseFollows(t, s, Cells{cells}, truth, n, sigma)
}

// noiseFollows measures a query n times, and compares its cells in turn with the truth.
func noiseFollows(
	t *testing.T, s *privacy.Session, q privacy.Query, truth []int64, n int, sigma float64,
) {
	t.Helper()
	draws := make([]int64, n)
	for k := range draws {
		got, err := s.Measure(q, sigma)
		if err != nil {
			t.Fatal(err)
		}
		draws[k] = got[k%len(truth)] - truth[k%len(truth)]
	}
	law := func(scale float64) func(int64) float64 {
		return func(x int64) float64 { return roundedNormal(x, scale) }
	}
	if !follows(draws, 14, law(sigma)) {
		t.Error("the noise does not follow its law")
	}
	for _, wrong := range []float64{.7, 1.3} {
		if follows(draws, 14, law(wrong*sigma)) {
			t.Errorf("%v times the noise is accepted", wrong)
		}
	}
}

// TestHistogramIsChargedBeforeReading: what is not in the plan, or not a histogram, reads nothing
// and costs nothing.
func TestHistogramIsChargedBeforeReading(t *testing.T) {
	s := mechtest.On(t, testTable(t, testSchema("", 0), someRows(12), nil), 0, gaussian(5, 1))
	reads := 0
	bit := func() *toyCells {
		return &toyCells{size: 2, of: func(row [3]uint16) uint32 {
			if reads = 1; row[0] == 1 {
				return 1
			}
			return 0
		}}
	}
	for name, call := range map[string]func() error{
		"sigma 0":   func() error { _, err := s.Measure(Cells{bit()}, 0); return err },
		"sigma NaN": func() error { _, err := s.Measure(Cells{bit()}, math.NaN()); return err },
		"no cells":  func() error { _, err := s.Measure(Cells{&toyCells{size: 0}}, 5); return err },
		"many cells": func() error {
			_, err := s.Measure(Cells{&toyCells{size: access.MaxCells + 1}}, 5)
			return err
		},
		"other sigma": func() error { _, err := s.Measure(Cells{bit()}, 4); return err },
		"no rule":     func() error { _, err := s.Measure(Cells{}, 5); return err },
	} {
		if err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	mechtest.PaidOnce(t, s, &reads, func() error { _, err := s.Measure(Cells{bit()}, 5); return err })
}

// TestHistogramOfUnits: noise that is right for single rows is not in the plan of a table with
// several rows a unit, and no unit counts more than its share.
func TestHistogramOfUnits(t *testing.T) {
	tab := testTable(t, testSchema("patient", 3), someRows(60), make([]uint32, 60))
	s := mechtest.On(t, tab, 0, gaussian(3, 1))
	if _, err := s.Measure(Cells{bit()}, 3); !errors.Is(err, privacy.ErrPlan) {
		t.Errorf("noise for one row was accepted for units of three: %v", err)
	}
	cells := bit()
	if _, err := s.Measure(Cells{cells}, 9); err != nil || cells.rows != 3 {
		t.Errorf("%v, %d rows of one unit counted, want 3", err, cells.rows)
	}
}

// badCells puts rows into the first of two cells, and does not come back from those with code 1 in
// the first column.
type badCells struct{ do func() }

func (badCells) Size() int { return 2 }
func (b badCells) CellsTo(dst []uint32, columns []table.Codes) {
	for i := range dst {
		if dst[i] = 0; columns[0].At(i) == 1 {
			b.do()
		}
	}
	clear(columns[0].U8) // what it writes changes no row
}

// TestForeignCodeTellsNothing: that code panics on a row, or ends its goroutine, is not an answer:
// the row is in the last cell, and no other row is.
func TestForeignCodeTellsNothing(t *testing.T) {
	for _, do := range []func(){func() { panic("code 17") }, func() { panic(errors.New("other")) },
		runtime.Goexit} {
		s := mechtest.On(t, testTable(t, testSchema("", 0), someRows(1000), nil), 0, gaussian(.01, 2),
			gaussian(5, 1))
		for range 2 {
			got, err := s.Measure(Cells{badCells{do}}, .01)
			if err != nil || got[0] != 500 || got[1] != 500 {
				t.Errorf("cells %v, %v", got, err)
			}
		}
		if _, err := s.Measure(Total{}, 5); err != nil {
			t.Error(err)
		}
	}
}

// staleCells writes the cells of some rows only, and leaves the others as it finds them.
type staleCells struct{}

func (staleCells) Size() int { return 4 }
func (staleCells) CellsTo(dst []uint32, columns []table.Codes) {
	for i := range dst {
		if columns[0].At(i) != 0 {
			dst[i] = 3
		}
	}
}

// TestNoBlockSeesAnother: one row more in one cell moves one count, in a table of several blocks
// too.
func TestNoBlockSeesAnother(t *testing.T) {
	rows := make([][3]uint8, 5*cellBlock)
	rows[0][0] = 1
	s := mechtest.On(t, testTable(t, testSchema("", 0), rows, nil), 0, gaussian(.01, 1))
	got, err := s.Measure(Cells{staleCells{}}, .01)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []int64{int64(len(rows)) - 1, 0, 0, 1}) {
		t.Errorf("counts %v", got)
	}
}
