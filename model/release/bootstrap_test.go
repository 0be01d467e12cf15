package release

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
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

// measuredModel is a model of noisy marginals of rows.
func measuredModel(t *testing.T, u *rand.Rand, rows [][]uint16) *Model {
	t.Helper()
	sizes := []int{2, 2, 2}
	p := &Marginal{Grouping: marginal.NoGroups(sizes)}
	for _, cols := range [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}} {
		one := marginal.Measurement{Cols: cols, Sigma: 10, Counts: make([]float64, 1<<len(cols))}
		p.Measured = append(p.Measured, measureAgain(one, sizes, rows, u))
	}
	check(t, p.fit(t.Context(), "mst"))
	return &Model{params: p, Manifest: Manifest{Method: "mst", Rows: p.Total()}}
}

// cellShare is the share of the first cell of a pair.
func cellShare(cols ...int) func(*Model) (float64, error) {
	return func(m *Model) (float64, error) {
		p := make([]float64, 4)
		err := m.params.(*Marginal).Model.MarginalTo(p, cols)
		return p[0] / m.Rows, err
	}
}

// TestReplicatesSpread: the replicates' shares of a cell have the standard deviation of the table's
// among tables of the population, of rows and noise. Of 150 tables and 150 replicates each ratio of
// variances is between .5 and 2 but for a probability below 1e-4 (F), and a half or a double of the
// deviation is not.
func TestReplicatesSpread(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	var tables, replicates []float64
	var m *Model
	share := cellShare(0, 1)
	for range 150 {
		m = measuredModel(t, u, population(600, u))
		tables = append(tables, must(share(m)))
	}
	check(t, m.Replicates(t.Context(), 150, 1, func(_ int, r *Model) error {
		x, err := share(r)
		replicates = append(replicates, x)
		return err
	}))
	ratio := stat.Variance(replicates, nil) / stat.Variance(tables, nil)
	if t.Logf("the ratio of variances is %.2f", ratio); ratio < .5 || ratio > 2 {
		t.Errorf("the ratio of variances is %v", ratio)
	}
}

// TestReplicates: a seed reproduces them, another seed does not; rows are drawn independently; what
// cannot be drawn again is refused.
func TestReplicates(t *testing.T) {
	ctx := context.Background()
	m := measuredModel(t, rand.New(rand.NewPCG(2, 2)), population(500, rand.New(rand.NewPCG(3, 3))))
	draw := func(seed uint64) (x []float64) {
		check(t, m.Replicates(ctx, 3, seed, func(_ int, r *Model) error {
			one, err := cellShare(0, 1)(r)
			x = append(x, one)
			return err
		}))
		return x
	}
	if a, b := draw(1), draw(1); !slices.Equal(a, b) || slices.Equal(a, draw(2)) {
		t.Errorf("%v and %v", a, b)
	}
	large := *m
	large.Rows = 1e12
	if err := large.Replicates(ctx, 1, 1, nil); err == nil || !strings.Contains(err.Error(),
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
	err := (&Model{params: &Marginal{}}).Replicates(ctx, 1, 1, nil)
	stattest.Wraps(t, err, ErrNotExact, "no measurements")
	stop := errors.New("stop")
	stattest.Wraps(t, m.Replicates(ctx, 2, 1, func(int, *Model) error { return stop }), stop,
		"an error of do")
}

// TestHiddenCodes: replicates differ by what the noise hides. Of codes whose counts it hides, H0:
// the share is within 2 standard deviations of the replicates in 85 % of cases; of 19 codes in 16
// tables, which depend on each other within a table, at least 75 % must. With one spread for all
// replicates less than 70 % are.
func TestHiddenCodes(t *testing.T) {
	const n, codes, sigma, tables, times = 700, 20, 30, 16, 24
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
		check(t, p.fit(t.Context(), "mst"))
		m := &Model{params: p, Manifest: Manifest{Method: "mst", Rows: p.Total()}}
		shares := func(q *Marginal, spread *marginal.Grouping) []float64 {
			x, sample := make([]float64, codes), q.Model.Sample(30*n, u)
			spread.Expand(sample, u)
			for _, code := range sample[0] {
				x[code] += 1. / (30 * n)
			}
			return x
		}
		own := shares(p, g)
		for _, fixed := range []bool{false, true} {
			drawn := make([][]float64, codes)
			check(t, m.Replicates(t.Context(), times, u.Uint64(), func(_ int, r *Model) error {
				q := r.params.(*Marginal)
				spread := q.Grouping
				if fixed {
					spread = g
				}
				for code, x := range shares(q, spread) {
					drawn[code] = append(drawn[code], x)
				}
				return nil
			}))
			for code := 1; code < codes; code++ {
				off := math.Abs(truth[code]/total - own[code])
				if off <= 2*stat.StdDev(drawn[code], nil) {
					held[fixed]++
				}
			}
		}
		all += codes - 1
	}
	t.Logf("%d and, with one spread, %d of %d shares are held", held[false], held[true], all)
	if held[false]*100 < all*75 || held[true]*10 > all*7 {
		t.Errorf("%d and, with one spread, %d of %d shares are held", held[false], held[true], all)
	}
}
