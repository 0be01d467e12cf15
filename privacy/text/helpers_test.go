package text

import (
	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

var (
	follows       = gatetest.Follows
	roundedNormal = gatetest.RoundedNormal
)

var relations = []privacy.Neighbours{
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1},
	{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 4},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1},
	{Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 4},
}

// wide is a budget for tests that are not about the budget.
var wide = accountant.Budget{Epsilon: 1e12, Delta: 1e-9}

// gaussian plans n calls of a Gaussian mechanism for single rows.
func gaussian(sigma float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: sigma}, Count: n}}
}
