package schema

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// The edges of wide ranges are those of exact arithmetic.
func TestWholeEdgesAreExact(t *testing.T) {
	lo, hi := int64(-maxWhole), int64(maxWhole)
	const k = 65_536
	n := big.NewInt(hi - lo + 1)
	for i, e := range wholeEdges(lo, hi, 1, k) {
		want := new(big.Int).Mul(big.NewInt(int64(i)), n)
		want.Div(want, big.NewInt(k)).Add(want, big.NewInt(lo))
		if e != float64(want.Int64()) {
			t.Fatalf("edge %d is %v, want %v", i, e, want)
		}
	}
}

// Log bins of integers grow: no bin is narrower, by more than the rounding, than the one before.
func TestWholeLogWidthsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Range(-100, 1000).Draw(t, "lo")
		hi := lo + rapid.Int64Range(0, 1<<40).Draw(t, "range")
		k := int(rapid.Int64Range(1, min(hi-lo+1, 300)).Draw(t, "bins"))
		lower := wholeLogEdges(lo, hi, k)
		if len(lower) != k || lower[0] != float64(lo) || lower[k-1] > float64(hi) || !increasing(lower) {
			t.Fatalf("edges %v", lower)
		}
		for i := 2; i < k; i++ {
			end := float64(hi + 1)
			if i+1 < k {
				end = lower[i+1]
			}
			if end-lower[i] < lower[i]-lower[i-1]-1 {
				t.Fatalf("bin %d of %v is narrower than the one before", i, lower)
			}
		}
	})
}

// find gives the only bin that holds the value, for every way of laying out bins.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyNumbers().Draw(t, "column")
		codec, err := NewCodec(c)
		check(t, err)
		b := codec.bins
		check := func(x float64) {
			if !b.contains(x) {
				return
			}
			i := b.find(x)
			if x < b.lower[i] || i+1 < b.count() && x >= b.lower[i+1] {
				t.Fatalf("%v is not in bin %d of %v", x, i, b.lower)
			}
		}
		for _, e := range append(slices.Clone(b.lower), b.min, b.max) {
			check(e)
			check(math.Nextafter(e, math.Inf(-1)))
			check(math.Nextafter(e, math.Inf(1)))
		}
		check(rapid.Float64Range(b.min, b.max).Draw(t, "x"))
	})
}

// anyNumbers draws valid columns of the numeric kinds.
func anyNumbers() *rapid.Generator[Column] {
	return rapid.Custom(func(t *rapid.T) Column {
		c := Column{Name: "x", Kind: rapid.SampledFrom([]Kind{Integer, Real, Date, Timestamp}).Draw(t,
			"kind")}
		if rapid.Bool().Draw(t, "missing") {
			c.Missing = []string{"", "NA"}
		}
		c.OnInvalid = rapid.SampledFrom([]Policy{Refuse, Clamp}).Draw(t, "policy")
		step, most := 1.0, 1e6
		switch c.Kind {
		case Integer:
			most = rapid.SampledFrom([]float64{3, 200, 1e6, maxWhole}).Draw(t, "size")
		case Real:
			most = rapid.SampledFrom([]float64{1e-300, 1e-3, 1, 1e9, maxReal}).Draw(t, "size")
		case Date:
			c.Format = rapid.SampledFrom([]string{"", "02/01/2006", "2 Jan 2006"}).Draw(t, "format")
			most = -firstDay
		case Timestamp:
			c.Format = rapid.SampledFrom([]string{"", "2006-01-02 15:04",
				"2006-01-02T15:04:05.999999"}).Draw(t, "format")
			step = map[string]float64{"": microsPerSecond, "2006-01-02 15:04": microsPerMinute}[c.Format]
			step, most = max(step, 1), 1e15
		}
		point := func(name string) float64 {
			if c.Kind == Real {
				return rapid.Float64Range(-most, most).Draw(t, name)
			}
			return float64(rapid.Int64Range(-int64(most/step), int64(most/step)).Draw(t, name)) * step
		}
		if rapid.Bool().Draw(t, "explicit") {
			c.Edges = rapid.Map(rapid.SliceOfNDistinct(rapid.Custom(func(*rapid.T) float64 {
				return point("edge")
			}), 2, 20, rapid.ID),
				func(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }).Draw(t, "edges")
		} else {
			c.Min, c.Max = point("min"), point("max")
			if c.Min > c.Max {
				c.Min, c.Max = c.Max, c.Min
			}
			if rapid.Bool().Draw(t, "bins set") {
				c.Bins = rapid.IntRange(1, 200).Draw(t, "bins")
			}
			if c.Kind.facts().format == "" {
				c.Spacing = rapid.SampledFrom([]Spacing{Linear, Log}).Draw(t, "spacing")
			}
		}
		if c.Kind == Real {
			c.Decimals = rapid.SampledFrom([]int{0, 0, 1, 3, 6}).Draw(t, "decimals")
		}
		if _, err := NewCodec(c); err != nil {
			c.Bins, c.Decimals, c.Spacing = 1, 0, Linear // too narrow for the rest
			if len(c.Edges) > 0 {
				c.Bins = 0
			}
		}
		if _, err := NewCodec(c); err != nil {
			t.Skip("too narrow")
		}
		return c
	})
}

