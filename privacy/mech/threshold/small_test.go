package threshold

import (
	"math"
	"reflect"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

type (
	small    = gatetest.Small[privacy.Neighbours]
	smallRow gatetest.SmallRow[privacy.Neighbours]
	value    = gatetest.Value
)

// smallThreshold is the number of a question that a round adds noise to: how far a count is
// off a guess, the largest level at which the answer is yes.
func smallThreshold(s *small) value {
	const guess = 5
	epsilon := float64(s.NB.MaxRowsPerUnit) * (1 << 23)
	plan := accountant.Composition{{Event: Event(epsilon), Count: 40}}
	session := openAs(s.T, s.Table, s.NB.Adjacency, plan)
	for level := float64(8); ; level -= .5 {
		th := stattest.Must(Open(session, level, epsilon))
		if above, err := th.Ask(smallQuestion, guess); err != nil {
			s.T.Fatal(err)
		} else if above {
			return value{{level}}
		}
	}
}

var smallQuestion = table.Not{Of: table.Condition{Column: 1, Allow: []bool{true, false}}}

// smallClaim is Δ in rows: the noise of a question has scale 4Δ/ε.
func smallClaim(nb privacy.Neighbours) float64 {
	_, noise, err := scales(nb, 1)
	if err != nil {
		panic(err)
	}
	each := reflect.ValueOf(noise).Elem()
	scale := math.Ldexp(float64(each.FieldByName("t").Uint()),
		-int(each.FieldByName("shift").Uint()))
	return scale / 4 / (1 << access.EstimateBits)
}

func smallRows() []smallRow {
	return []smallRow{{"Open", "", smallThreshold, smallClaim, gatetest.L1, nil}}
}

func TestSmallTables(t *testing.T) {
	var rows []gatetest.SmallRow[privacy.Neighbours]
	for _, row := range smallRows() {
		rows = append(rows, gatetest.SmallRow[privacy.Neighbours](row))
	}
	gatetest.RunSmall(t, []string{"Open"}, rows,
		func(adj accountant.Adjacency, k int) privacy.Neighbours {
			return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
		})
}
