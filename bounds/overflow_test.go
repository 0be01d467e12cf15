package bounds

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestEachSumIsBounded: each kind of sum is bounded by itself, also where no other is large:
// of the first layer, of a deeper one, of the score, and backward of the last layer and of another.
func TestEachSumIsBounded(t *testing.T) {
	in := oneHot(t, 2)
	// Units that never fire, so that factors stay small whatever leads to them and away.
	network := func() Network {
		layer := func(in, out int, bias float32) Layer {
			l := Layer{Weights: make([]float32, in*out), Bias: make([]float32, out)}
			for j := range l.Bias {
				l.Bias[j] = bias
			}
			return l
		}
		return Network{Layers: []Layer{layer(2, 2, -1), layer(2, 2, -1),
			layer(2, 1, 0)}}
	}
	for name, set := range map[string]func(n Network, x float32){
		"first layer": func(n Network, x float32) { n.Layers[0].Bias[1] = -x },
		"cells": func(n Network, x float32) {
			n.Layers[0].Weights[0],
				n.Layers[0].Weights[2] = -x, -x
		},
		"second layer":       func(n Network, x float32) { n.Layers[1].Bias[0] = -x },
		"score":              func(n Network, x float32) { n.Layers[2].Bias[0] = x },
		"backward, the last": func(n Network, x float32) { n.Layers[2].Weights[1] = x },
		"backward": func(n Network, x float32) { // δ² = 1, and the unit before is off
			n.Layers[1].Bias[0], n.Layers[2].Weights[0], n.Layers[1].Weights[2] = 1, 1, x
		},
	} {
		for x, refused := range map[float32]bool{0x1p99: false, 0x1p101: true} {
			n := network()
			set(n, x)
			_, err := Certify(n, in, Config{Adjacency: accountant.AddRemove})
			if err != nil != refused {
				t.Errorf("%s, %v: %v", name, x, err)
			}
		}
	}
}

// TestTooLargeNetworksAreRefused: beyond the numbers of terms that margins are derived for.
func TestTooLargeNetworksAreRefused(t *testing.T) {
	const units = 1 << 11
	square := Layer{Weights: make([]float32, units*units), Bias: make([]float32, units)}
	last := Layer{Weights: make([]float32, units), Bias: make([]float32, 1)}
	deep := Network{Layers: append(slices.Repeat([]Layer{square}, 16), last)}
	one := func(inputs int) Network {
		layer := Layer{Weights: make([]float32, inputs), Bias: make([]float32, 1)}
		return Network{Layers: []Layer{layer}}
	}
	for name, c := range map[string]struct {
		n      Network
		inputs int
		fits   bool
	}{
		"parameters": {deep, units, false}, "inputs": {one(widest + 1), widest + 1, false},
		"fewer parameters": {Network{Layers: deep.Layers[1:]}, units, true},
		"fewer inputs":     {one(widest), widest, true},
	} {
		if _, err := c.n.Sizes(c.inputs); err == nil != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
