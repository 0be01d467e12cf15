package stats

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

var budget = accountant.Budget{Epsilon: 1, Delta: 1e-6}

// people are n rows: y = 2·x + 3·(c is r) + noise, and died more often at larger x.
func people(t testing.TB, n int, seed uint64) *table.Table {
	t.Helper()
	return tableOf(`decoy: 1
columns:
  - {name: x, kind: integer, min: 0, max: 19, bins: 20}
  - {name: c, kind: categorical, categories: [p, q, r]}
  - {name: y, kind: integer, min: 0, max: 99, bins: 100, missing: [""]}
  - {name: died, kind: boolean}
`, n, seed, 0, func(u *rand.Rand) []int {
		x, c := u.IntN(20), u.IntN(3)
		y := 2*x + u.IntN(11) + 3*when(c == 2)
		if u.IntN(20) == 0 {
			y = 100 // missing
		}
		return []int{x, c, y, when(u.Float64() < 1/(1+math.Exp(-.3*(float64(x)-10))))}
	})
}

func parsed(t testing.TB, text string, tab *table.Table) Statistic {
	t.Helper()
	f := stattest.Must(ParseStatistic(text, tab.Schema()))
	return f
}

// TestStatistics: each is what it says on all rows, where the truth is known by how the rows were
// drawn (within more than six standard errors), and no number on no rows.
func TestStatistics(t *testing.T) {
	tab := people(t, 20000, 1)
	for text, want := range map[string][2]float64{
		"mean:x": {9.5, .3}, "mean:died": {.5, .03}, "mean:y": {25, .6}, "quantile:x,0.5": {9.5, 1},
		"quantile:x,0": {0, 0}, "quantile:x,1": {19, 0}, "coefficient:y~x+c": {2, .03},
		"coefficient:y~c+x": {0, 0}, "coefficient:died~x": {.3, .03}, "coefficient:died~x+c": {.3, .03},
		"auroc:died": {.845, .03},
	} {
		f, err := ParseStatistic(text, tab.Schema())
		if text == "coefficient:y~c+x" { // the coefficient of three categories
			stattest.Wraps(t, err, ErrStatistic, "%s", text)
			continue
		}
		check(t, err)
		if got := f.Of(tab); !(math.Abs(got-want[0]) <= want[1]) {
			t.Errorf("%s is %v, want %v", text, got, want[0])
		}
		if got := f.Of(tab.Select(nil)); !math.IsNaN(got) {
			t.Errorf("%s of no rows is %v", text, got)
		}
		for i := range 4 {
			f.Of(tab.Select([]int{i, i, i})) // one class, one value: no panic
		}
	}
	if got := quantile([]float64{4, 1, 3, 2}, .5); got != 2.5 {
		t.Errorf("the median of four is %v", got)
	}
	for _, bad := range []string{"", "mean", "mean:", "mean:z", "mean:c", "quantile:x", "quantile:x,2",
		"quantile:x,NaN", "quantile:,1", "coefficient:y", "coefficient:y~", "coefficient:c~x",
		"coefficient:y~y", "coefficient:y~x+x", "auroc:x", "auroc:c", "auroc:", "median:x"} {
		stattest.Wraps(t, stattest.Err(ParseStatistic(bad, tab.Schema())), ErrStatistic, "%q", bad)
	}
}

// sealed is the mean of a few people, as a file.
func sealed(t testing.TB) *Validated {
	t.Helper()
	tab := people(t, 100, 1)
	r, _, err := Validate(context.Background(), privacy.FromTable(tab),
		Validation{Statistic: parsed(t, "mean:x", tab)}, Run[*Validated]{
			Options: privacy.Options{Budget: accountant.Budget{Epsilon: 10, Delta: 1e-6}}})
	check(t, err)
	return r
}

// died is the share of people who died, of the population.
var died = func() (p float64) {
	for x := range 20 {
		p += 1 / (1 + math.Exp(-.3*(float64(x)-10))) / 20
	}
	return p
}()

