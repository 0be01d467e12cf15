package release

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
)

// TestGivenWithinBins: conditions that cut bins hold for every row that is written, and the rows
// are distributed as those of the model for which they hold. Null: the number of rows in each part
// is binomial with the share that it has among the rows of a large sample without a condition that
// satisfy it; z = 5 of the difference has a false-alarm rate below 6e-7 each.
func TestGivenWithinBins(t *testing.T) {
	s, err := schema.Parse([]byte(`
decoy: 1
columns:
  - {name: age, kind: integer, min: 0, max: 79, bins: 8, missing: [""]}
  - {name: weight, kind: real, min: 0, max: 10, bins: 4, decimals: 1}
  - {name: sex, kind: categorical, categories: [f, m]}
  - {name: load, kind: real, min: 0, max: 1e18, bins: 3}
rules:
  - {when: {sex: m}, then: {weight: {from: 2.5}}}
`))
	check(t, err)
	sizes := s.Sizes()
	// cells are of a column of some codes, weight and sex; none breaks the rule
	cells := func(codes int) []float64 {
		out := make([]float64, codes*sizes[1]*sizes[2])
		for i := range out {
			if out[i] = float64(1 + i*i%17); i%sizes[2] == 1 && i/sizes[2]%sizes[1] == 0 {
				out[i] = 0
			}
		}
		return out
	}
	other := []float64{3, 2, 1}
	m := must(marginal.FromFactors(sizes, [][]int{{0, 1, 2}, {3}}, [][]float64{cells(sizes[0]), other},
		5000))
	var ms []marginal.Measurement
	for c, size := range sizes {
		counts := make([]float64, size)
		check(t, m.MarginalTo(counts, []int{c}))
		if c == 0 {
			counts[1], counts[2], counts[5] = 1, 2, 3 // rare: one group
		}
		ms = append(ms, marginal.Measurement{Cols: []int{c}, Counts: counts, Sigma: 2})
	}
	g := must(marginal.NewGrouping(sizes, ms, 2))
	m = must(marginal.FromFactors(g.Sizes(), [][]int{{0, 1, 2}, {3}},
		[][]float64{cells(g.Sizes()[0]), other}, 5000))
	model := &Model{schema: s, params: &Marginal{Model: m, Grouping: g}}
	type row struct {
		age, weight, load float64
		missing, male     bool
	}
	read := func(from interface {
		Sample(context.Context, int, uint64, func(*table.Table) error) error
	}, n int) (out []row) {
		var buf bytes.Buffer
		w := must(table.NewWriter(&buf, table.CSV, s, ValueRand(3), table.WriterOptions{}))
		check(t, from.Sample(context.Background(), n, 3, w.Write))
		check(t, w.Close())
		for _, line := range strings.Split(strings.TrimSpace(buf.String()), "\n")[1:] {
			cells := strings.Split(line, ",")
			var r row
			r.age, err = strconv.ParseFloat(cells[0], 64)
			r.missing = err != nil
			r.weight, _ = strconv.ParseFloat(cells[1], 64)
			r.male = cells[2] == "m"
			r.load, _ = strconv.ParseFloat(cells[3], 64)
			out = append(out, r)
		}
		return out
	}
	all := read(model, 50_000)
	for text, holds := range map[string]func(r row) bool{
		"age >= 33 and age < 61": func(r row) bool { return !r.missing && r.age >= 33 && r.age < 61 },
		"age = 17":               func(r row) bool { return !r.missing && r.age == 17 },
		"age < 14 or weight > 7.7 and sex = m": func(r row) bool {
			return !r.missing && r.age < 14 || r.weight > 7.7 && r.male
		},
		"not (age < 75)": func(r row) bool { return r.missing || r.age >= 75 },
		"weight <= 3.3 and load < 4e17 and age is not missing": func(r row) bool {
			return r.weight <= 3.3 && r.load < 4e17 && !r.missing
		},
		"weight in (3.3, 8.1)": func(r row) bool { return r.weight == 3.3 || r.weight == 8.1 },
		"age >= 40":            func(r row) bool { return !r.missing && r.age >= 40 },
	} {
		items := must(workload.Conditions(s, text))
		given, err := model.Given(items[0])
		if err != nil {
			t.Fatal(text, err)
		}
		parts := map[string]func(r row) bool{
			"age below 20":    func(r row) bool { return !r.missing && r.age < 20 },
			"age below 37":    func(r row) bool { return !r.missing && r.age < 37 },
			"weight above 8":  func(r row) bool { return r.weight > 8 },
			"weight below 3":  func(r row) bool { return r.weight < 3 },
			"load above 2e17": func(r row) bool { return r.load > 2e17 },
			"male":            func(r row) bool { return r.male },
		}
		count := func(rows []row) (n float64, out map[string]float64) {
			out = map[string]float64{}
			for _, r := range rows {
				if !holds(r) {
					continue
				}
				n++
				for name, in := range parts {
					if in(r) {
						out[name]++
					}
				}
			}
			return n, out
		}
		n, want := count(all)
		rows, got := count(read(given, 10_000))
		if rows != 10_000 {
			t.Errorf("%s: of %v rows it holds", text, rows)
		}
		for name := range parts {
			p, q := got[name]/rows, want[name]/n
			mean := (got[name] + want[name]) / (rows + n)
			if math.Abs(p-q) > 5*math.Sqrt(mean*(1-mean)*(1/rows+1/n)) {
				t.Errorf("%s, %s: %v of the rows, want %v", text, name, p, q)
			}
		}
	}
}

func TestGivenRefuses(t *testing.T) {
	g := must(testModel(t).Given(workload.Item{Where: table.Or{}}))
	stattest.Wraps(t, g.Sample(t.Context(), 1, 1, nil), ErrImpossible, "no row")
}

// TestMeasured: noisy marginals survive the file; damaged ones are refused and never panic.
func TestMeasured(t *testing.T) {
	f := testFitted(t, nil)
	p := f.Params.(*Marginal)
	sizes := p.Sizes()
	groups := make([]uint16, sizes[0])
	groups[0] = 1
	p.Measured = []marginal.Measurement{
		{Cols: []int{1}, Counts: make([]float64, sizes[1]), Sigma: 9},
		{Cols: []int{1, 0}, Groups: [][]uint16{nil, groups}, Counts: make([]float64, sizes[1]*2),
			Sigma: 12},
	}
	p.Measured[0].Counts[0] = -1 << 40
	payFor(t, &f)
	m := must(New(f))
	file := encode(t, m)
	back := must(Read(bytes.NewReader(file), int64(len(file))))
	got := back.params.(*Marginal).Measured
	if len(got) != 2 || got[0].Counts[0] != -1<<40 || got[0].Sigma != 9 ||
		!slices.Equal(got[1].Cols, []int{1, 0}) || !slices.Equal(got[1].Groups[1], groups) ||
		!slices.Equal(got[1].Shape(sizes), []int{sizes[1], 2}) {
		t.Errorf("read back %+v", got)
	}
	raw := must(p.MarshalBinary())
	u := rand.New(rand.NewPCG(3, 3))
	for i := range len(raw) {
		stattest.Wraps(t, stattest.Err(decodeParams(kindMarginal, raw[:i])), ErrFormat,
			"cut after %d bytes", i)
	}
	for range 20_000 {
		bad := slices.Clone(raw)
		for range 1 + u.IntN(3) {
			bad[u.IntN(len(bad))] = byte(u.IntN(256))
		}
		if _, err := decodeParams(kindMarginal, bad); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("%v", err)
		}
	}
}
