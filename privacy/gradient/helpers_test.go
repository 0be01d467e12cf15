package gradient

import (
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var (
	testSchema = gatetest.Schema
	testTable  = gatetest.Table
	someRows   = gatetest.SomeRows
	relations  = mechtest.Relations
	wide       = mechtest.Wide
	open       = mechtest.Open
	openAs     = mechtest.OpenAs
	pairOf     = mechtest.PairOf
	encoded    = mechtest.Encoded
)

var newToyCritic, newScaledToy, scaledThird = mechtest.NewToy, mechtest.NewScaledToy,
	mechtest.ScaledThird
