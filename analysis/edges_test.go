package analysis

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

// TestSpikes: zeros that stand out in a column of fractions, or −1 with nothing beside it, have a
// bin that writes 0 alone, or −1, and all edges have the digits that are written.
func TestSpikes(t *testing.T) {
	m := schema.Magnitudes{Kind: schema.Real, PerPower: 4}
	for _, tt := range []struct {
		found int
		spike float64
	}{{0, 0}, {1, 0}, {2, 0}, {5, 0}, {0, -1}, {1, -1}, {2, -1}, {5, -1}} {
		found := tt.found
		counts := make([]int64, m.Len())
		for i := range 10000 {
			x := float64(i%1000) / 37
			if i%3 == 0 {
				x = tt.spike
			}
			at, ok := m.Of([]byte(strconv.FormatFloat(x, 'f', 6, 64)))
			if !ok {
				t.Fatal("no cell")
			}
			counts[at]++
		}
		v := judged{kind: schema.Real, decimals: found, values: 10000, unseen: noisy{0, 28}}
		c, cells := bounds("x", m, possible(m, v.decimals, counts), &v, 10)
		codec, err := schema.NewCodec(*c)
		check(t, err)
		if found > 0 && c.Decimals > found || c.Decimals < 1 || c.Decimals > 3 {
			t.Errorf("%d digits were found, %d are written", found, c.Decimals)
		}
		zero, err := codec.EncodeText([]byte(strconv.Itoa(int(tt.spike))))
		check(t, err)
		one, err := codec.EncodeText([]byte("1.04"))
		if err != nil || zero == one {
			t.Fatalf("%v has code %d, 1 has %d: %v", tt.spike, zero, one, err)
		}
		for seed := range uint64(20) {
			x := codec.Decode(zero, rand.New(rand.NewPCG(seed, 1))).Float
			if x != tt.spike {
				t.Errorf("%d digits: the bin of the spike writes %v", found, x)
			}
		}
		for _, x := range c.Edges {
			if text := strconv.FormatFloat(x, 'f', -1, 64); len(text) > 3+c.Decimals {
				t.Errorf("%d digits: edge %s", found, text)
			}
		}
		r := &Inferred{Columns: []inferredColumn{{Name: "x", Found: c,
			counts: countsOf(cells, nil, v, 10)}}}
		ms, err := r.Measurements()
		if err != nil || len(ms) != 1 || len(ms[0].Counts) < len(c.Edges)/2 {
			t.Fatalf("%d digits: %d bins: %v, %v", found, len(c.Edges)-1, ms, err)
		}
		if got := ms[0].Counts[ms[0].Groups[0][zero]]; math.Abs(got-3339) > 15 {
			t.Errorf("%d digits: zero is measured as %v rows", found, got)
		}
	}
}
