package pld

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func between(a, b float64) interval { return interval{a, b, b - a} }

func gaussian(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }

func subsampled(q, z float64) accountant.SubsampledGaussian {
	return accountant.SubsampledGaussian{Rate: q, NoiseMultiplier: z}
}

func laplace(epsilon float64) accountant.Event { return accountant.Laplace{Epsilon: epsilon} }

func exponential(epsilon float64) accountant.Event {
	return accountant.Exponential{Epsilon: epsilon}
}

func approx(epsilon, delta float64) accountant.Event {
	return accountant.Approx{Epsilon: epsilon, Delta: delta}
}

func filter(mu float64) accountant.Event { return accountant.GDPFilter{Mu: mu} }

func times(e accountant.Event, count int) accountant.Charge {
	return accountant.Charge{Event: e, Count: count}
}

func events(charges ...accountant.Charge) accountant.Composition { return charges }

func spend(epsilon, delta float64) accountant.Budget {
	return accountant.Budget{Epsilon: epsilon, Delta: delta}
}

// oracle is accountant's testdata/oracle.json: values of independent programs, see its origin
// field.
type oracle struct {
	Normal struct {
		Masses []struct{ A, B, Mass float64 }
	}
	RDP []struct {
		Rate            float64
		NoiseMultiplier float64 `json:"noise_multiplier"`
		Alpha           float64
		Adjacency       accountant.Adjacency
		RDP             float64
	}
	Compositions []struct {
		Composition         []oracleCharge
		Adjacency           accountant.Adjacency
		Delta, Lower, Upper float64
	}
}

type oracleCharge struct {
	Event           string
	Rate            float64
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Epsilon, Delta  float64
	Count           int
}

func composition(t *testing.T, charges []oracleCharge) (c accountant.Composition) {
	t.Helper()
	for _, o := range charges {
		e, ok := map[string]accountant.Event{
			"gaussian":            gaussian(o.NoiseMultiplier),
			"subsampled-gaussian": subsampled(o.Rate, o.NoiseMultiplier),
			"laplace":             laplace(o.Epsilon), "exponential": exponential(o.Epsilon),
			"approx": approx(o.Epsilon, o.Delta),
			// of σ = 10, which is the continuous one to within what the oracle is certain of
			"discrete-gaussian": gaussian(o.NoiseMultiplier),
		}[o.Event]
		if !ok {
			t.Fatalf("unknown event %q", o.Event)
		}
		c = append(c, times(e, o.Count))
	}
	return c
}

func readOracle(t *testing.T) oracle {
	t.Helper()
	b := stattest.Must(os.ReadFile("../testdata/oracle.json"))
	var o oracle
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// near reports whether got is within a relative tolerance of want.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)
}

func mustEpsilon(
	t *testing.T, c accountant.Composition, delta float64, adj accountant.Adjacency,
) accountant.Bound {
	t.Helper()
	b, err := withSlack(c, delta, adj)
	if err != nil {
		t.Fatalf("Epsilon of %v: %v", c, err)
	}
	return b
}

// rdpEpsilon returns the least ε at delta over the orders, and the order.
func rdpEpsilon(
	c accountant.Composition, delta float64, adj accountant.Adjacency,
) (epsilon, alpha float64) {
	return bestOrder(c, adj, func(rdp, alpha float64) float64 { return conversion(rdp, alpha, delta) })
}

func mustDelta(
	t *testing.T, c accountant.Composition, epsilon float64, adj accountant.Adjacency,
) accountant.Bound {
	t.Helper()
	b, err := DeltaAt(c, epsilon, adj)
	if err != nil {
		t.Fatalf("Delta of %v: %v", c, err)
	}
	return b
}
