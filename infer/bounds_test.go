package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestExtent(t *testing.T) {
	counts := make([]float64, 400)
	if _, _, ok := extent(counts, 4, 32, 10, rarely); ok {
		t.Error("nothing has bounds")
	}
	set := func(from, to int, n float64) {
		for i := from; i <= to; i++ {
			counts[i] = n
		}
	}
	for _, step := range []struct {
		name        string
		from, to    int
		rows        float64
		first, last int
	}{
		{"a column", 100, 110, 300, 100, 110},
		{"a tail that stands out a little", 111, 114, 30, 100, 114},
		{"a tail that does not", 115, 119, 10, 100, 114},
		{"a lone cell far away that is noise", 200, 200, 45, 100, 114},
		{"a spike", 220, 220, 200, 100, 220},
		{"another cluster, of which noise is a tenth", 320, 323, 25, 100, 220},
		{"and more so", 320, 323, 90, 100, 323},
		{"on the other side", 20, 20, 400, 20, 323},
	} {
		set(step.from, step.to, step.rows)
		first, last, ok := extent(counts, 4, 32, 10, rarely)
		if !ok || first > step.first || first <= step.first-4 || last < step.last || last >= step.last+4 {
			t.Errorf("%s: %d to %d, want %d to %d, or less than a power of two more",
				step.name, first, last, step.first, step.last)
		}
	}
}

// TestExtentOfNoise: null, counts of zero with noise of 10 rows in 1,345 cells. A run of cells
// stands out at 5σ with probability below 1,345·9·2.9e-7, so of 300 columns more than 8 have bounds
// with probability below 1e-6; and what noise adds to a true cluster is seldom far.
func TestExtentOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := schema.Magnitudes{Kind: schema.Real, PerPower: 8}
	found, far := 0, 0
	for range 300 {
		counts := make([]float64, m.Len())
		for i := range counts {
			counts[i] = 10 * random.NormFloat64()
		}
		if _, _, ok := extent(counts, 8, 64, 10, rarely); ok {
			found++
		}
		for i := 700; i < 740; i++ {
			counts[i] += 500
		}
		if first, last, _ := extent(counts, 8, 64, 10, rarely); first < 700-24 || last > 740+24 {
			far++ // three powers of two too far
		}
	}
	if found > 8 || far > 8 {
		t.Errorf("of 300 columns %d of noise have bounds, %d have absurd ones", found, far)
	}
}

// found is the exact magnitudes of some values.
func found(t *testing.T, m schema.Magnitudes, rows map[string]int64) []int64 {
	t.Helper()
	counts := make([]int64, m.Len())
	for text, n := range rows {
		i, ok := m.Of([]byte(text))
		if !ok {
			t.Fatal(text)
		}
		counts[i] += n
	}
	return counts
}

