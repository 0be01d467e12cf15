package ledger

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// pooled is a ledger of one run on a filter of μ = .2: 16 charges of .05.
func pooled() []Entry {
	reserve := reserveLine("a")
	reserve.Composition = plan(charge(pool(.2), 1), charge(gaussian(10), 1))
	return []Entry{openLine(), reserve, chargeLine("a", gaussian(10), 1), chargeLine("a",
		gaussian(20.0000001), 15),
		chargeLine("a", gaussian(20.0000001), 1), closeLine("a", StatusDone)}
}

// TestVerifyFilter: charges that fit the filter verify; each way of overdrawing it is found.
func TestVerifyFilter(t *testing.T) {
	stattest.Check(t, seal(pooled()).Verify(nil))
	run := seal(pooled()).Runs()[0]
	if len(run.Charged) != 2 || run.Charged[1].Event != (gaussian(20.0000001)) ||
		run.Charged[1].Count != 16 {
		t.Errorf("the run charged %+v: the ledger must name the real events", run.Charged)
	}
	for name, change := range map[string]func(e []Entry){
		"one more":              func(e []Entry) { e[4].Event.Count = 2 },
		"less noise":            func(e []Entry) { e[4].Event.Event = gaussian(19.99) },
		"a Laplace":             func(e []Entry) { e[4].Event.Event = laplace(1e-9) },
		"a subsample":           func(e []Entry) { e[4].Event.Event = subsampled(1e-9, 20) },
		"the filter itself":     func(e []Entry) { e[4].Event.Event = pool(.2) },
		"a selection too large": func(e []Entry) { e[4].Event.Event = exponential(.0799) },
		"a smaller pool":        func(e []Entry) { e[1].Composition[0].Event = pool(.1999) },
		"no pool":               func(e []Entry) { e[1].Composition = e[1].Composition[1:] },
	} {
		e := pooled()
		change(e)
		if err := seal(e).Verify(nil); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(),
			"more of an event than it reserved") {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := pooled()
	e[4].Event.Event = exponential(.0797) // μ = .04995
	stattest.Passes(t, seal(e).Verify(nil), "a selection that fits")
	e = pooled()
	e[1].Composition[0].Event = pool(3)
	if err := seal(e).Verify(nil); err == nil || !strings.Contains(err.Error(), "costs epsilon") {
		t.Errorf("a filter beyond the budget: %v", err)
	}
}

// TestLimitCountsAFilter as its ρ = Mu²/2.
func TestLimitCountsAFilter(t *testing.T) {
	limit := *spend(1, 1e-9)
	rho, err := accountant.RhoFor(limit)
	stattest.Check(t, err)
	l := seal([]Entry{openLine(), limitLine(limit, RuleZCDP)})
	fits, over := math.Sqrt(2*rho)*(1-1e-9), math.Sqrt(2*rho)*(1+1e-9)
	stattest.Passes(t, l.replayed().allows(limit, plan(charge(pool(fits), 1))), "")
	err = l.replayed().allows(limit, plan(charge(pool(over), 1)))
	stattest.Wraps(t, err, accountant.ErrBudget, "a filter above the limit")
}
