package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// TestBoostingAgreesWithScikitLearn compares log odds with testdata/boosting.json. scikit-learn
// keeps gradients in 32 bits.
func TestBoostingAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/boosting.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Sizes  []int
		Codes  [][]int
		Labels []bool
		Fits   []struct {
			Trees, Leaves int
			MinRows       int `json:"min_rows"`
			Penalty       float64
			Scores        []float64
		}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	var columns []schema.Column
	for i, size := range f.Sizes {
		columns = append(columns, number(fmt.Sprint("column", i), size))
	}
	tab := tableOf(t, schemaOf(t, columns...), f.Codes...)
	for _, fit := range f.Fits {
		model, err := fitBoosting(tab, f.Labels,
			boostingOptions{trees: fit.Trees, leaves: fit.Leaves, minRows: fit.MinRows,
				rate: .1, penalty: fit.Penalty})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := model.scores(tab)
		if err != nil {
			t.Fatal(err)
		}
		for i := range scores {
			if !near(scores[i], fit.Scores[i], 1e-5) {
				t.Errorf("%d trees: row %d scores %v, want %v", fit.Trees, i, scores[i],
					fit.Scores[i])
				break
			}
		}
	}
}

// TestForestAgreesWithScikitLearn compares shares of positives with testdata/forest.json, a mean
// over 20 000 trees. The draws of 2000 trees leave .006 of a score; a forest that counts a row as
// often as it was drawn, and sends all values that a node has no row of to one side, is off by .015
// to .03.
func TestForestAgreesWithScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/forest.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Sizes  []int
		Train  int
		Codes  [][]int
		Labels []bool
		Fits   []struct {
			MinRows int `json:"min_rows"`
			Columns int
			Scores  []float64
		}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	var columns []schema.Column
	for i, size := range f.Sizes {
		columns = append(columns, number(fmt.Sprint("column", i), size))
	}
	s := schemaOf(t, columns...)
	train, test := tableOf(t, s, f.Codes[:f.Train]...), tableOf(t, s, f.Codes[f.Train:]...)
	for _, fit := range f.Fits {
		model, err := fitForest(train, f.Labels[:f.Train],
			forestOptions{trees: 2000, minRows: fit.MinRows, columns: fit.Columns, seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := model.scores(test)
		if err != nil {
			t.Fatal(err)
		}
		mean, worst := 0.0, 0.0
		for i := range scores {
			d := math.Abs(scores[i] - fit.Scores[i])
			mean, worst = mean+d/float64(len(scores)), max(worst, d)
		}
		if mean > .009 || worst > .05 {
			t.Errorf("%d rows a leaf, %d columns a split: scores differ by %.4f on average, by "+
				"%.4f at most", fit.MinRows, fit.Columns, mean, worst)
		}
		got, err := AUROC(scores, f.Labels[f.Train:])
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := AUROC(fit.Scores, f.Labels[f.Train:]); !near(got, want, .005) {
			t.Errorf("AUROC %v, want %v", got, want)
		}
	}
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
		b, err := newBinning(tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := b.rows(tab)
		if err != nil {
			t.Fatal(err)
		}
		g := &grower{binning: b, rows: rows, gradient: make([]float64, n),
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
		c := b.columns[0]
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

// TestLeavesHoldTheirRows: with histograms of larger children found by subtraction, every leaf
// still has the value and the number of rows of the rows that reach it.
func TestLeavesHoldTheirRows(t *testing.T) {
	u := rand.New(rand.NewPCG(2, 2))
	tab := uniformTable(t, wideSchema(t), 600, u)
	b, err := newBinning(tab, []string{"colour"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.rows(tab)
	if err != nil {
		t.Fatal(err)
	}
	const penalty = .7
	g := &grower{binning: b, rows: rows, gradient: make([]float64, 600),
		weight:  make([]float64, 600),
		options: treeOptions{leaves: 40, minRows: 6, penalty: penalty, smooth: 1}}
	all := make([]uint32, 600)
	for i := range all {
		g.gradient[i], g.weight[i], all[i] = u.NormFloat64(), u.Float64(), uint32(i)
	}
	grown := g.grow(all)
	sums := make([]cell, len(grown))
	for i := range 600 {
		k := 0
		for grown[k].column >= 0 {
			k = grown[k].child[grown[k].left.has(rows[grown[k].column][i])]
		}
		sums[k].add(cell{g.gradient[i], g.weight[i], 1})
	}
	leaves := 0
	for k, s := range sums {
		if grown[k].column >= 0 {
			continue
		}
		leaves++
		if s.rows < 6 || !near(grown[k].value, -s.gradient/(s.weight+penalty), 1e-9) {
			t.Errorf("leaf %d has %v rows and value %v, want %v", k, s.rows, grown[k].value,
				-s.gradient/(s.weight+penalty))
		}
	}
	if leaves != 40 {
		t.Errorf("%d leaves, want 40", leaves)
	}
}

// xorTable has a label that depends on two columns together and on neither alone.
func xorTable(t testing.TB, n int, u *rand.Rand) (*table.Table, []bool) {
	s := schemaOf(t, category("a", 4), number("b", 6), optional(category("noise", 9)))
	tab := uniformTable(t, s, n, u)
	y := make([]bool, n)
	for i := range y {
		y[i] = (tab.Column(0).At(i)%2 == 0) != (tab.Column(1).At(i) > 2) != (u.IntN(20) == 0)
	}
	return tab, y
}

func TestTreesLearnWhatLinesCannot(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 3))
	train, y := xorTable(t, 1500, u)
	test, labels := xorTable(t, 1500, u)
	forest, err := fitForest(train, y, forestOptions{trees: 40, minRows: 5, seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	o := usualBoosting(nil)
	o.trees = 40
	boosting, err := fitBoosting(train, y, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, model := range map[string]interface {
		scores(*table.Table) ([]float64, error)
	}{"forest": forest, "boosting": boosting} {
		scores, err := model.scores(test)
		if err != nil {
			t.Fatal(err)
		}
		// The labels are right with probability .95, so no AUROC is above .95 but by chance; its
		// standard error is .006.
		if got, err := AUROC(scores, labels); err != nil || got < .9 {
			t.Errorf("%s: AUROC %v, %v", name, got, err)
		}
		if _, err := model.scores(tableOf(t, schemaOf(t, category("a", 3)),
			[]int{0})); !errors.Is(err, ErrTables) {
			t.Errorf("%s: error %v for other columns, want %v", name, err, ErrTables)
		}
	}
	again, err := fitForest(train, y, forestOptions{trees: 40, minRows: 5, seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	other, err := fitForest(train, y, forestOptions{trees: 40, minRows: 5, seed: 6})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := forest.scores(test)
	b, _ := again.scores(test)
	c, _ := other.scores(test)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("a forest does not depend on its seed, and on nothing else")
	}
	for _, p := range a {
		if p < 0 || p > 1 {
			t.Fatalf("share of positives %v", p)
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
	b, err := newBinning(tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.rows(tab)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range b.columns {
		count := make([]int, c.size)
		for _, bin := range rows[k] {
			count[bin]++
		}
		if c.size > maxBins || c.missing >= 0 && c.missing != c.size-1 {
			t.Errorf("column %d: %d bins, missing is %d", k, c.size, c.missing)
		}
		last := -1
		for code := range c.column.place {
			if bin := int(c.bin[code]); bin != last && bin != last+1 {
				t.Fatalf("column %d: code %d has bin %d after %d", k, code, bin, last)
			}
			last = int(c.bin[code])
		}
		switch k {
		case 1:
			if c.size != 256 || slices.Max(count) > 60 { // about 20 rows each
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
