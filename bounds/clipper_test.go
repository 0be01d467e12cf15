package bounds

import (
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// TestClipperCountsAllItsTerms: of a row's squared norm 1 + n/2⁵³, n = 2²⁴ the products of two
// layers of 4096 units, float64 loses every term but the first, more than 2⁻³⁰ of the norm. The
// weight must not be what the computed norm alone allows.
func TestClipperCountsAllItsTerms(t *testing.T) {
	const units = 1 << 12
	c := &Certificate{
		mode: Ball, unitRows: 1, factor: 1, sizes: []int{1, units, units, 1},
		fields: []Field{Block(1)},
	}
	terms := 2*units + units*units + 2*units + 1
	c.scales, c.centre = slices.Repeat([]float64{0x1p500}, terms), make([]int64, terms)
	c.scales[0] = 1
	inner := c.scales[2*units:][:units*units]
	for k := range inner {
		// squares just below half of the last digit of 1
		inner[k] = math.Nextafter(0x1p26*math.Sqrt2, math.Inf(1))
	}
	ones := slices.Repeat([]float64{1}, units)
	first := make([]float64, units)
	first[0] = 1
	square := 1 + units*units/(inner[0]*inner[0])
	if square < 1+0x1.ffp-30 {
		t.Fatalf("the terms are too small: %v", square)
	}
	c.norm = 1 + 0x1p-31 + 0x1p-34 // less than the root of square, and more than that of 1 + 2⁻³⁰
	x := [][]float64{nil, ones, make([]float64, units)}
	w := NewClipper(c).Weight(x, [][]float64{first, ones, {1}})
	if length := float64(w) * weightStep * math.Sqrt(square); length > c.norm || w < 255 {
		t.Errorf("weight %d brings the row to norm %v, limit %v", w, length, c.norm)
	}
	if w := NewClipper(c).Weight(x, [][]float64{first, ones, {math.NaN()}}); w != 0 {
		t.Errorf("a row that is not a number has weight %d", w)
	}
}

// TestEachSumIsBounded: each kind of sum is bounded by itself, also where no other is large:
// of the first layer, of a deeper one, of the score, and backward of the last layer and of another.
func TestEachSumIsBounded(t *testing.T) {
	in := oneHot(t, 2)
	// Units that never fire, so that factors stay small whatever leads to them and away.
	network := func() Network[float32] {
		layer := func(in, out int, bias float32) Layer[float32] {
			l := Layer[float32]{Weights: make([]float32, in*out), Bias: make([]float32, out)}
			for j := range l.Bias {
				l.Bias[j] = bias
			}
			return l
		}
		return Network[float32]{Layers: []Layer[float32]{layer(2, 2, -1), layer(2, 2, -1),
			layer(2, 1, 0)}}
	}
	for name, set := range map[string]func(n Network[float32], x float32){
		"first layer": func(n Network[float32], x float32) { n.Layers[0].Bias[1] = -x },
		"cells": func(n Network[float32], x float32) {
			n.Layers[0].Weights[0],
				n.Layers[0].Weights[2] = -x, -x
		},
		"second layer":       func(n Network[float32], x float32) { n.Layers[1].Bias[0] = -x },
		"score":              func(n Network[float32], x float32) { n.Layers[2].Bias[0] = x },
		"backward, the last": func(n Network[float32], x float32) { n.Layers[2].Weights[1] = x },
		"backward": func(n Network[float32], x float32) { // δ² = 1, and the unit before is off
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
	square := Layer[float32]{Weights: make([]float32, units*units), Bias: make([]float32, units)}
	last := Layer[float32]{Weights: make([]float32, units), Bias: make([]float32, 1)}
	deep := Network[float32]{Layers: append(slices.Repeat([]Layer[float32]{square}, 16), last)}
	one := func(inputs int) Network[float32] {
		layer := Layer[float32]{Weights: make([]float32, inputs), Bias: make([]float32, 1)}
		return Network[float32]{Layers: []Layer[float32]{layer}}
	}
	for name, c := range map[string]struct {
		n      Network[float32]
		inputs int
		fits   bool
	}{
		"parameters": {deep, units, false}, "inputs": {one(widest + 1), widest + 1, false},
		"fewer parameters": {Network[float32]{Layers: deep.Layers[1:]}, units, true},
		"fewer inputs":     {one(widest), widest, true},
	} {
		if _, err := load(c.n, c.inputs); err == nil != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
