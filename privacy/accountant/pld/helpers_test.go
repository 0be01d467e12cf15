package pld

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var long = flag.Bool("long", false, "compare all references")

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
	stattest.Check(t, json.Unmarshal(b, &o))
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
	b, err := Epsilon(c, delta, adj)
	if err != nil {
		t.Fatalf("Epsilon of %v: %v", c, err)
	}
	return b
}

// composed are the profiles that Epsilon reads.
func composed(c accountant.Composition, delta float64, adj accountant.Adjacency) []profile {
	p := newPlan(c, adj)
	lambda, _ := p.bestTilt(func(logMGF, lambda float64) float64 {
		return conversion(logMGF, lambda, math.Log(delta))
	})
	return p.profiles(delta, lambda)
}

// withSlack is the bound of Epsilon; of samples, and Gaussian events beside them, with how far it
// is above what some mechanisms with these events cost at least.
func withSlack(
	t *testing.T, c accountant.Composition, delta float64, adj accountant.Adjacency,
) accountant.Bound {
	t.Helper()
	b := mustEpsilon(t, c, delta, adj)
	if b.Method != "pld" {
		return b
	}
	lowest := 0.0
	for _, p := range composed(c, delta, adj) {
		lowest = math.Max(lowest, p.lower(delta, newPlan(c, adj).count, 2e-10*delta))
	}
	b.Slack = b.Epsilon - math.Min(b.Epsilon, lowest)
	return b
}

func mustDelta(
	t *testing.T, c accountant.Composition, epsilon float64, adj accountant.Adjacency,
) float64 {
	t.Helper()
	d, err := DeltaAt(c, epsilon, adj)
	if err != nil {
		t.Fatalf("δ of %v: %v", c, err)
	}
	return d.Delta
}
