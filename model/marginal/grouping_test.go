package marginal

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func oneWays(columns ...[]float64) (sizes []int, ms []Measurement) {
	for i, c := range columns {
		sizes = append(sizes, len(c))
		ms = append(ms, Measurement{Cols: []int{i}, Counts: c, Sigma: 10})
	}
	return sizes, ms
}

func testGrouping(t *testing.T) *Grouping {
	t.Helper()
	sizes, ms := oneWays(
		[]float64{500, 5, 300, -20, 12, 400}, // 1, 3, 4 are below 30
		[]float64{100, 29},                   // one rare code stays
		[]float64{3, -3, 8},                  // all are rare
	)
	g := stattest.Must(NewGrouping(sizes, ms, 3))
	return g
}

func TestGroups(t *testing.T) {
	g := testGrouping(t)
	if got, want := g.Sizes(), []int{4, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if got, want := g.CodeSizes(), []int{6, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("codes %v, want %v", got, want)
	}
	for col, want := range [][]uint16{{0, 3, 1, 3, 3, 2}, nil, {0, 0, 0}} {
		if got := g.Groups(col); !slices.Equal(got, want) {
			t.Errorf("column %d: groups %v, want %v", col, got, want)
		}
	}
}

// TestApart: columns of few codes merge nothing, and the others as before.
func TestApart(t *testing.T) {
	g := testGrouping(t)
	if got, want := g.Apart(3).Sizes(), []int{4, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if got, want := g.Sizes(), []int{4, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("afterwards the first has groups %v, want %v", got, want)
	}
}

func TestNewGroupingRefuses(t *testing.T) {
	sizes, ms := oneWays([]float64{1, 2}, []float64{3, 4})
	nan := []Measurement{ms[0], {Cols: []int{1}, Counts: []float64{1, math.NaN()}, Sigma: 1}}
	for name, bad := range map[string][]Measurement{
		"a column is missing": ms[:1],
		"a column twice":      {ms[0], ms[0]},
		"a pair":              {ms[0], {Cols: []int{0, 1}, Counts: make([]float64, 4), Sigma: 1}},
		"column out of range": {ms[0], {Cols: []int{2}, Counts: []float64{1, 2}, Sigma: 1}},
		"a NaN":               nan,
	} {
		stattest.Fails(t, stattest.Err(NewGrouping(sizes, bad, 3)), "%s: accepted", name)
	}
}

func TestGroupMeasurement(t *testing.T) {
	g := testGrouping(t)
	m := Measurement{Cols: []int{1, 0}, Sigma: 2, Counts: []float64{1, 2, 3, 4, 5, 6, 10,
		20, 30, 40, 50, 60}}
	got := g.GroupMeasurement(m)
	if want := []float64{1, 3, 6, 2 + 4 + 5, 10, 30, 60,
		20 + 40 + 50}; !slices.Equal(got.Counts, want) {
		t.Errorf("counts %v, want %v", got.Counts, want)
	}
	for i, want := range []float64{2, 2, 2, 2 * math.Sqrt(3), 2, 2, 2, 2 * math.Sqrt(3)} {
		if math.Abs(got.Sigmas[i]-want) > 1e-12 {
			t.Errorf("sigma of cell %d is %v, want %v", i, got.Sigmas[i], want)
		}
	}
	for _, own := range [][]uint16{{0, 3, 1, 3, 3, 2}, {0, 1, 1, 1, 1, 0}} {
		m := Measurement{Cols: []int{1, 0}, Sigma: 2, Groups: [][]uint16{nil, own},
			Counts: make([]float64, 2*(slices.Max(own)+1))}
		got := g.GroupMeasurement(m)
		if err := got.Check(g.Sizes()); err != nil || (got.Groups == nil) != (slices.Max(own) == 3) {
			t.Errorf("groups %v became %v: %v", own, got.Groups, err)
		}
	}
	same := g.GroupMeasurement(Measurement{Cols: []int{1}, Sigma: 2, Counts: []float64{7, 8}})
	if !slices.Equal(same.Counts, []float64{7, 8}) || same.Sigma != 2 || same.Sigmas != nil {
		t.Errorf("a column without groups became %+v", same)
	}
}

// TestExpand: groups of one code become that code; the merged group is spread by its weights (5
// standard deviations of 60 000 draws).
func TestExpand(t *testing.T) {
	g := testGrouping(t)
	const n = 60000
	rows := [][]uint16{make([]uint16, n), make([]uint16, n), make([]uint16, n)}
	for r := range n {
		rows[0][r], rows[1][r] = uint16(r%4), uint16(r%2)
	}
	g.Expand(rows, rand.New(rand.NewPCG(1, 2)))
	counts := make([]float64, 6)
	for r := range n {
		counts[rows[0][r]]++
		if rows[1][r] != uint16(r%2) {
			t.Fatal("a column without groups was changed")
		}
	}
	for _, code := range []int{0, 2, 5} {
		if counts[code] != n/4 {
			t.Errorf("code %d has %v rows, want %v", code, counts[code], n/4)
		}
	}
	c := g.columns[0]
	sum := 0.0
	for _, w := range c.weights {
		sum += float64(w)
	}
	for i, code := range c.rare {
		p := float64(c.weights[i]) / sum
		if d := math.Abs(counts[code] - p*n/4); d > 5*math.Sqrt(p*(1-p)*n/4) {
			t.Errorf("code %d has %v rows, want about %v", code, counts[code], p*n/4)
		}
	}
	if !(counts[4] > counts[1] && counts[1] > counts[3]) {
		t.Errorf("12, 5 and -20 noisy rows became %v, %v and %v", counts[4], counts[1], counts[3])
	}
}

// TestCutNormalMean compares with a numeric integral, and across the switch to the asymptote.
func TestCutNormalMean(t *testing.T) {
	for _, mu := range []float64{-60, -20, -3, 0, 1, 40} {
		num, den := 0.0, 0.0
		for i := range 400000 {
			x := (float64(i) + .5) * 2e-4 * 3
			w := math.Exp(-(x-mu)*(x-mu)/8 + min(0, mu)*mu/8)
			num, den = num+x*w, den+w
		}
		if got := cutNormalMean(mu, 2); math.Abs(got/(num/den)-1) > 3e-3 {
			t.Errorf("mean of N(%v, 4) above 0: %v, want %v", mu, got, num/den)
		}
	}
	if got := cutNormalMean(-1e9, 1); !(got > 0 && got < 1e-8) {
		t.Errorf("far below zero: %v", got)
	}
}

func TestGroupingBinary(t *testing.T) {
	g := testGrouping(t)
	b := must(g.MarshalBinary())
	var back Grouping
	stattest.Check(t, back.UnmarshalBinary(b))
	again, err := back.MarshalBinary()
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("encoding again differs: %v", err)
	}
	for col := range 3 {
		if !slices.Equal(g.Groups(col), back.Groups(col)) {
			t.Errorf("column %d: groups %v, want %v", col, back.Groups(col), g.Groups(col))
		}
	}
	for cut := range b {
		stattest.Wraps(t, new(Grouping).UnmarshalBinary(b[:cut]), errModel, "cut at %d", cut)
	}
	stattest.Wraps(t, new(Grouping).UnmarshalBinary(append(slices.Clone(b), 0)), errModel,
		"a byte too many")
}

func FuzzUnmarshalGrouping(f *testing.F) {
	sizes, ms := oneWays([]float64{500, 5, 300, -20, 12, 400}, []float64{3, -3, 8})
	g := stattest.Must(NewGrouping(sizes, ms, 3))
	b, _ := g.MarshalBinary()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var g Grouping
		if g.UnmarshalBinary(b) != nil {
			return
		}
		rows := make([][]uint16, len(g.columns))
		for i, n := range g.Sizes() {
			rows[i] = []uint16{0, uint16(n - 1)}
		}
		g.Expand(rows, rand.New(rand.NewPCG(1, 2)))
		for i, n := range g.CodeSizes() {
			for _, code := range rows[i] {
				if int(code) >= n {
					t.Fatalf("column %d: code %d of %d", i, code, n)
				}
			}
		}
	})
}

// TestCutNormal compares the mean of 40,000 draws with the formula, at six standard errors.
func TestCutNormal(t *testing.T) {
	u := rand.New(rand.NewPCG(4, 4))
	for _, mu := range []float64{-60, -3, -.5, 0, .5, 4} {
		sum, squares := 0., 0.
		const n = 40_000
		for range n {
			x := cutNormal(mu, 2, u)
			if x < 0 {
				t.Fatal("a draw below 0")
			}
			sum, squares = sum+x/n, squares+x*x/n
		}
		if want := cutNormalMean(mu, 2); math.Abs(sum-want) > 6*math.Sqrt((squares-sum*sum)/n) {
			t.Errorf("N(%v, 4) cut at 0 has mean %v, want %v", mu, sum, want)
		}
	}
}
