package threshold

import (
	"github.com/decoy-dp/decoy/data/table"
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
	calls      = mechtest.Calls
	pairOf     = mechtest.PairOf
)

// firstIs1 is the question whether the first code is 1.
var firstIs1 = table.Condition{Column: 0, Allow: []bool{false, true}}