func TestBounds(t *testing.T) {
	whole, real := schema.Magnitudes{Kind: schema.Integer,
		PerPower: 8}, schema.Magnitudes{Kind: schema.Real, PerPower: 8}
	for _, tt := range []struct {
		name     string
		m        schema.Magnitudes
		rows     map[string]int64
		min, max float64
	}{
		{"skewed", whole, map[string]int64{"0": 5000, "99999": 200}, 0, 106495},
		{"zeros", real, map[string]int64{"0": 5000}, 0, 1},
		{"huge", whole, map[string]int64{"1e30": 5000, "-3": 5000}, -3, 1<<53 - 1},
		{"a flag that is always 0", whole, map[string]int64{"0": 5000}, 0, 1},
		{"a flag that is always 1", whole, map[string]int64{"1": 5000}, 0, 2},
		{"a rare flag", whole, map[string]int64{"0": 9900, "1": 100}, 0, 1},
		{"a code that is always −4", whole, map[string]int64{"-4": 5000}, -5, -3},
		{"a spike apart", whole, map[string]int64{"1": 900, "2": 800, "3": 300, "700": 100}, 0, 703},
		{"at a sentinel", whole, map[string]int64{"1": 900, "2": 800, "30": 300, "999": 100,
			"-99": 500}, -99, 999},
		{"or not", whole, map[string]int64{"700": 900, "800": 800, "999": 900}, 512, 1023},
	} {
		c, _ := bounds("x", tt.m, possible(tt.m, 0, found(t, tt.m, tt.rows), 10),
			&verdict{kind: tt.m.Kind}, 10)
		if c.Min != tt.min || c.Max != tt.max {
			t.Errorf("%s: from %v to %v, want %v to %v", tt.name, c.Min, c.Max, tt.min, tt.max)
		}
		stattest.Passes(t, stattest.Err(schema.NewCodec(*c)), "%s", tt.name)
	}
	for token, kept := range map[string]bool{"-9": true, "2": false, "NA": true} {
		v := verdict{kind: schema.Integer, missing: []string{token}}
		rows := map[string]int64{"1": 900, "2": 800, "3": 900, "-9": 300}
		c, _ := bounds("x", whole, possible(whole, 0, found(t, whole, rows), 10), &v, 10)
		if got := slices.Contains(c.Missing, token); got != kept {
			t.Errorf("token %s: %v", token, c.Missing)
		}
		stattest.Passes(t, stattest.Err(schema.NewCodec(*c)), "token %s", token)
	}
	v := &verdict{kind: schema.Real}
	c, _ := bounds("x", real, possible(real, 0, make([]int64, real.Len()), 10), v, 10)
	if c != nil || !strings.Contains(v.note, "left out") {
		t.Errorf("nothing: %+v, %s", c, v.note)
	}
}

// TestEdges: bins follow the counts.
func TestEdges(t *testing.T) {
	whole := schema.Magnitudes{Kind: schema.Integer, PerPower: 4}
	edgesOf := func(m schema.Magnitudes, decimals int, rows map[string]int64) []float64 {
		c, _ := bounds("x", m, possible(m, decimals, found(t, m, rows), 10),
			&verdict{kind: m.Kind, decimals: decimals}, 10)
		stattest.Passes(t, stattest.Err(schema.NewCodec(*c)), "%v", c.Edges)
		return c.Edges
	}
	if got := edgesOf(whole, 0, map[string]int64{"3": 900, "50": 400}); got != nil {
		t.Errorf("few values: %v", got)
	}
	// Four in five are 0; the rest, about 1,000 and 100,000, have bins all the same.
	got := edgesOf(whole, 0, map[string]int64{"0": 8000, "1000": 1000, "100000": 1000})
	if len(got) < 8 || got[0] != 0 || got[1] != 1 || got[len(got)-1] != 114687 {
		t.Errorf("skewed: %v", got)
	}
	for _, want := range []float64{896, 1024, 98304} {
		if !slices.Contains(got, want) {
			t.Errorf("skewed: %v has no edge at %v", got, want)
		}
	}
	real := schema.Magnitudes{Kind: schema.Real, PerPower: 4}
	got = edgesOf(real, 1, map[string]int64{"36.6": 6000, "0": 2000})
	if got[0] != 0 || got[1] != .1 || got[len(got)-1] != 40 {
		t.Errorf("temperatures: %v", got)
	}
	for _, x := range got {
		if math.Abs(x*10-math.Round(x*10)) > 1e-9 {
			t.Errorf("temperatures: %v has more than one digit behind the point", x)
		}
	}
	// With few rows for the noise there are few bins.
	got = edgesOf(real, 0, map[string]int64{"0.3": 90, "3": 90, "30": 90})
	if len(got)-1 > 12 {
		t.Errorf("270 rows, noise 10: %d bins", len(got)-1)
	}
}

// TestBirthDates: the bounds of days of birth hold most of them, though no decade stands out: 1,500
// over 82 years, evenly, with a noise of 17 or 28 a year. In 200 draws each .865 and .617 of the
// days are within, where runs of at most 16 years had .187 and .021. 4 and 2 bounds are 20 years
// too far.
func TestBirthDates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for sigma, least := range map[float64]float64{17: .8, 28: .5} {
		within, wide := 0.0, 0
		for range 200 {
			truth, counts := make([]float64, 400), make([]float64, 400)
			for range 1500 {
				truth[130+r.IntN(82)]++
			}
			for i, n := range truth {
				counts[i] = n + sigma*r.NormFloat64()
			}
			first, last, ok := extent(counts, 2, maxRunYears, sigma, always)
			if ok {
				within += floats.Sum(truth[first:last+1]) / 1500 / 200
			}
			if ok && (first < 130-20 || last > 211+20) {
				wide++
			}
		}
		if within < least || wide > 15 {
			t.Errorf("σ = %v: %.3f of the days are within, and %d bounds too far", sigma, within, wide)
		}
	}
}

