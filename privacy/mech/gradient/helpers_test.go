package gradient

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var newCritic = mechtest.NewCritic

// someTable has n rows of three columns.
func someTable(t testing.TB, n int) *table.Table {
	return gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(n), nil)
}

// calls is n calls of a plan.
func calls(p Plan, n int) accountant.Charge { return accountant.Charge{Event: Event(p), Count: n} }

// standard compares draws with a standard normal law, and with two of 30 % more and less noise,
// which must be rejected.
func standard(t *testing.T, name string, draws []float64) {
	t.Helper()
	for scale, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
		normal := func(x float64) float64 { return math.Erfc(-x/(scale*math.Sqrt2)) / 2 }
		if stat, limit, ok := stattest.KolmogorovSmirnov(draws, normal); ok != want {
			t.Errorf("%s, %v times the noise: distance %v of %v, accepted = %v", name, scale, stat,
				limit, ok)
		}
	}
}

// refuses fails unless a call does, and a good call goes through once after all of them: whoever
// was refused has not paid.
func refuses(
	t *testing.T, call func(p Plan, c *critic.Critic) error, good Plan, bad map[string]Plan,
) {
	t.Helper()
	c := newCritic(4, 2, 3, 4)
	for name, p := range bad {
		stattest.Fails(t, call(p, c), "%s: no error", name)
	}
	stattest.Fails(t, call(good, newCritic(4, 2, 2)), "a critic of other columns")
	stattest.Passes(t, call(good, c), "the budget is gone")
	stattest.Fails(t, call(good, c), "a second release was granted")
}
