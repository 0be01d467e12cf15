package marginal

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var discreteDir = flag.String("discrete", "",
	"directory with adult.csv and adult-domain.json (codes), for TestAdult")

// TestAdult is the experiment behind the defaults of this package: how well a sample of a fitted
// model agrees with the adult table (48 842 rows, 14 columns) when all one-way marginals and the
// pairs of a spanning tree of largest mutual information are measured with noise σ. It prints the
// mean total variation distance over all 91 pairs and all 364 triples of a sample of as many rows.
// Takes two minutes.
//
//	go test ./marginal -run TestAdult -discrete DIR -v
func TestAdult(t *testing.T) {
	if *discreteDir == "" {
		t.Skip("needs -discrete DIR")
	}
	tb := readDiscrete(t, filepath.Join(*discreteDir, "adult"))
	pairs := informationTree(tb)
	for _, v := range []struct {
		name   string
		k      float64 // threshold of the grouping
		shrink float64
		even   bool // spread groups evenly
	}{
		{"default: shrink 1, groups below 2σ", 2, 1, false},
		{"groups spread evenly", 2, 1, true},
		{"groups below 3σ", 3, 1, false},
		{"groups below 1σ", 1, 1, false},
		{"no groups", -1e9, 1, false},
		{"shrink 1.4", 2, 1.4, false},
		{"nearly least squares: shrink .01", 2, .01, false},
		{"nearly least squares, groups below 3σ, evenly", 3, .01, true},
		{"nearly least squares, no groups", -1e9, .01, false},
	} {
		for _, s := range []struct{ sigma, atMost float64 }{{2, .0405}, {20, .0490}, {60, .0620},
			{200, .0960}} {
			two, three := 0.0, 0.0
			const repeats = 3
			for seed := range uint64(repeats) {
				rows := tb.simulate(t, pairs, s.sigma, v.k, v.shrink, v.even, seed)
				two += tb.meanError(rows, 2) / repeats
				if v.k == 2 && v.shrink == 1 && !v.even {
					three += tb.meanError(rows, 3) / repeats
				}
			}
			if three == 0 {
				t.Logf("%-46s σ = %3v: two-way %.4f", v.name, s.sigma, two)
				continue
			}
			t.Logf("%-46s σ = %3v: two-way %.4f  three-way %.4f", v.name, s.sigma, two, three)
			if two > s.atMost {
				t.Errorf("two-way error %.4f, want at most %.4f", two, s.atMost)
			}
		}
	}
}

// discrete is a table of codes.
type discrete struct {
	sizes []int
	cols  [][]uint16
}

func readDiscrete(t *testing.T, path string) *discrete {
	t.Helper()
	var domain map[string]int
	b, err := os.ReadFile(path + "-domain.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &domain); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tb := &discrete{}
	for c, name := range records[0] {
		tb.sizes = append(tb.sizes, domain[name])
		col := make([]uint16, len(records)-1)
		for i, r := range records[1:] {
			x, err := strconv.ParseUint(r[c], 10, 16)
			if err != nil || int(x) >= domain[name] {
				t.Fatalf("row %d, column %d is not a code", i, c)
			}
			col[i] = uint16(x)
		}
		tb.cols = append(tb.cols, col)
	}
	return tb
}

// informationTree returns the edges of the spanning tree of largest mutual information (Chow and
// Liu, 1968).
func informationTree(tb *discrete) (pairs [][]int) {
	n := float64(len(tb.cols[0]))
	information := func(a, b int) (sum float64) {
		pa, pb := countRows(tb.sizes, tb.cols, []int{a}), countRows(tb.sizes, tb.cols, []int{b})
		for i, x := range countRows(tb.sizes, tb.cols, []int{a, b}) {
			if x > 0 {
				sum += x / n * math.Log(x*n/(pa[i/tb.sizes[b]]*pb[i%tb.sizes[b]]))
			}
		}
		return sum
	}
	d := len(tb.sizes)
	best, from := make([]float64, d), make([]int, d)
	in := make([]bool, d)
	next := 0
	for range d - 1 {
		in[next] = true
		for c := range d {
			if !in[c] {
				if i := information(min(c, next), max(c, next)); i > best[c] {
					best[c], from[c] = i, next
				}
			}
		}
		last := next
		for c := range d {
			if !in[c] && (in[next] || best[c] > best[next]) {
				next = c
			}
		}
		if next != last {
			pairs = append(pairs, []int{from[next], next})
		}
	}
	return pairs
}

// simulate is MST without privacy: ordinary noise, the pairs given.
func (tb *discrete) simulate(
	t *testing.T, pairs [][]int, sigma, k, shrink float64, even bool, seed uint64,
) [][]uint16 {
	t.Helper()
	u := rand.New(rand.NewPCG(7, seed))
	noisy := func(counts []float64) []float64 {
		for i := range counts {
			counts[i] += sigma * u.NormFloat64()
		}
		return counts
	}
	var oneWay []Measurement
	for c := range tb.sizes {
		oneWay = append(oneWay, Measurement{Cols: []int{c},
			Counts: noisy(countRows(tb.sizes, tb.cols, []int{c})), Sigma: sigma})
	}
	g, err := NewGrouping(tb.sizes, oneWay, k)
	if err != nil {
		t.Fatal(err)
	}
	var ms []Measurement
	for _, m := range oneWay {
		ms = append(ms, g.GroupMeasurement(m))
	}
	for _, q := range pairs { // measured over the groups
		m := g.GroupMeasurement(Measurement{Cols: q, Counts: countRows(tb.sizes, tb.cols, q),
			Sigma: sigma})
		ms = append(ms, Measurement{Cols: q, Counts: noisy(m.Counts), Sigma: sigma})
	}
	m, err := Fit(context.Background(), g.Sizes(), ms, Options{Shrink: shrink})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.columns {
		for i := range c.weights {
			if even {
				c.weights[i] = 1
			}
		}
	}
	rows := m.Sample(len(tb.cols[0]), u)
	g.Expand(rows, u)
	return rows
}

// meanError is the mean total variation distance over all sets of k columns; both tables have the
// same number of rows.
func (tb *discrete) meanError(rows [][]uint16, k int) float64 {
	n := len(rows[0])
	sum, sets := 0.0, 0
	var diff []int32
	key := func(cols []int, t [][]uint16, i int) (x int) {
		for _, c := range cols {
			x = x*tb.sizes[c] + int(t[c][i])
		}
		return x
	}
	for _, cols := range allSubsets(len(tb.sizes), k) {
		if len(cols) != k {
			continue
		}
		if cells := int(cellsOf(tb.sizes, cols)); cells > len(diff) {
			diff = make([]int32, cells)
		}
		for i := range n {
			diff[key(cols, tb.cols, i)]++
			diff[key(cols, rows, i)]--
		}
		wrong := 0
		for i := range n {
			for _, t := range [][][]uint16{tb.cols, rows} {
				x := key(cols, t, i)
				wrong += int(max(diff[x], -diff[x]))
				diff[x] = 0
			}
		}
		sum += float64(wrong) / 2 / float64(n)
		sets++
	}
	return sum / float64(sets)
}
