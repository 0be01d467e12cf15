package privacy

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// filter is a plan of one filter.
func pool(mu float64) accountant.Composition {
	return accountant.Composition{{Event: accountant.GDPFilter{Mu: mu}, Count: 1}}
}

// TestFilterIsDrained: calls of any noise are granted until the filter is empty; a call that does
// not fit reads nothing and leaves the filter as it was.
func TestFilterIsDrained(t *testing.T) {
	s := open(
		t, testTable(t, testSchema("", 0), someRows(12), nil), append(pool(.5), gaussian(7, 1)...),
	)
	reads := 0
	data := s.in.Table
	s.recount(func() *table.Table { reads++; return data() })
	pair := Marginal{Cols: []int{0, 1}}
	cand := []Candidate{{Query: pair, Estimate: make([]float64, 6)}}
	for i, step := range []struct {
		name string
		call func() error
		ok   bool
		left float64
	}{
		{"reserved by name", func() error { _, err := s.Measure(pair, 7); return err }, true, .25},
		{"the same from the pool", func() error { _, err := s.Measure(pair, 7); return err }, true,
			.25 - 1./49},
		{"another noise", func() error { _, err := s.Measure(Total{}, 4); return err }, true,
			.25 - 1./49 - 1./16},
		{"a selection", func() error { _, err := s.Select(cand, .3); return err }, true,
			.25 - 1./49 - 1./16 - .0352},
		{"a Laplace", func() error { return laplaceOf(s, 1e6) }, false, .13196},
		{"too little noise", func() error { _, err := s.Measure(pair, 2.7); return err }, false, .13196},
		{"a selection too strong", func() error { _, err := s.Select(cand, .6); return err }, false,
			.13196},
		{"nearly all", func() error { _, err := s.Measure(pair, 2.76); return err }, true, .0007},
		{"nothing is left", func() error { _, err := s.Measure(pair, 30); return err }, false, .0007},
	} {
		before := reads
		s.in.Counts = counter(s.in) // what was counted once is remembered
		err := step.call()
		if (err == nil) != step.ok || err != nil && !errors.Is(err, ErrPlan) {
			t.Fatalf("%d, %s: %v", i, step.name, err)
		}
		if (reads > before) != step.ok {
			t.Errorf("%s: read = %v", step.name, reads > before)
		}
		if math.Abs(s.Left().Mu2-step.left) > 2e-4 {
			t.Fatalf("%s: the filter has %v, want %v", step.name, s.Left().Mu2, step.left)
		}
	}
	stattest.Check(t, s.Finish(nil, nil))
	stattest.Wraps(t, stattest.Err(s.Measure(pair, 1e9)), ErrClosed, "closed session")
	ledger := s.Ledger()
	stattest.Passes(t, ledger.Verify(nil), "")
	// The ledger names the events that ran, and their costs add up to what the filter lost.
	spent := 0.0
	for _, c := range ledger.Runs()[0].Charged {
		cost, ok := accountant.FilterCost(c.Event)
		if !ok {
			t.Errorf("charged %+v", c)
		}
		spent += float64(c.Count) * cost
	}
	if got := spent - 1./49; math.Abs(got-(.25-s.Left().Mu2)) > 1e-9 {
		t.Errorf("charges of %v, the filter lost %v", got, .25-s.Left().Mu2)
	}
}

// TestSelectionIsChargedInFull: as many selections are granted as cost.μ² says and not one more.
func TestSelectionIsChargedInFull(t *testing.T) {
	cand := []Candidate{{Query: Marginal{Cols: []int{0}}, Estimate: make([]float64, 2)}}
	const epsilon = .4
	p := math.Exp(epsilon/2) / (1 + math.Exp(epsilon/2))
	mu := 2 * math.Sqrt2 * math.Erfinv(2*p-1) // Φ(μ/2) = p
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), pool(mu*math.Sqrt(5.01)))
	granted := 0
	for range 40 {
		if _, err := s.Select(cand, epsilon); err == nil {
			granted++
		}
	}
	if granted != 5 {
		t.Errorf("%d selections were granted, want 5", granted)
	}
}

