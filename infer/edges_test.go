package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
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
		v := verdict{kind: schema.Real, decimals: found, values: 10000, unseenMissing: noisy{0, 28}}
		c, cells := bounds("x", m, possible(m, v.decimals, counts, 10), &v, 10)
		codec := stattest.Must(schema.NewCodec(*c))
		if found > 0 && c.Decimals != found || c.Decimals < 1 || found == 0 && c.Decimals > 3 {
			t.Errorf("%d digits were found, %d are written", found, c.Decimals)
		}
		zero := stattest.Must(codec.EncodeText([]byte(strconv.Itoa(int(tt.spike)))))
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

// TestAlwaysAColumn: whatever noise makes of the cells, what is made of them is a column, in an
// instant, with bins that are not more than the cells pay for.
func TestAlwaysAColumn(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	kinds := []schema.Magnitudes{{Kind: schema.Integer, PerPower: 2}, {Kind: schema.Date},
		{Kind: schema.Integer, PerPower: 8}, {Kind: schema.Real, PerPower: 2},
		{Kind: schema.Real, PerPower: 8}, {Kind: schema.Timestamp}}
	columns := 800
	if *long {
		columns = 4000
	}
	for range columns {
		m := kinds[random.IntN(len(kinds))]
		in := possible(m, random.IntN(4), make([]int64, m.Len()), 10)
		from := random.IntN(len(in))
		if random.IntN(4) == 0 { // of the last cells
			from = len(in) - 1
		}
		in = slices.Clone(in[from:min(len(in), from+1+random.IntN(40))])
		size := math.Pow(10, 6*random.Float64())
		for i := range in {
			in[i].rows = math.Round(size * random.NormFloat64())
			if c := &in[i]; m.Kind != schema.Timestamp && random.IntN(8) == 0 { // a number alone, as 0.1
				if c.lo = c.lo + random.Float64()*(c.hi-c.lo); m.Kind != schema.Real {
					c.lo = math.Floor(c.lo)
				}
				c.hi, c.part = c.lo, i+1
			}
		}
		if random.IntN(3) == 0 { // noise cancels what is there
			in[0].rows -= math.Round(cellRows(in)) - float64(random.IntN(3)-1)
		}
		v := verdict{kind: m.Kind, decimals: random.IntN(4), values: size,
			missing: []string{"-9", "0", "999", "NA"}}
		c := v.column("x", in, random.IntN(2) == 0, 10)
		if _, err := schema.NewCodec(*c); err != nil || len(c.Edges) > mostBins*(len(in)+3) {
			t.Fatalf("%v: %d edges: %+v of %+v", err, len(c.Edges), c, in)
		}
	}
}

func cellRows(in []magnitude) (rows float64) {
	for _, c := range in {
		rows += c.rows
	}
	return rows
}

// TestConstants: a column of one number is that number.
func TestConstants(t *testing.T) {
	for _, text := range []string{"0.1", "2.5", "36.6", "1e-12", "0.1234567890123", "-0.25", "1.2e19",
		"12000000000000000000"} {
		x := stattest.Must(strconv.ParseFloat(text, 64))
		v := verdict{kind: schema.Real, values: 3000}
		c := v.column("x", []magnitude{{lo: x, hi: x, rows: 3000, sigma: 10, part: 1}}, false, 10)
		codec, err := schema.NewCodec(*c)
		if err != nil || codec.Size() != 1 || codec.Decode(0, rand.New(rand.NewPCG(1, 1))).Float != x {
			t.Errorf("%s: %+v: %v", text, c, err)
		}
		in := []magnitude{{lo: x, hi: x, rows: 3000, sigma: 10, part: 1}, {lo: math.Nextafter(x, 1e300),
			hi: x + math.Abs(x)/4, rows: 200, sigma: 10, part: 1}}
		for _, rows := range []float64{200, 2} { // beside others, and beside noise
			in[1].rows = rows
			codec := stattest.Must(schema.NewCodec(*v.column("x", in, false, 10)))
			if at, err := codec.EncodeText([]byte(text)); err != nil ||
				codec.Decode(at, rand.New(rand.NewPCG(1, 1))).Float != x || codec.Size() > 1 != (rows > 2) {
				t.Errorf("%s beside %v rows: %+v: %v", text, rows, codec.Column().Edges, err)
			}
		}
	}
}
