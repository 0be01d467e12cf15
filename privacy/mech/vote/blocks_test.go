package vote

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

const none = 16 * noise.MinScale / steps // no noise, in effect

// share is how many of a block's rows have code 1 in the first column, 0 without rows.
var share = Statistic{Name: "share", Lower: -1, Upper: 3, Of: func(t *table.Table) float64 {
	n := 0.
	for i := range t.Rows() {
		n += float64(t.Column(0).At(i)) / float64(t.Rows())
	}
	return n
}}

// extreme turns any change of a block into the largest one: its result is at one of both ends.
var extreme = Statistic{Name: "extreme", Lower: 5, Upper: 7, Of: func(t *table.Table) float64 {
	sum := 0
	for c := range t.Schema().Columns {
		for i := range t.Rows() {
			sum += int(t.Column(c).At(i)) + 1
		}
	}
	return []float64{math.Inf(-1), 1e308}[sum%2]
}}

func meanOf(t testing.TB, tab *table.Table, adj accountant.Adjacency, k int, f Statistic) Mean {
	t.Helper()
	s := mechtest.On(t, tab, adj, BlockEvents(none, none)...)
	m := stattest.Must(Blocks(context.Background(), s, k, f, none, none))
	return m
}

// TestBlocksIsTheMean: with one block and no noise the release is the statistic, with many it is
// near to it; squares are those of the results.
func TestBlocksIsTheMean(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(3000), nil)
	m := meanOf(t, tab, 0, 1, share)
	if want := share.Of(tab); math.Abs(m.Mean-want) > 1e-4 ||
		math.Abs(m.Square-(want-1)*(want-1)/4) > 1e-4 {
		t.Errorf("one block: %+v, want %v", m, want)
	}
	if m := meanOf(t, tab, 0, 30, share); math.Abs(m.Mean-share.Of(tab)) > .02 {
		t.Errorf("30 blocks: %+v, want %v", m, share.Of(tab))
	}
}

// TestHostileStatistics: whatever comes back is in the range; what does not come back, or is no
// number, is its middle.
func TestHostileStatistics(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(50), nil)
	for name, tt := range map[string]struct {
		of           func(*table.Table) float64
		mean, square float64
	}{
		"NaN":       {func(*table.Table) float64 { return math.NaN() }, 1, 0},
		"panic":     {func(*table.Table) float64 { panic("a row") }, 1, 0},
		"exit":      {func(*table.Table) float64 { runtime.Goexit(); return 0 }, 1, 0},
		"large":     {func(*table.Table) float64 { return 1e308 }, 3, 1},
		"infinite":  {func(*table.Table) float64 { return math.Inf(-1) }, -1, 1},
		"one row's": {func(t *table.Table) float64 { return float64(t.Rows()) * 1e12 }, 3, 1},
	} {
		f := share
		f.Of = tt.of
		if m := meanOf(t, tab, 0, 1, f); math.Abs(m.Mean-tt.mean) > 1e-4 ||
			math.Abs(m.Square-tt.square) > 1e-4 {
			t.Errorf("%s: %+v, want %v and %v", name, m, tt.mean, tt.square)
		}
	}
}

// TestOnGrid: every result is within the grid, and so are squares.
func TestOnGrid(t *testing.T) {
	f := Statistic{Lower: -1e-300, Upper: 1e300}
	for _, x := range []float64{0, -1, 1e300, math.Inf(1), math.Inf(-1), math.MaxFloat64, math.NaN(),
		5e-324, 1e299} {
		if v := f.onGrid(x); v < 0 || v > steps || squareOf(v) < 0 || squareOf(v) > steps {
			t.Errorf("%v is %d, squared %d", x, v, squareOf(v))
		}
	}
	if squareOf(0) != steps || squareOf(steps) != steps || squareOf(steps/2) != 0 {
		t.Error("squares do not reach from 0 to steps")
	}
}

// TestSmallTablesInBlocks: on every table of up to four rows, and every neighbour, for every way to
// put units into two blocks, the sums move by at most what the events say, and somewhere by that.
func TestSmallTablesInBlocks(t *testing.T) {
	of := func(sum func(rs []*ofBlock) float64) func(s *mechtest.Small) gatetest.Value {
		return func(s *mechtest.Small) (out gatetest.Value) {
			for way := range 1 << 4 {
				rs := []*ofBlock{{ctx: t.Context(), of: extremeOr}, {ctx: t.Context(), of: extremeOr}}
				blocks, of, next := [2][]int{}, map[uint32]int{}, 0
				for row := range s.Table.Rows() {
					unit := uint32(row)
					if u := s.Table.Units(); u != nil {
						unit = u[row]
					}
					if _, ok := of[unit]; !ok {
						of[unit] = way >> next & 1
						next++
					}
					blocks[of[unit]] = append(blocks[of[unit]], row)
				}
				for i, r := range rs {
					r.Train(s.Table.Select(blocks[i]), struct{}{})
				}
				out = append(out, []float64{sum(rs)})
			}
			return out
		}
	}
	claim := func(i int) func(nb privacy.Neighbours) float64 {
		return gatetest.GaussianClaim(1, func(privacy.Neighbours) accountant.Event {
			return BlockEvents(1, 1)[i].Event
		})
	}
	mechtest.RunSmall(t, []mechtest.SmallRow{
		{Mechanism: "Measure", With: "mean", Claim: claim(0), Norm: gatetest.L2,
			Of: of(func(rs []*ofBlock) float64 {
				return float64(rs[0].value+rs[1].value) / steps
			})},
		{Mechanism: "Measure", With: "square", Claim: claim(1), Norm: gatetest.L2,
			Of: of(func(rs []*ofBlock) float64 {
				return float64(squareOf(rs[0].value)+squareOf(rs[1].value)) / steps
			})},
	}, "Measure")
}

