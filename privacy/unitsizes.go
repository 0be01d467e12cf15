package privacy

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/schema"
)

// MaxUnitSizes is the most ranges that [Session.UnitSizes] tells apart.
const MaxUnitSizes = 1 << 16

// UnitSizesEvent is the event of [Session.UnitSizes] at standard deviation sigma units a range: Gaussian with Δ₂ = 1 under add/remove, √2
// under replace-one. It does not depend on MaxRowsPerUnit: a unit is counted once, however many rows it has.
func (nb Neighbours) UnitSizesEvent(sigma float64) accountant.Event {
	delta := 1.0
	if nb.Adjacency == accountant.ReplaceOne {
		delta = math.Nextafter(math.Sqrt2, 2)
	}
	return accountant.Gaussian{NoiseMultiplier: down(sigma, delta)}
}

// UnitSizes returns how many units have how many rows in the file, before the gate bounds them to MaxRowsPerUnit: entry i counts the units
// with more than upTo[i−1] (0 for i = 0) and at most upTo[i] rows, the last of len(upTo)+1 entries those with more; each plus independent
// round(N(0, sigma²)), exactly GDP with μ = Δ₂/σ (docs/claims/unitsizes.md). upTo increases from 1 or more, and has 1 to [MaxUnitSizes] entries. A schema
// without an id column is an error that wraps schema.ErrInvalid. Event: [Neighbours.UnitSizesEvent].
func (s *session) UnitSizes(upTo []int, sigma float64) ([]int64, error) {
	g, err := noise.NewRoundedGaussian(sigma)
	if err != nil {
		return nil, err
	}
	if s.schema.Unit == "" {
		return nil, fmt.Errorf("privacy: the schema names no unit, so each is one row: %w", schema.ErrInvalid)
	}
	if len(upTo) < 1 || len(upTo) > MaxUnitSizes {
		return nil, fmt.Errorf("privacy: %d ranges of rows per unit, 1 to %d are possible", len(upTo), MaxUnitSizes)
	}
	upTo = slices.Clone(upTo)
	last, question := 0, ask("unit sizes").floats(sigma)
	for _, n := range upTo {
		if n <= last {
			return nil, fmt.Errorf("privacy: the ranges of rows per unit must increase from 1 or more")
		}
		last = n
		question.ints(int64(n))
	}
	return s.releaseInts(call{"rows per unit", question, once(s.nb.UnitSizesEvent(sigma)), nil}, len(upTo)+1, func() ([]int64, error) {
		counts := countSizes(s.units(), upTo)
		g.AddTo(counts, s.src)
		return counts, nil
	})
}

// countSizes counts the units by their number of rows.
func countSizes(units []uint32, upTo []int) []int64 {
	rows := map[uint32]int64{}
	for _, u := range units {
		rows[u]++
	}
	counts := make([]int64, len(upTo)+1)
	for _, n := range rows {
		cell := sort.Search(len(upTo), func(i int) bool { return n <= int64(upTo[i]) })
		counts[cell]++
	}
	return counts
}
