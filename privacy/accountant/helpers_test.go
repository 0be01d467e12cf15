package accountant

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// oracle is testdata/oracle.json: values of independent programs, see its origin field.
type oracle struct {
	Normal struct {
		LogPhi []struct {
			X      float64
			LogPhi float64 `json:"log_phi"`
		} `json:"log_phi"`
	}
	GDP []struct{ Mu, Epsilon, Delta float64 }
}

func readOracle(t *testing.T) oracle {
	t.Helper()
	b := stattest.Must(os.ReadFile("testdata/oracle.json"))
	var o oracle
	stattest.Check(t, json.Unmarshal(b, &o))
	return o
}

// near reports whether got is within a relative tolerance of want.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)
}

func mustEpsilon(t *testing.T, c Composition, delta float64, adj Adjacency) Bound {
	t.Helper()
	b, err := c.Epsilon(delta, adj)
	if err != nil {
		t.Fatalf("Epsilon of %v: %v", c, err)
	}
	return b
}