// TestInterval compares with figures by hand: results ½ half widths above the middle with standard
// deviation 0, and noise alone.
func TestInterval(t *testing.T) {
	r := &Validated{Lower: 10, Upper: 30}
	r.interval(vote.Mean{Mean: 25, Square: .25}, 100, 1e-9, 1e-9)
	if r.Estimate != 25 || r.High-r.Low > 1e-4 {
		t.Errorf("without noise: %+v", r)
	}
	r.interval(vote.Mean{Mean: 20, Square: 0}, 100, 5, 0)
	if math.Abs(r.Noise-1) > 1e-12 { // 20·5/100
		t.Errorf("noise %v, want 1", r.Noise)
	}
	if wide := r.High - 20; wide < z975 || wide > z975*1.01 {
		t.Errorf("half the interval is %v, want a little over %v", wide, z975)
	}
	r.interval(vote.Mean{Mean: -1e9, Square: -5}, 100, 5, 5)
	if r.Estimate != 10 || r.Low != 10 || r.High <= 10 || r.High > 30 {
		t.Errorf("far out: %+v", r)
	}
	// the squares say less than nothing: the spread is what their noise, of deviation .05, leaves open
	r.interval(vote.Mean{Mean: 29, Square: .7}, 100, 1e-9, 5)
	if r.Spread < 10*math.Sqrt(.05) {
		t.Errorf("spread %v where noise hides it", r.Spread)
	}
}

// TestValidate: rows are bought or public, the budget is that of the ledger, a result is JSON; a
// run that broke off after its answer is continued with the same one.
func TestValidate(t *testing.T) {
	tab, dir := people(t, 5000, 3), t.TempDir()
	f := parsed(t, "mean:x", tab)
	inBlocks := f.WithRange(f.Lower, f.Upper)
	for name, o := range map[string]Validation{
		"bought": {}, "public": {Rows: 5000}, "blocks": {Blocks: 77}, "direct": {},
	} {
		l := ledger.NewFile(filepath.Join(dir, name))
		if o.Statistic = inBlocks; name == "direct" {
			o.Statistic = f
		}
		at := Run[*Validated]{Options: privacy.Options{Budget: budget, Ledger: l,
			Journal: filepath.Join(dir, name+".journal"), Adjacency: accountant.ReplaceOne}}
		failed := errors.New("the printer is on fire")
		var first string
		at.Deliver = func(r *Validated) error {
			text, _ := json.Marshal(r)
			first = string(text)
			return failed
		}
		_, _, err := Validate(context.Background(), privacy.FromTable(tab), o, at)
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		at.Resume, at.Deliver = true, nil
		r, _, err := Validate(context.Background(), privacy.FromTable(tab), o, at)
		check(t, err)
		if text, _ := json.Marshal(r); string(text) != first {
			t.Errorf("%s: %s\nwas %s", name, text, first)
		}
		if name == "blocks" && r.Blocks != 77 || name == "public" && r.Blocks != 250 ||
			name == "bought" && (r.Blocks < 230 || r.Blocks > 270) {
			t.Errorf("%s: %d blocks", name, r.Blocks)
		}
		if math.Abs(r.Estimate-9.5) > 8*(r.Noise+.1) || r.Noise > 1.2 || !(r.Low < r.High) {
			t.Errorf("%s: %+v", name, r)
		}
		after, err := l.Read()
		if err != nil || after.Spent() != budget {
			t.Errorf("%s: spent %+v, %v", name, after.Spent(), err)
		}
	}
}

// TestProgressTellsNoPanics: on however many blocks the statistic panics, progress is that of all.
func TestProgressTellsNoPanics(t *testing.T) {
	tab := people(t, 500, 3)
	f := parsed(t, "mean:x", tab).WithRange(0, 1)
	for _, share := range []int{1, 2, 1000} { // of the blocks, those that panic
		var blocks, calls atomic.Int64
		f.Of = func(*table.Table) float64 {
			if blocks.Add(1)%int64(share) == 0 {
				panic("a statistic of one row")
			}
			return 0
		}
		_, _, err := Validate(context.Background(), privacy.FromTable(tab),
			Validation{Statistic: f, Blocks: 10}, Run[*Validated]{
				Options: privacy.Options{Budget: budget}, Progress: func(string, float64) {
					calls.Add(1)
				}})
		if err != nil || calls.Load() != 10 {
			t.Errorf("one block of %d panics: %d of 10 reports, %v", share, calls.Load(), err)
		}
	}
}
