package privacy

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

func TestBoundUnitsKeepsAtMostK(t *testing.T) {
	units := []uint32{0, 1, 1, 2, 2, 2, 2, 0, 3, 2, 1, 4}
	for k := 1; k <= 6; k++ {
		keep := boundUnits(units, k, noise.NewSource())
		if !slices.IsSorted(keep) || len(slices.Compact(slices.Clone(keep))) != len(keep) {
			t.Fatalf("k = %d: kept %v", k, keep)
		}
		had, have := map[uint32]int{}, map[uint32]int{}
		for _, u := range units {
			had[u]++
		}
		for _, i := range keep {
			have[units[i]]++
		}
		for u := range had {
			if have[u] != min(k, had[u]) {
				t.Errorf("k = %d: unit %d has %d rows, want %d", k, u, have[u], min(k, had[u]))
			}
		}
	}
}

// TestBoundUnitsIsUniform: null: each of the C(5,2) = 10 pairs of a unit's five rows is kept
// equally often; 50 000 draws, false-alarm rate 1e-6. Keeping the first two must be rejected.
func TestBoundUnitsIsUniform(t *testing.T) {
	units := []uint32{7, 1, 7, 7, 2, 7, 7}
	src := noise.NewSource()
	counts := map[[2]int]int64{}
	for range 50000 {
		var of7 []int
		for _, i := range boundUnits(units, 2, src) {
			if units[i] == 7 {
				of7 = append(of7, i)
			}
		}
		counts[[2]int(of7)]++
	}
	if len(counts) != 10 {
		t.Fatalf("%d pairs, want 10", len(counts))
	}
	var got []int64
	p := make([]float64, 10)
	for _, n := range counts {
		p[len(got)] = .1
		got = append(got, n)
	}
	if stat, limit, ok := stattest.ChiSquare(got, p); !ok {
		t.Errorf("chi-square %v over %v: %v", stat, limit, counts)
	}
	biased := append([]int64(nil), got...)
	biased[0] += 1000
	if _, _, ok := stattest.ChiSquare(biased, p); ok {
		t.Error("the test accepts a biased choice")
	}
}

// TestContributionIsBounded opens a session on a unit with many rows and looks at what the
// mechanisms count.
func TestContributionIsBounded(t *testing.T) {
	s := testSchema("patient", 3)
	units := make([]uint32, 60)
	for i := 40; i < 60; i++ {
		units[i] = uint32(i)
	}
	tab := testTable(t, s, someRows(60), units)
	session := stattest.Must(Open(
		context.Background(),
		FromTable(tab),
		Options{Budget: wide, Plan: accountant.Composition{
			{Event: accountant.Gaussian{NoiseMultiplier: 3}, Count: 1}}},
	))
	if got := session.in.Table().Rows(); got != 23 {
		t.Errorf("%d rows are left, want 3 of the first unit and 20 of the others", got)
	}
	// Three rows a unit: σ = 9 is a multiplier of 3, and σ = 3, which would be right for single rows,
	// is not in the plan.
	stattest.Wraps(t, stattest.Err(session.Measure(Total{}, 3)), ErrPlan,
		"noise for one row was accepted for units of three")
	stattest.Passes(t, stattest.Err(session.Measure(Total{}, 9)), "")
}

func TestUnitColumnMissing(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(4), nil)
	rows := FromTable(tab)
	rows.schema = testSchema("patient", 3)
	if _, err := Open(context.Background(), rows, Options{Budget: wide, Plan: gaussian(5,
		1)}); !errors.Is(err, schema.ErrSchema) {
		t.Errorf("error %v, want ErrSchema", err)
	}
}
