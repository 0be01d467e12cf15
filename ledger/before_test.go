package ledger

import (
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestPricesOfBefore: numeric prices above ε = 10⁴ were a part in 10⁵ lower once, of noise that
// hides nothing. Such a ledger verifies; one whose price means something is held to it.
func TestPricesOfBefore(t *testing.T) {
	for epsilon, ok := range map[float64]bool{5: false, 2e13: true} {
		var l Ledger
		u := Units{Adjacency: accountant.ReplaceOne}
		reserve := u.OpenEntry(today())
		reserve.Kind, reserve.Run = EntryReserve, "0123456789abcdef"
		reserve.Budget = &accountant.Budget{Epsilon: epsilon, Delta: 1e-9}
		reserve.Composition = accountant.Composition{
			{Event: accountant.SubsampledGaussian{Rate: .5, NoiseMultiplier: 1e-7}, Count: 1}}
		for _, e := range []Entry{u.OpenEntry(today()), reserve} {
			if _, err := l.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		price := func(
			accountant.Composition, float64, accountant.Adjacency,
		) (accountant.Bound, error) {
			return accountant.Bound{Epsilon: epsilon * (1 + 5e-6)}, nil
		}
		if err := l.Verify(price); (err == nil) != ok {
			t.Errorf("epsilon %v: %v", epsilon, err)
		}
	}
}
