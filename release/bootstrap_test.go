package release

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/marginal"
)

// population draws n rows of three columns, each a noisy copy of the one before.
func population(n int, u *rand.Rand) [][]uint16 {
	rows := [][]uint16{make([]uint16, n), make([]uint16, n), make([]uint16, n)}
	for r := range n {
		rows[0][r] = uint16(u.IntN(2))
		for c := 1; c < 3; c++ {
			rows[c][r] = rows[c-1][r]
			if u.IntN(4) == 0 {
				rows[c][r] = uint16(u.IntN(2))
			}
		}
	}
	return rows
}

// measuredModel is a model of noisy marginals of rows, of one party or several.
func measuredModel(t *testing.T, u *rand.Rand, parties ...[][]uint16) *Model {
	t.Helper()
	sizes := []int{2, 2, 2}
	p := &Marginal{Grouping: marginal.NoGroups(sizes)}
	m := &Model{params: p, Manifest: Manifest{Method: "mst"}}
	for _, rows := range parties {
		first := len(p.Measured)
		for _, cols := range [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}} {
			one := marginal.Measurement{Cols: cols, Sigma: 10, Counts: make([]float64, 1<<len(cols))}
			p.Measured = append(p.Measured, measureAgain(one, sizes, rows, u))
		}
		if len(parties) > 1 {
			p.Parties = append(p.Parties, 5)
			m.Parties = append(m.Parties, partner{Manifest: Manifest{
				Rows: marginal.Total(p.Measured[first:])}})
		}
	}
	var rows []float64
	for _, party := range m.Parties {
		rows = append(rows, party.Rows)
	}
	p.Model = must(p.fit(context.Background(), m.Method, rows, 1))
	m.Rows = p.Total()
	return m
}

// cellShare is the share of the first cell of a pair.
func cellShare(cols ...int) func(*Model) ([]float64, error) {
	return func(m *Model) ([]float64, error) {
		p := make([]float64, 4)
		err := m.params.(*Marginal).Model.MarginalTo(p, cols)
		return []float64{p[0] / m.Rows}, err
	}
}

// TestBootstrapCovers: H0: the intervals hold the population's share of a cell in 93 % of tables or
// more. In 120 tables fewer than 95 do so with probability below 1e-6 (binomial). Intervals of a
// third of the width must fail. The same for a joint model of two parties.
func TestBootstrapCovers(t *testing.T) {
	const tables, least = 120, 95
	truth := .5 * (.75 + .125)
	for name, parties := range map[string]int{"one table": 1, "two parties": 2} {
		u := rand.New(rand.NewPCG(1, uint64(parties)))
		held, narrow := 0, 0
		for range tables {
			var of [][][]uint16
			for range parties {
				of = append(of, population(600/parties, u))
			}
			m := measuredModel(t, u, of...)
			list := must(m.Bootstrap(context.Background(), u.Uint64(), cellShare(0, 1), func(float64) {}))
			x := list[0]
			if x.Low <= truth && truth <= x.High {
				held++
			}
			if math.Abs(truth-x.Estimate) <= (x.High-x.Low)/6 {
				narrow++
			}
		}
		if held < least || narrow >= least {
			t.Errorf("%s: %d of %d intervals hold the truth, %d a third as wide", name, held, tables,
				narrow)
		}
	}
}

