package pld

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestInertEventsChangeNothing: an event that costs next to nothing leaves the cost of the others
// as it is, however extreme its parameters are, and none of them is a panic.
func TestInertEventsChangeNothing(t *testing.T) {
	others := map[string]accountant.Composition{
		"gaussian":   events(times(gaussian(.3), 1)),
		"subsampled": events(times(subsampled(.5, .3), 10)),
		"pool":       events(times(filter(3), 10)),
		"selections": events(times(exponential(5), 10)),
	}
	for _, inert := range []accountant.Event{
		subsampled(1e-300, 1e150), subsampled(1e-300, 1e50), subsampled(1e-100, 1e150),
		subsampled(1e-20, 1e150), subsampled(1e-17, 1e150), subsampled(1e-17, 1), subsampled(1e-300, 1),
	} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			for name, c := range others {
				alone, err := withSlack(c, 1e-9, adj)
				if err != nil {
					t.Fatal(err)
				}
				both, err := Epsilon(append(events(times(inert, 1)), c...), 1e-9, adj)
				// The composed bound may be a little tighter than one by a formula, never much.
				if err != nil || both.Epsilon < .97*(alone.Epsilon-alone.Slack) {
					t.Errorf("%v, %v: %s costs %v alone and %v with it, %v", adj, inert, name, alone.Epsilon,
						both.Epsilon, err)
				}
				if delta, err := DeltaAt(append(events(times(inert, 1)), c...), 1, adj); err != nil ||
					delta.Delta < .5 {
					if lone, _ := DeltaAt(c, 1, adj); delta.Delta < .97*lone.Delta {
						t.Errorf("%v, %v: %s has delta %v alone and %v with it, %v", adj, inert, name, lone.Delta,
							delta.Delta, err)
					}
				}
			}
		}
	}
	for _, z := range []float64{1e-7, 3e-8, 1e-10, 1e-100, math.SmallestNonzeroFloat64} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			if b, err := Epsilon(events(times(subsampled(.5, z), 1)), 1e-9, adj); err == nil &&
				b.Epsilon < 100 {
				t.Errorf("%v: noise %v costs %v", adj, z, b.Epsilon)
			}
		}
	}
}
