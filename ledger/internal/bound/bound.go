// Package bound holds what packages below ledger bind for it, where no other program can: prices
// and signatures that a reader of the basic claim need not read.
package bound

import (
	"errors"
	"math"

	"github.com/decoy-dp/decoy/accountant"
)

// ZCDP is the ε at delta of compositions that are chosen one after the other: a privacy filter.
// Package ledger/limit binds it; in a program without that, ledger.RuleZCDP refuses every run.
var ZCDP = func([]accountant.Composition, float64) (epsilon float64) { return math.Inf(1) }

// Signed is nil for a limit, a ledger.Entry, that key has signed. Package ledger/signature binds
// it; a program without that refuses every ledger that names a key.
var Signed = func(limit any, key string) error { return errors.New("signatures are unknown") }