// TestReplicates: a seed reproduces them, another seed does not; rows are drawn independently; what
// cannot be drawn again is refused.
func TestReplicates(t *testing.T) {
	ctx := context.Background()
	m := measuredModel(t, rand.New(rand.NewPCG(2, 2)), population(500, rand.New(rand.NewPCG(3, 3))))
	draw := func(seed uint64) (x []float64) {
		_, err := m.Replicates(ctx, 3, seed, func(_ int, r *Model) error {
			one, err := cellShare(0, 1)(r)
			x = append(x, one...)
			return err
		})
		check(t, err)
		return x
	}
	if a, b := draw(1), draw(1); !slices.Equal(a, b) || slices.Equal(a, draw(2)) {
		t.Errorf("%v and %v", a, b)
	}
	large := *m
	large.Rows = 1e12
	if _, err := large.Replicates(ctx, 1, 1, nil); err == nil || !strings.Contains(err.Error(),
		"cells are more than") {
		t.Errorf("replicates of 10¹² rows: %v", err)
	}
	// χ² of how often the first cell is drawn: Sample would keep it within a row of its mean
	p := m.params.(*Marginal)
	share, squares := p.Model, 0.0
	cells := make([]float64, 2)
	check(t, share.MarginalTo(cells, []int{0}))
	q := cells[0] / m.Rows
	u := rand.New(rand.NewPCG(4, 4))
	const times, n = 200, 100
	for range times {
		k := 0.0
		for _, x := range p.people(n, u)[0] {
			if x == 0 {
				k++
			}
		}
		squares += (k - n*q) * (k - n*q) / (n * q * (1 - q)) / times
	}
	if squares < .5 || squares > 1.5 { // 5 standard deviations of χ²₂₀₀/200
		t.Errorf("the variance is %v of that of a random sample", squares)
	}
	_, err := (&Model{params: &Marginal{}}).Replicates(ctx, 1, 1, nil)
	if !errors.Is(err, ErrNotExact) {
		t.Errorf("no measurements: %v", err)
	}
	stop := errors.New("stop")
	if _, err := m.Replicates(ctx, 2, 1, func(int, *Model) error { return stop }); !errors.Is(err,
		stop) {
		t.Errorf("an error of do: %v", err)
	}
}

// TestHiddenCodes: replicates differ by what the noise hides. Of codes whose counts it hides, H0:
// intervals of Bootstrap, which has no other floor, hold the share in 85 % of cases; of 19 codes in
// 30 tables, which depend on each other within a table, at least 80 % must. With one spread for all
// replicates less than 70 % do.
func TestHiddenCodes(t *testing.T) {
	const n, codes, sigma, tables = 700, 20, 30, 30
	held, all := map[bool]int{}, 0
	u := rand.New(rand.NewPCG(6, 6))
	for range tables {
		truth := []float64{n / 2}
		one := marginal.Measurement{Cols: []int{0}, Sigma: sigma}
		for len(truth) < codes {
			truth = append(truth, u.ExpFloat64()*n/2/codes)
		}
		total := 0.
		for _, x := range truth {
			total += x
			one.Counts = append(one.Counts, math.Round(x+sigma*u.NormFloat64()))
		}
		g := must(marginal.NewGrouping([]int{codes}, []marginal.Measurement{one}, 2))
		p := &Marginal{Grouping: g, Measured: []marginal.Measurement{one}}
		m := &Model{params: p, Manifest: Manifest{Method: "mst"}}
		p.Model = must(p.fit(t.Context(), m.Method, nil, 1))
		m.Rows = p.Total()
		for _, fixed := range []bool{false, true} {
			list, err := m.Bootstrap(t.Context(), u.Uint64(), func(m *Model) ([]float64, error) {
				q := m.params.(*Marginal)
				spread := q.Grouping
				if fixed {
					spread = g
				}
				x, sample := make([]float64, codes), q.Model.Sample(30*n, u)
				spread.Expand(sample, u)
				for _, code := range sample[0] {
					x[code] += 1. / (30 * n)
				}
				return x, nil
			}, func(float64) {})
			check(t, err)
			for code := 1; code < codes; code++ {
				if s := truth[code] / total; list[code].Low <= s && s <= list[code].High {
					held[fixed]++
				}
			}
		}
		all += codes - 1
	}
	t.Logf("%d and, with one spread, %d of %d intervals hold", held[false], held[true], all)
	if held[false]*10 < all*8 || held[true]*10 > all*7 {
		t.Errorf("%d and, with one spread, %d of %d intervals hold", held[false], held[true], all)
	}
}