// extremeOr is at the lower end, in the middle or at the upper end, by the sum of the codes.
var extremeOr = Statistic{Lower: 5, Upper: 7, Of: func(t *table.Table) float64 {
	sum := 0
	for c := range t.Schema().Columns {
		for i := range t.Rows() {
			sum += (c + 1) * int(t.Column(c).At(i))
		}
	}
	return []float64{6, 7, 5, 4}[sum%4]
}}

// TestBlocksSensitivity: through the whole mechanism, with one block and without noise, the sum of
// neighbouring tables moves by at most 1/multiplier widths under every relation, and by that for
// some pair.
func TestBlocksSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, nb := range mechtest.Relations {
		far := 0.
		for range 60 {
			a, b := gatetest.PairOf(u, nb.Adjacency, nb.MaxRowsPerUnit)
			sch := gatetest.Schema("", 0)
			one := meanOf(t, gatetest.Table(t, sch, a, nil), nb.Adjacency, 1, extreme)
			other := meanOf(t, gatetest.Table(t, sch, b, nil), nb.Adjacency, 1, extreme)
			far = max(far, math.Abs(one.Mean-other.Mean)/2)
		}
		if math.Abs(far-1) > 1e-3 {
			t.Errorf("%v: the result moves by up to %v of its range, want 1", nb, far)
		}
	}
}

// TestBlocksNoise. Null: (released − true)·k over the width and σ is standard normal, up to a grid
// of 2⁻²⁰; 10,000 releases of both numbers, false-alarm rate 1e-6. 30 % off must be rejected.
func TestBlocksNoise(t *testing.T) {
	const n, k, mean, square = 10000, 3, 2., 5.
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(9), nil)
	f := share
	f.Of = func(*table.Table) float64 { return 2 } // at 3/4 of the range: its square is 1/4
	var draws [2][]float64
	for range n {
		s := mechtest.On(t, tab, 0, BlockEvents(mean, square)...)
		m := stattest.Must(Blocks(context.Background(), s, k, f, mean, square))
		draws[0] = append(draws[0], (m.Mean-2)*k/4/mean)
		draws[1] = append(draws[1], (m.Square-.25)*k/square)
	}
	normal := func(sd float64) func(float64) float64 {
		return func(x float64) float64 { return math.Erfc(-x/(sd*math.Sqrt2)) / 2 }
	}
	for i := range draws {
		if stat, limit, ok := stattest.KolmogorovSmirnov(draws[i], normal(1)); !ok {
			t.Errorf("number %d: distance %v over %v", i, stat, limit)
		}
		for _, wrong := range []float64{.7, 1.3} {
			if _, _, ok := stattest.KolmogorovSmirnov(draws[i], normal(wrong)); ok {
				t.Errorf("number %d: %v times the noise is accepted", i, wrong)
			}
		}
	}
}

// TestBlocksRefuses: what does not fit is refused before a program sees a row; a session that is
// not to pay for both numbers releases none.
func TestBlocksRefuses(t *testing.T) {
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(20), nil)
	f := share
	f.Of = func(*table.Table) float64 { t.Error("a program has run"); return 0 }
	for name, tt := range map[string]struct {
		k            int
		lower, upper float64
		mean, square float64
	}{
		"no block": {0, 0, 1, 2, 2}, "many blocks": {1<<20 + 1, 0, 1, 2, 2},
		"no range": {2, 1, 1, 2, 2}, "NaN": {2, math.NaN(), 1, 2, 2},
		"infinite": {2, 0, math.Inf(1), 2, 2}, "a wide range": {2, -1e308, 1e308, 2, 2},
		"no noise": {2, 0, 1, 0, 2}, "no noise of squares": {2, 0, 1, 2, 0},
	} {
		f.Lower, f.Upper = tt.lower, tt.upper
		s := mechtest.On(t, tab, 0, BlockEvents(2, 2)...)
		_, err := Blocks(context.Background(), s, tt.k, f, tt.mean, tt.square)
		if err == nil || errors.Is(err, privacy.ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := mechtest.On(t, tab, 0, BlockEvents(2, 2)...)
	stattest.Wraps(t, stattest.Err(Blocks(context.Background(), s, 2, share, 1.9, 2)), privacy.ErrPlan,
		"less noise")
	s = mechtest.On(t, tab, 0, BlockEvents(2, 2)[:1]...)
	stattest.Wraps(t, stattest.Err(Blocks(context.Background(), s, 2, share, 2, 2)), privacy.ErrPlan,
		"half the plan")
	s = mechtest.On(t, tab, 0, BlockEvents(2, 3)...)
	stattest.Passes(t, stattest.Err(Blocks(context.Background(), s, 2, share, 2, 3)),
		"the planned call")
	ctx, cancel := context.WithCancel(context.Background())
	stopped := share
	stopped.Of = func(*table.Table) float64 { cancel(); return 0 }
	cut := mechtest.On(t, tab, 0, BlockEvents(2, 2)...)
	stattest.Wraps(t, stattest.Err(Blocks(ctx, cut, 9, stopped, 2, 2)), context.Canceled,
		"a cancelled call")
	if got := cut.Ledger().Runs()[0].Charged; len(got) != 0 {
		t.Errorf("a cancelled call is charged %v", got)
	}
	if got := s.Ledger().Runs()[0].Charged; len(got) != 2 {
		t.Errorf("charges %v, want 2", got)
	}
}