// TestFilterUnderEachRelation: a unit of k rows drains a filter k² times as fast, replace-one twice
// as fast again.
func TestFilterUnderEachRelation(t *testing.T) {
	for _, nb := range relations {
		s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), pool(1))
		s.nb = nb
		must(s.Measure(Marginal{Cols: []int{0}}, 100))
		want := math.Pow(float64(nb.MaxRowsPerUnit)/100, 2)
		if nb.Adjacency == accountant.ReplaceOne {
			want *= 2
		}
		if got := 1 - s.Left().Mu2; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: the filter lost %v, want %v", nb, got, want)
		}
	}
}

// TestFilterInParallel: many calls at once do not overdraw it.
func TestFilterInParallel(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), pool(math.Sqrt(10.5)/5))
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 64 {
		wg.Go(func() {
			if _, err := s.Measure(Marginal{Cols: []int{0}}, 5); err == nil {
				mu.Lock()
				granted++
				mu.Unlock()
			}
			_ = s.Left()
		})
	}
	wg.Wait()
	if granted != 10 {
		t.Errorf("%d calls were granted, want 10", granted)
	}
}

// TestFilterIsReservedBeforeReading: a filter one part in 1e9 too dear is refused without reading;
// the ledger on disk has the filter before, the real event after.
func TestFilterIsReservedBeforeReading(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(12), nil)
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	most := stattest.Must(accountant.MuFor(budget))
	reads := 0
	if _, err := Open(context.Background(), counted(tab, &reads), Options{Budget: budget,
		Plan: pool(most * (1 + 1e-9))}); !errors.Is(err, accountant.ErrBudget) ||
		reads > 0 {
		t.Errorf("error %v after %d reads", err, reads)
	}
	file := ledger.NewFile(filepath.Join(t.TempDir(), "l"))
	s := must(Open(t.Context(), counted(tab, &reads),
		Options{Budget: budget, Plan: pool(most * (1 - 1e-12)), Ledger: file}))
	must(s.Measure(Total{}, 2/most))
	stattest.Check(t, s.Finish(nil, nil))
	l := stattest.Must(file.Read())
	stattest.Passes(t, l.Verify(nil), "")
	run := l.Runs()[0]
	if len(run.Charged) != 1 ||
		run.Charged[0].Event != (accountant.Gaussian{NoiseMultiplier: 2 / most}) {
		t.Errorf("charged %+v", run.Charged)
	}
	if _, ok := run.Reserved[0].Event.(accountant.GDPFilter); !ok {
		t.Errorf("reserved %+v", run.Reserved)
	}
}

// TestFilteredNoise. Null: what a filter pays for has the law of its own σ; 20 000 draws,
// false-alarm rate 1e-6, a scale 30 % off is rejected.
func TestFilteredNoise(t *testing.T) {
	const n, sigma = 20000, 3.0
	s := open(t, testTable(t, testSchema("", 0), someRows(600), nil), pool(math.Sqrt(n+1)/sigma))
	draws := make([]int64, n)
	for i := range draws {
		x := stattest.Must(only(s.Measure(Total{}, sigma)))
		draws[i] = x - 600
	}
	for scale, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
		if got := follows(draws, 11,
			func(x int64) float64 { return roundedNormal(x, scale*sigma) }); got != want {
			t.Errorf("scale %v: accepted = %v", scale, got)
		}
	}
	positive, used := int64(0), int64(0)
	for _, d := range draws {
		if d != 0 {
			used++
		}
		if d > 0 {
			positive++
		}
	}
	if _, _, ok := stattest.Binomial(positive, used, .5); !ok {
		t.Errorf("%d of %d draws are positive", positive, used)
	}
}
