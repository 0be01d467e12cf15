package accountant

import (
	"math"
	"testing"
)

// TestInertEventsChangeNothing: an event that costs next to nothing leaves the cost of the others as
// it is, however extreme its parameters are, and none of them is a panic.
func TestInertEventsChangeNothing(t *testing.T) {
	others := map[string]Composition{
		"gaussian":   {{Gaussian{.3}, 1}},
		"subsampled": {{SubsampledGaussian{.5, .3}, 10}},
		"discrete":   {{DiscreteGaussian{.3, 1}, 10}},
		"pool":       {{Pool{3}, 10}},
		"selections": {{Exponential{5}, 10}},
	}
	for _, inert := range []SubsampledGaussian{
		{1e-300, 1e308}, {1e-300, 1e50}, {1e-100, 1e308}, {1e-20, 1e308}, {1e-17, 1e308}, {1e-17, 1}, {1e-300, 1},
	} {
		for _, adj := range []Adjacency{AddRemove, ReplaceOne} {
			for name, c := range others {
				alone, err := c.Epsilon(1e-9, adj)
				if err != nil {
					t.Fatal(err)
				}
				both, err := append(Composition{{inert, 1}}, c...).Epsilon(1e-9, adj)
				// The composed bound may be a little tighter than one by a formula, never much.
				if err != nil || both.Epsilon < .97*(alone.Epsilon-alone.Slack) {
					t.Errorf("%v, %v: %s costs %v alone and %v with it, %v", adj, inert, name, alone.Epsilon, both.Epsilon, err)
				}
				if delta, err := append(Composition{{inert, 1}}, c...).Delta(1, adj); err != nil || delta.Delta < .5 {
					if lone, _ := c.Delta(1, adj); delta.Delta < .97*lone.Delta {
						t.Errorf("%v, %v: %s has delta %v alone and %v with it, %v", adj, inert, name, lone.Delta, delta.Delta, err)
					}
				}
			}
		}
	}
	for _, z := range []float64{1e-7, 3e-8, 1e-10, 1e-100, math.SmallestNonzeroFloat64} {
		for _, adj := range []Adjacency{AddRemove, ReplaceOne} {
			if b, err := (Composition{{SubsampledGaussian{.5, z}, 1}}).Epsilon(1e-9, adj); err == nil && b.Epsilon < 100 {
				t.Errorf("%v: noise %v costs %v", adj, z, b.Epsilon)
			}
		}
	}
}
