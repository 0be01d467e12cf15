package stats

import (
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var check = stattest.Check

// tableOf is n rows of codes under a schema, each drawn with a seed; with units, of so many rows.
func tableOf(
	yaml string, n int, seed uint64, unit int, row func(u *rand.Rand) []int,
) *table.Table {
	s := stattest.Must(schema.Parse([]byte(yaml)))
	u := rand.New(rand.NewPCG(seed, 1))
	var cols []table.Codes
	for _, size := range s.Sizes() {
		cols = append(cols, table.NewCodes(size, n))
	}
	var ids []uint32
	for i := range n {
		for c, code := range row(u) {
			cols[c].Set(i, uint16(code))
		}
		if unit > 0 {
			ids = append(ids, uint32(i/unit))
		}
	}
	return stattest.Must(table.FromColumns(s, cols, ids))
}

// when is 1 if something is so, and else 0.
func when(so bool) int {
	if so {
		return 1
	}
	return 0
}