// Null: Decode draws every tick of a bin with the same probability. 100,000
// draws a case, false-alarm rate 1e-6 (stattest). That the test can tell is shown
// by the same counts against a bin with 30 % more on its first half.
func TestDecodeIsUniform(t *testing.T) {
	tests := []struct {
		name  string
		c     Column
		code  uint16
		tick  func(Value) int64
		ticks int
	}{
		{"integers", Column{Kind: Integer, Min: 0, Max: 99, Bins: 3}, 1,
			func(v Value) int64 { return v.Int - 33 }, 33},
		{"last bin", Column{Kind: Integer, Min: 0, Max: 99, Bins: 3}, 2,
			func(v Value) int64 { return v.Int - 66 }, 34},
		{"log", Column{Kind: Integer, Min: 0, Max: 1023, Bins: 11, Spacing: Log}, 6,
			func(v Value) int64 { return v.Int - 32 }, 32},
		{"decimals", Column{Kind: Real, Min: -1, Max: 1, Bins: 4, Decimals: 2}, 1,
			func(v Value) int64 { return int64(math.Round(v.Float*100)) + 50 }, 50},
		{"closed", Column{Kind: Real, Min: -1, Max: 1, Bins: 4, Decimals: 2}, 3,
			func(v Value) int64 { return int64(math.Round(v.Float*100)) - 50 }, 51},
		{"seconds", Column{Kind: Timestamp, Min: 0, Max: 79e6, Bins: 2}, 1,
			func(v Value) int64 { return v.Int/1e6 - 40 }, 40},
		{"no step", Column{Kind: Real, Min: 0, Max: 1e300, Bins: 2}, 0,
			func(v Value) int64 { return int64(v.Float / 5e299 * 40) }, 40},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.c.Name = "x"
			codec := stattest.Must(NewCodec(test.c))
			u := rand.New(rand.NewPCG(1, 2))
			counts := make([]int64, test.ticks)
			for range 100_000 {
				counts[test.tick(codec.Decode(test.code, u))]++
			}
			even, uneven := make([]float64, test.ticks), make([]float64, test.ticks)
			sum := 0.0
			for i := range even {
				even[i], uneven[i] = 1/float64(test.ticks), 1
				if i < test.ticks/2 {
					uneven[i] = 1.3
				}
				sum += uneven[i]
			}
			for i := range uneven {
				uneven[i] /= sum
			}
			if stat, limit, ok := stattest.ChiSquare(counts, even); !ok {
				t.Errorf("statistic %.1f above %.1f", stat, limit)
			}
			if _, _, ok := stattest.ChiSquare(counts, uneven); ok {
				t.Error("the test does not tell 30 % apart")
			}
		})
	}
}

// A bought bin of a single cell is a value that many rows have: zeros stay zeros.
func TestSingles(t *testing.T) {
	for _, test := range []struct {
		c    Column
		code uint16
		want string // "": several
	}{
		{Column{Kind: Real, Edges: []float64{0, .01526, 3, 1000}}, 0, "0"},
		{Column{Kind: Real, Edges: []float64{0, .01526, .03052, 1000}, Decimals: 5}, 0, "0.00000"},
		{Column{Kind: Real, Edges: []float64{0, .01526, .03052, 1000}, Decimals: 5}, 1, ""},
		{Column{Kind: Real, Edges: []float64{0, 37.492, 37.507, 1000}}, 1, "37.5"},
		{Column{Kind: Real, Edges: []float64{-1000, -37.507, -37.492, 0}}, 1, "-37.5"},
		{Column{Kind: Real, Edges: []float64{0, .5, 30, 1000}}, 0, ""},
		{Column{Kind: Integer, Edges: []float64{0, 16, 1e6}}, 0, "0"},
		{Column{Kind: Integer, Edges: []float64{0, 24_993, 25_008, 1e6}}, 1, "25000"},
		{Column{Kind: Timestamp, Edges: []float64{0, 16e6, 1e15}}, 0, ""},
	} {
		test.c.Name, test.c.Min, test.c.Max = "x", test.c.Edges[0], test.c.Edges[len(test.c.Edges)-1]
		codec := stattest.Must(NewCodec(test.c))
		u, seen := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
		for range 200 {
			cell := codec.AppendText(nil, codec.Decode(test.code, u))
			if got, err := codec.EncodeText(cell); err != nil || got != test.code {
				t.Fatalf("%v: %s of bin %d is read as %d, %v", test.c.Edges, cell, test.code, got, err)
			}
			seen[string(cell)] = true
		}
		if one := len(seen) == 1; one != (test.want != "") || one && !seenNumber(seen, test.want) {
			t.Errorf("bin %d of %v: %d values such as %v, want %q", test.code, test.c.Edges, len(seen),
				slices.Sorted(maps.Keys(seen))[0], test.want)
		}
	}
}

// seenNumber reports whether the only text is that number, with any number of digits behind it.
func seenNumber(seen map[string]bool, want string) bool {
	for text := range seen {
		x, ok := parseNumber([]byte(text))
		y, _ := parseNumber([]byte(want))
		return ok && x == y
	}
	return false
}
