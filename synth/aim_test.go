package synth

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"

	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

var aimOne = accountant.Budget{Epsilon: 1, Delta: 1e-9}

func TestAIMIsPlannedByTheSchema(t *testing.T) {
	s := synthtest.Schema(3)
	for name, c := range map[string]AIM{
		"column of a set": {Sets: []string{"column 0*none"}},
		"column twice":    {Sets: []string{"column 0*column 0"}},
		"weight":          {Sets: []string{"column 0*column 1=x"}},
		"negative weight": {Sets: []string{"column 0=-1"}},
	} {
		if _, err := NewPlan(checked(&c), s, privacy.NeighboursOf(s, 0),
			aimOne); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := checked(&AIM{Sets: []string{"a*b"},
		Target: "x"}); got.Workload != "sets" || got.MemoryMB != 80 {
		t.Errorf("defaults %+v", got)
	}
	if _, err := NewPlan(checked(&AIM{}), s, privacy.NeighboursOf(s, 0),
		accountant.Budget{Epsilon: 1}); !errors.Is(err, accountant.ErrBudgetRange) {
		t.Errorf("delta 0: %v", err)
	}
}

func TestClosure(t *testing.T) {
	c := closure([]columnSet{{[]int{0, 1}, 1}, {[]int{1, 2}, 3}}, 2)
	got := map[string]float64{}
	for _, x := range c {
		got[fmt.Sprint(x.cols)] = x.weight
	}
	// With the target 2 the second set counts double: column weights are 1, 7 and 6.
	want := map[string]float64{"[0]": 1. / 13, "[1]": 7. / 13, "[2]": 6. / 13,
		"[0 1]": 8. / 13, "[1 2]": 1}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for k, w := range want {
		if math.Abs(got[k]-w) > 1e-12 {
			t.Errorf("weight of %s: %v, want %v", k, got[k], w)
		}
	}
}

// TestShares: a column's share is its codes to the power 2/3, and the columns' share grows with
// their noise beside the rows, within its limits.
func TestShares(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "few", Kind: schema.Boolean},
		{Name: "many", Kind: schema.Integer, Min: 0, Max: 15},
	}}
	plan := func(c AIM) *aimPlan {
		p := synthtest.Must(NewPlan(checked(&c), s, privacy.NeighboursOf(s, 0), aimOne))
		return p.Plan.(*aimPlan)
	}
	p := plan(AIM{})
	if got := p.columnShares(); math.Abs(got[1]/got[0]-4) > 1e-9 ||
		math.Abs(got[0]+got[1]-1) > 1e-9 {
		t.Errorf("shares %v, want 1/5 and 4/5", got)
	}
	last := 1.
	for _, rows := range []float64{-50, 0, 100, 1e4, 1e6} {
		share := p.oneWay(p.columnNoise(rows))
		if share > last || rows < 100 && share < .6 || rows == 1e6 && share > .1 {
			t.Errorf("%v rows: share %v, after %v for fewer", rows, share, last)
		}
		last = share
	}
	for noise, want := range map[float64][2]float64{9: {.25, .3}, .05: {.15, .2}} {
		named := plan(AIM{Target: "few"}).targetShare(noise)
		if got := p.targetShare(noise); math.Abs(got-want[0])+math.Abs(named-want[1]) > 1e-9 {
			t.Errorf("at noise %v pairs get %v and, with a target, %v, want %v", noise, got, named, want)
		}
	}
	if got := plan(AIM{Target: "few", TargetShare: .4}).targetShare(9); got != .4 {
		t.Errorf("share %v of the target, want that of the settings", got)
	}
	if got := plan(AIM{Target: "few"}).oneWay(9); math.Abs(got-.65) > 1e-9 {
		t.Errorf("share %v beside a target that noise drowns, want .65", got)
	}
	if got := p.oneWay(0); got != firstShare {
		t.Errorf("share %v of a large table, want %v", got, firstShare)
	}
	if got := plan(AIM{Target: "few", TargetShare: .9}).oneWay(9); math.Abs(got-.05) > 1e-9 {
		t.Errorf("share %v beside .9 for a target, want .05", got)
	}
	if got := plan(AIM{OneWayShare: .3}).oneWay(9); got != .3 {
		t.Errorf("share %v, want that of the settings", got)
	}
}

