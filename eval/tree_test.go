package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestBoostingAgreesWithScikitLearn compares log odds with testdata/boosting.json. scikit-learn
// keeps gradients in 32 bits.
func TestBoostingAgreesWithScikitLearn(t *testing.T) {
	f := load[fits[struct {
		Trees, Leaves int
		MinRows       float64 `json:"min_rows"`
		Penalty       float64
		Scores        []float64
	}]](t, "boosting.json")
	tab := f.table(t, number)
	for _, fit := range f.Fits {
		model := stattest.Must(fitBoosting(tab, targets(f.Labels), nil,
			boostingOptions{treeOptions{fit.Leaves, fit.MinRows, fit.Penalty, 0}, fit.Trees, .1}))
		scores := stattest.Must(model.Scores(tab))
		for i := range scores {
			if !near(scores[i], fit.Scores[i], 1e-5) {
				t.Errorf("%d trees: row %d scores %v, want %v", fit.Trees, i, scores[i],
					fit.Scores[i])
				break
			}
		}
	}
}

// targets are labels as boosting takes them.
func targets(y []bool) []float64 {
	out := make([]float64, len(y))
	for i, positive := range y {
		out[i] = indicator(positive)
	}
	return out
}

// binned is a table as trees see it.
func binned(t testing.TB, tab *table.Table, drop ...string) ([]bins, [][]uint8) {
	columns, e, err := binning(tab, drop)
	stattest.Check(t, err)
	rows := stattest.Must(e.encode(tab))
	return columns, rows
}

// TestBestSplit compares with a search over all partitions of categories and all thresholds of
// numbers, missing on either side.
func TestBestSplit(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	schemas := []*schema.Schema{
		schemaOf(t, category("a", 6)),
		schemaOf(t, optional(category("a", 5))),
		schemaOf(t, number("a", 7)),
		schemaOf(t, optional(number("a", 6))),
	}
	for round := range 80 {
		s := schemas[round%4]
		const n, minRows = 40, 3
		tab := uniformTable(t, s, n, u)
		columns, rows := binned(t, tab)
		g := &grower{bins: columns, rows: rows, gradient: make([]float64, n),
			weight: make([]float64, n), options: treeOptions{leaves: 2, minRows: minRows}}
		all := make([]uint32, n)
		for i := range n {
			g.gradient[i], g.weight[i], all[i] = u.NormFloat64(), 1, uint32(i)
		}
		loss := func(side func(bin uint8) bool) (float64, bool) {
			var sums, counts [2]float64
			for i := range n {
				k := 0
				if side(rows[0][i]) {
					k = 1
				}
				sums[k] += g.gradient[i]
				counts[k]++
			}
			if counts[0] < minRows || counts[1] < minRows {
				return 0, false
			}
			return -sums[0]*sums[0]/counts[0] - sums[1]*sums[1]/counts[1], true
		}
		best := math.Inf(1)
		c := columns[0]
		for mask := range 1 << c.size {
			if c.ordered { // bins up to a threshold, with or without missing
				low := mask
				if c.missing >= 0 {
					low &^= 1 << c.missing
				}
				if low&(low+1) != 0 {
					continue
				}
			}
			if l, ok := loss(func(bin uint8) bool { return mask>>bin&1 == 1 }); ok {
				best = min(best, l)
			}
		}
		grown := g.grow(all)
		if len(grown) != 3 {
			t.Fatalf("round %d: %d nodes, want a split", round, len(grown))
		}
		got, ok := loss(func(bin uint8) bool { return grown[0].left.has(bin) == 1 })
		if !ok || !near(got, best, 1e-9) {
			t.Errorf("round %d: split of loss %v, the best has %v", round, got, best)
		}
	}
}

func TestBinning(t *testing.T) {
	u := rand.New(rand.NewPCG(4, 4))
	s := schemaOf(t, optional(number("few", 20)), number("many", 3000),
		optional(number("crowded", 3000)), category("places", 700), optional(number("one", 1)))
	tab := tableFrom(t, s, 5000, func(i, c int) int {
		switch c {
		case 1:
			return u.IntN(3000)
		case 2:
			if i%10 != 0 {
				return 0
			}
			return 1500 + u.IntN(100)
		case 3:
			return u.IntN(1 + u.IntN(700))
		}
		return u.IntN(s.Sizes()[c])
	})
	columns, e, err := binning(tab, nil)
	stattest.Check(t, err)
	rows := stattest.Must(e.encode(tab))
	for k, c := range columns {
		count := make([]int, c.size)
		for _, bin := range rows[k] {
			count[bin]++
		}
		if c.size > maxBins || c.missing >= 0 && c.missing != c.size-1 {
			t.Errorf("column %d: %d bins, missing is %d", k, c.size, c.missing)
		}
		last := -1
		for code := range e.columns[k].place {
			if bin := int(e.value[k][code]); bin != last && bin != last+1 {
				t.Fatalf("column %d: code %d has bin %d after %d", k, code, bin, last)
			}
			last = int(e.value[k][code])
		}
		switch k {
		case 1:
			if c.size != 255 || slices.Max(count) > 60 { // about 20 rows each
				t.Errorf("%d bins of up to %d rows", c.size, slices.Max(count))
			}
		case 2: // 0 and 100 other values occur: none need share a bin
			if c.size < 90 || c.size > 103 {
				t.Errorf("%d bins for 101 values and missing", c.size)
			}
		case 0:
			if c.size != 21 {
				t.Errorf("%d bins for 20 numbers and missing", c.size)
			}
		}
	}
}
