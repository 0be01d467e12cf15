package vote

import (
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var (
	testSchema    = gatetest.Schema
	testTable     = gatetest.Table
	someRows      = gatetest.SomeRows
	follows       = gatetest.Follows
	roundedNormal = gatetest.RoundedNormal
	laplace       = gatetest.Laplace
	relations     = mechtest.Relations
	open          = mechtest.Open
	openAs        = mechtest.OpenAs
	calls         = mechtest.Calls
	pairOf        = mechtest.PairOf
)

// gaussian plans n calls of a Gaussian mechanism for single rows.
func gaussian(sigma float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}}
}