// TestTargets: the pairs of the one that is named, or of columns of two to four categories: of one
// or two with every other column, each pair once, of more with each other.
func TestTargets(t *testing.T) {
	column := func(kind schema.Kind, n int) schema.Column {
		c := schema.Column{Kind: kind, Max: float64(n - 1)}
		for i := range n {
			c.Categories = append(c.Categories, fmt.Sprint(i))
		}
		return c
	}
	wide, small := column(schema.Categorical, 5), column(schema.Categorical, 4)
	flag, two := column(schema.Categorical, 2), column(schema.Integer, 2)
	for _, tt := range []struct {
		columns []schema.Column
		named   int
		want    int // pairs
	}{
		{[]schema.Column{wide, small, wide, flag, two, wide}, -1, 9},
		{[]schema.Column{wide, small, wide, flag, two, wide}, 0, 5},
		{[]schema.Column{wide, wide, two}, -1, 0},
		{[]schema.Column{wide, small, flag, flag, two}, -1, 3},
		{[]schema.Column{wide, small, flag, flag, two}, 1, 4},
	} {
		f := &aimFit{aimPlan: &aimPlan{cfg: AIM{MemoryMB: 80}, mu2: .04,
			schema: &schema.Schema{Columns: tt.columns}}, total: .04}
		for c := range tt.columns {
			f.sizes = append(f.sizes, len(tt.columns[c].Categories))
		}
		f.groupSizes = f.sizes
		if pairs := f.targetPairs(tt.named); len(pairs) != tt.want {
			t.Errorf("%d columns, %v named: pairs %v, want %d", len(f.sizes), tt.named, pairs, tt.want)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		mass []float64
		n    int
		want []uint16
	}{
		{[]float64{1, 1, 1, 1}, 2, []uint16{0, 0, 1, 1}},
		{[]float64{0, 10, 0, 0}, 2, nil}, // no gaps and at most two runs
		{[]float64{0, 0, 0}, 2, nil},
		{[]float64{9, 1, 1, 1, 9}, 3, []uint16{0, 1, 1, 1, 2}},
	} {
		got := runs(tt.mass, tt.n)
		for i := range got {
			if i > 0 && got[i] != got[i-1] && got[i] != got[i-1]+1 || got[0] != 0 ||
				int(got[i]) >= tt.n {
				t.Errorf("%v in %d: %v", tt.mass, tt.n, got)
			}
		}
		if tt.want != nil && !slices.Equal(got, tt.want) {
			t.Errorf("%v in %d: %v, want %v", tt.mass, tt.n, got, tt.want)
		}
	}
}

// TestMemoryLimit: thirty columns of 2 to 6 codes at 1 MB: the tree stays within it and the fit
// ends.
func TestMemoryLimit(t *testing.T) {
	s := synthtest.Schema(30)
	m := Fit(t, checked(&AIM{MemoryMB: 1}), synthtest.Table(t, s, 1000),
		accountant.Budget{Epsilon: 20, Delta: 1e-9})
	if m.Parameters.Bytes > 8*1_000_000/bytesPerCell+100_000 {
		t.Errorf("the model has %d bytes", m.Parameters.Bytes)
	}
}

// TestTargetKeepsARareClass: 5 000 rows of which 2 % are positive, ε = 1: the mean rate of 12 runs
// is within .0066, false alarms 1e-7.
func TestTargetKeepsARareClass(t *testing.T) {
	s := synthtest.Schema(6)
	base := synthtest.Table(t, s, 5000)
	cols := make([]table.Codes, 6)
	for i := range cols {
		cols[i] = base.Column(i)
	}
	rare := make([]uint8, 5000)
	for r := range rare {
		if r%50 == 0 {
			rare[r] = 1
		}
	}
	cols[5] = table.Codes{U8: rare} // column 5 has two codes
	tab := synthtest.Must(table.FromColumns(s, cols, nil))
	f, rate := checked(&AIM{Target: "column 5"}), 0.0
	for seed := range uint64(12) {
		counts := make([]int64, 2)
		Sample(t, Fit(t, f, tab, aimOne), 5000, seed).CountTo(counts, []int{5})
		rate += float64(counts[1]) / 5000 / 12
	}
	if math.Abs(rate-.02) > .0066 { // .0222 with standard deviation .0008
		t.Errorf("rate %v, want .02", rate)
	}
}

// TestMergesWideColumns: three codes of each column hold all rows. The others are one group if the
// column is wide, and are left apart if not.
func TestMergesWideColumns(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "long", Kind: schema.Integer, Min: 0, Max: 19},
		{Name: "wide", Kind: schema.Integer, Min: 0, Max: apartCodes},
	}}
	long := make([]uint8, 50_000)
	for r := range long {
		long[r] = uint8(r % 3)
	}
	tab := synthtest.Must(table.FromColumns(s, []table.Codes{{U8: long}, {U8: long}}, nil))
	m := Fit(t, checked(&AIM{}), tab, accountant.Budget{Epsilon: 10, Delta: 1e-9})
	sizes := m.Params().(*release.Marginal).Grouping.Sizes()
	if sizes[0] != 20 || sizes[1] > apartCodes/2 {
		t.Errorf("groups %v", sizes)
	}
}

func TestSettingsNameTheMarginals(t *testing.T) {
	m := Fit(t, checked(&AIM{}), synthtest.Table(t, synthtest.Schema(4), 3000), aimOne)
	chosen, ok := m.Settings["marginals"].([]any)
	if !ok || len(chosen) == 0 {
		t.Fatalf("settings %v", m.Settings)
	}
	if _, err := m.Verify(pld.Epsilon); err != nil {
		t.Error(err)
	}
}
