package clipped

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
	columnsOf  = mechtest.ColumnsOf
	encoded    = mechtest.Encoded
)

type toyCritic = mechtest.Toy

var newToyCritic = mechtest.NewToy