// always is the laxer limit for all cells.
func always(int, int) bool { return true }

// rarely is the stricter limit for all cells.
func rarely(int, int) bool { return false }

// TestCutOff: how many cells the bounds cut off is told from the cells beside them and from what is
// missing in those within, if it stands out of the noise.
func TestCutOff(t *testing.T) {
	cell := func(lo, hi, rows float64) magnitude { return magnitude{lo, hi, rows, 20, 0} }
	all := []magnitude{cell(-1, 0, 0), cell(0, 0, 500), cell(2, 4, 4000), cell(4, 8, 4500),
		cell(8, 16, 600), cell(16, 32, 400), cell(32, 64, 0)}
	for _, tt := range []struct {
		name        string
		first, last int
		below       bool
		rows        float64
		says        string
	}{
		{"all", 1, 5, true, 0, ""},
		{"above", 1, 3, true, 1000, "about 10 % of its cells (±1 %) are moved to its bounds"},
		{"on either side", 2, 3, true, 1500, "about 15 % of its cells (±1 %) are moved to its bounds"},
		{"below, where the bounds begin at zero", 2, 3, false, 1000,
			"about 10 % of its cells (±1 %) are moved to its bounds"},
	} {
		v := verdict{values: 10000, noise: 30}
		v.cutOffRows = v.cutOff(all, all[tt.first:tt.last+1], 3, tt.below)
		if math.Abs(v.cutOffRows.rows-tt.rows) > 1e-6 || v.cutOffRows.sigma > 40 ||
			v.cutOffNote() != tt.says {
			t.Errorf("%s: %+v, %q", tt.name, v.cutOffRows, v.cutOffNote())
		}
	}
	// 2000 cells that hold no value, and that no class showed
	v := verdict{values: 12000, noise: 30}
	v.cutOffRows = v.cutOff(all, all[1:6], 3, true)
	if !strings.HasSuffix(v.cutOffNote(), "are moved to its bounds, or missing") {
		t.Errorf("missing cells: %+v, %q", v.cutOffRows, v.cutOffNote())
	}
	if v := (verdict{values: 1000, cutOffRows: noisy{90, 50}}); v.cutOffNote() != "" {
		t.Errorf("what is noise is said: %q", v.cutOffNote())
	}
}

// TestTimesEndWithTheDay: the cells of times of day end at half powers of two, and their bounds end
// with the day, in a schema that is read back.
func TestTimesEndWithTheDay(t *testing.T) {
	for format, last := range map[string]float64{"": 1439, "15:04:05": 86399, "15:04 [15m]": 1425,
		"3:04 PM": 1439} {
		v := verdict{kind: schema.Time, format: format, values: 3000}
		c := v.column("t", []magnitude{{lo: 1, hi: 255, rows: 900, sigma: 9},
			{lo: 256, hi: 1023, rows: 1000, sigma: 9}, {lo: 1024, hi: 98303, rows: 1100, sigma: 9}},
			false, 9)
		codec, err := schema.NewCodec(*c)
		if err != nil || c.Max != last {
			t.Errorf("%q: to %v, %v", format, c.Max, err)
			continue
		}
		s := &schema.Schema{Columns: []schema.Column{codec.Column()}}
		if _, err := schema.Parse(stattest.Must(s.YAML())); err != nil {
			t.Errorf("%q: %v", format, err)
		}
	}
	late := schema.Column{Name: "t", Kind: schema.Time, Max: 1440, Bins: 4}
	stattest.Fails(t, stattest.Err(schema.NewCodec(late)), "a time after the day is a bound")
}
