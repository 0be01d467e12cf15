package release

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/table"
)

// draw is a sample as codes by column.
func draw(t *testing.T, s interface {
	Sample(context.Context, int, uint64, func(*table.Table) error) error
}, n int, seed uint64) [][]int {
	t.Helper()
	var out [][]int
	err := s.Sample(context.Background(), n, seed, func(b *table.Table) error {
		out = make([][]int, len(b.Schema().Columns))
		for c := range out {
			for r := range b.Rows() {
				out[c] = append(out[c], int(b.Column(c).At(r)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGiven: rows under a condition have the model's distribution given the condition. The
// condition is a disjunction, so two products are mixed. Null: each cell that satisfies it has its
// share; the rows are closer to the model than independent draws, so that z = 5 of a binomial has a
// false-alarm rate below 6e-7 a cell.
func TestGiven(t *testing.T) {
	m := testModel(t)
	sizes := m.params.Sizes()
	allow := func(col int, codes ...int) table.Condition {
		c := table.Condition{Column: col, Allow: make([]bool, sizes[col])}
		for _, k := range codes {
			c.Allow[k] = true
		}
		return c
	}
	where := table.Or{allow(0, 0), table.And{allow(0, 1), allow(1, 0)}}
	g, err := m.Given(where)
	if err != nil {
		t.Fatal(err)
	}
	p := m.params.(*Marginal)
	cells := make([]float64, sizes[0]*sizes[1])
	if err := p.Model.MarginalTo(cells, []int{0, 1}); err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for i := range cells {
		if !table.Holds(where, func(c int) uint16 {
			return uint16([]int{i / sizes[1], i % sizes[1]}[c])
		}) {
			cells[i] = 0
		}
		total += cells[i]
	}
	if math.Abs(g.Rows()-total) > 1e-6*total {
		t.Errorf("%v rows, want %v", g.Rows(), total)
	}
	const n = 20_000
	rows, got := draw(t, g, n, 7), make([]float64, len(cells))
	for r := range n {
		got[rows[0][r]*sizes[1]+rows[1][r]]++
	}
	for i, x := range cells {
		share := x / total
		if math.Abs(got[i]-n*share) > 5*math.Sqrt(n*share*(1-share)) {
			t.Errorf("cell %d: %v rows, want %v", i, got[i], n*share)
		}
	}
	if again := draw(t, g, n, 7); !slices.Equal(again[1], rows[1]) {
		t.Error("the same seed gives other rows")
	}
}

func TestGivenRefuses(t *testing.T) {
	m := testModel(t)
	if _, err := m.Given(table.Or{}); !errors.Is(err, ErrImpossible) {
		t.Errorf("no row: %v", err)
	}
	other := *m
	other.params = noMarginal{m.params}
	if _, err := other.Given(table.And{}); !errors.Is(err, ErrNotExact) {
		t.Errorf("another kind: %v", err)
	}
}

// noMarginal hides what parameters are.
type noMarginal struct{ Params }

// TestMeasured: noisy marginals survive the file; damaged ones are refused and never panic.
func TestMeasured(t *testing.T) {
	f := testFitted(t, nil)
	p := f.Params.(*Marginal)
	sizes := p.Sizes()
	groups := make([]uint16, sizes[0])
	groups[0] = 1
	p.Measured = []marginal.Measurement{
		{Cols: []int{1}, Counts: make([]float64, sizes[1]), Sigma: 6},
		{Cols: []int{1, 0}, Groups: [][]uint16{nil, groups}, Counts: make([]float64, sizes[1]*2),
			Sigma: .5},
	}
	p.Measured[0].Counts[0] = -1 << 40
	m, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	file := encode(t, m)
	back, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	got := back.params.(*Marginal).Measured
	if len(got) != 2 || got[0].Counts[0] != -1<<40 || got[0].Sigma != 6 ||
		!slices.Equal(got[1].Cols, []int{1, 0}) || !slices.Equal(got[1].Groups[1], groups) ||
		!slices.Equal(got[1].Shape(sizes), []int{sizes[1], 2}) {
		t.Errorf("read back %+v", got)
	}
	raw := appendMeasured(nil, p.Measured)
	u := rand.New(rand.NewPCG(3, 3))
	for i := range len(raw) {
		if _, _, err := (&measuredReader{data: raw[:i], sizes: sizes}).list(); !errors.Is(err,
			ErrFormat) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
	}
	for range 20_000 {
		bad := slices.Clone(raw)
		for range 1 + u.IntN(3) {
			bad[u.IntN(len(bad))] = byte(u.IntN(256))
		}
		if _, _, err := (&measuredReader{data: bad, sizes: sizes}).list(); err != nil &&
			!errors.Is(err, ErrFormat) {
			t.Fatalf("%v", err)
		}
	}
}
