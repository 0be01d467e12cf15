package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/mwem"
	"github.com/decoy-dp/decoy/synth/smalldb"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

// queries prints the figures of docs/queries.md: time and error of MWEM and SmallDB, and of
// answering a workload, on tables drawn here from a public seed. Seconds are wall time and, after
// the slash, processor time of the whole process.
func queries(args []string) {
	flags := flag.NewFlagSet("queries", flag.ExitOnError)
	only := flags.String("only", "mwem,forms,answers,smalldb", "parts to run")
	budget, runs := budgetOf(flags), runsOf(flags, 3)
	flags.Parse(args)
	parts := map[string]func(int, accountant.Budget){"mwem": histogram, "forms": forms,
		"answers": answers, "smalldb": small}
	for _, name := range strings.Split(*only, ",") {
		part := parts[name]
		if part == nil {
			check(fmt.Errorf("there is no part %q", name))
		}
		part(*runs, *budget)
	}
}

// categorical is a schema of columns with these numbers of codes.
func categorical(sizes ...int) *schema.Schema {
	s := &schema.Schema{}
	for i, n := range sizes {
		c := schema.Column{Name: fmt.Sprintf("c%d", i), Kind: schema.Categorical}
		for k := range n {
			c.Categories = append(c.Categories, fmt.Sprintf("v%d", k))
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// rows draws n rows: the first column is skewed, every other copies the one before, scaled, in six
// of ten rows.
func rows(s *schema.Schema, n int, u *rand.Rand) *table.Table {
	sizes := s.Sizes()
	cols := make([]table.Codes, len(sizes))
	for i, size := range sizes {
		cols[i] = table.NewCodes(size, n)
	}
	for r := range n {
		for i, size := range sizes {
			x := int(float64(size) * u.Float64() * u.Float64())
			if i > 0 && u.IntN(10) < 6 {
				x = int(cols[i-1].At(r)) * size / sizes[i-1]
			}
			cols[i].Set(r, uint16(x))
		}
	}
	return must(table.FromColumns(s, cols, nil))
}

// counts draws conjunctions over one to three columns, each of a random interval or set of codes.
func counts(sizes []int, n int, u *rand.Rand) []workload.Item {
	items := make([]workload.Item, n)
	for i := range items {
		var x table.And
		for _, c := range u.Perm(len(sizes))[:1+u.IntN(3)] {
			allow := make([]bool, sizes[c])
			from, to := u.IntN(sizes[c]), u.IntN(sizes[c])
			for k := range allow {
				allow[k] = k >= min(from, to) && k <= max(from, to)
			}
			if u.IntN(2) == 0 {
				u.Shuffle(len(allow), func(i, j int) { allow[i], allow[j] = allow[j], allow[i] })
			}
			x = append(x, table.Condition{Column: c, Allow: allow})
		}
		items[i] = workload.Item{Name: fmt.Sprintf("query %d", i), Where: x}
	}
	return items
}

// clock measures wall and processor seconds.
type clock struct {
	wall time.Time
	cpu  float64
}

func start() clock { return clock{time.Now(), cpu()} }

func (c clock) String() string {
	return fmt.Sprintf("%.2f / %.2f s", time.Since(c.wall).Seconds(), cpu()-c.cpu)
}

// errorsOf is the mean and the largest error of the counts of models side by side, each weighted by
// its rows, as shares of the rows, and their mean error of marginals (total variation).
func errorsOf(
	w *workload.Workload, t *table.Table, models ...release.Params,
) (mean, worst float64) {
	want := must(w.OnTable(t))
	var parts []workload.Answers
	rows := 0.0
	for _, m := range models {
		var got workload.Answers
		if p, ok := m.(*release.Marginal); ok {
			got = must(w.OnModel(p.Model, p.Grouping))
		} else {
			got = must(w.OnTable(sampled(m, t.Schema())))
		}
		parts, rows = append(parts, got), rows+m.Total()
	}
	for i := range want {
		e := 0.0
		for k, x := range want[i] {
			got := 0.0
			for _, part := range parts {
				got += part[i][k] / rows
			}
			e += math.Abs(got-x/float64(t.Rows())) / 2
		}
		if w.Item(i).IsCount() {
			e *= 2
		}
		mean += e / float64(len(want))
		worst = max(worst, e)
	}
	return mean, worst
}

// sampled is a table of as many rows as parameters say.
func sampled(p release.Params, s *schema.Schema) *table.Table {
	n := int(math.Round(p.Total()))
	var columns []table.Codes
	for c, codes := range p.Sample(n, rand.New(rand.NewPCG(1, 2))) {
		column := table.NewCodes(s.Sizes()[c], n)
		for i, code := range codes {
			column.Set(i, code)
		}
		columns = append(columns, column)
	}
	return must(table.FromColumns(s, columns, nil))
}

// fit runs a method some times and prints its error and time.
func fit(
	name string, f synth.Fitter, w *workload.Workload, t *table.Table, runs int, b accountant.Budget,
) {
	var means, worsts []float64
	var last string
	for range runs {
		c := start()
		m := fitted(t, f, b)
		last = c.String()
		mean, worst := errorsOf(w, t, m.Params())
		means, worsts = append(means, mean), append(worsts, worst)
	}
	fmt.Printf("%-44s mean error %.4f, worst %.4f, %s\n", name, stat.Mean(means, nil),
		stat.Mean(worsts, nil), last)
}

// histogram is MWEM on 10⁶ cells, 1000 counts, 30 rounds.
func histogram(runs int, b accountant.Budget) {
	u := rand.New(rand.NewPCG(1, 1))
	for _, sizes := range [][]int{{10, 10, 10, 10, 10, 10}, slices.Repeat([]int{2}, 20),
		{100, 100, 100}} {
		s := categorical(sizes...)
		t := rows(s, 50000, u)
		w := must(workload.New(s, counts(sizes, 1000, u)))
		fmt.Printf("histogram of %v, 50000 rows, 1000 counts, 30 rounds, epsilon %v\n",
			shape(sizes), b.Epsilon)
		for _, c := range []mwem.Config{{Algorithm: mwem.Paper, Rounds: 30},
			{Algorithm: mwem.Dense, Rounds: 30}} {
			f := must(mwem.NewFor(c, w))
			fit("  mwem "+c.Algorithm, f, w, t, runs, b)
		}
	}
}

// shape is, for example, "6 columns, 1e+06 cells".
func shape(sizes []int) string {
	cells := 1.0
	for _, n := range sizes {
		cells *= float64(n)
	}
	return fmt.Sprintf("%d columns, %.3g cells", len(sizes), cells)
}

// forms compares the forms of MWEM on all pairs of a wide table, and dense components on counts of
// it.
func forms(runs int, b accountant.Budget) {
	u := rand.New(rand.NewPCG(2, 2))
	sizes := []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 2, 3, 4, 5}
	s := categorical(sizes...)
	t := rows(s, 50000, u)
	pairs := must(workload.New(s, workload.Marginals(s, 2, 0)))
	single := must(workload.New(s, counts(sizes, 500, u)))
	fmt.Printf("table of %s, 50000 rows, epsilon %v\n", shape(sizes), b.Epsilon)
	for _, x := range []struct {
		name string
		w    *workload.Workload
		c    mwem.Config
	}{
		{"  mwem graph, all pairs", pairs, mwem.Config{}},
		{"  mwem dense components, all pairs", pairs,
			mwem.Config{Algorithm: mwem.Dense, MaxCells: 1000000}},
		{"  mwem dense components, 500 counts", single, mwem.Config{MaxCells: 1000000}},
	} {
		f := must(mwem.NewFor(x.c, x.w))
		fit(x.name, f, x.w, t, runs, b)
	}
}

// answers is the time to answer workloads on rows and on a model.
func answers(runs int, b accountant.Budget) {
	u := rand.New(rand.NewPCG(3, 3))
	sizes := []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 2, 3, 4, 5}
	s := categorical(sizes...)
	t := rows(s, 1000000, u)
	w := must(workload.New(s, counts(sizes, 1000, u)))
	c := start()
	must(w.OnTable(t))
	fmt.Printf("1000 counts on 1000000 rows: %s\n", c)
	f := must(mwem.New(mwem.Config{}))
	m := fitted(t, f, b)
	p := m.Params().(*release.Marginal)
	c = start()
	must(w.OnModel(p.Model, p.Grouping))
	fmt.Printf("1000 counts on a model of %d cliques: %s\n", len(p.Model.Cliques()), c)
}

// small is SmallDB on |X| = 16, |Q| = 20, alpha = .3: every multiset is scored.
func small(runs int, b accountant.Budget) {
	u := rand.New(rand.NewPCG(4, 4))
	s := categorical(2, 2, 2, 2)
	t := rows(s, 1000, u)
	text := "decoy_workload: 1\nqueries:\n"
	for range 20 {
		a, c := u.IntN(4), u.IntN(4)
		text += fmt.Sprintf("  - where: c%d = v%d or c%d = v%d and not c%d = v0\n", a, u.IntN(2), c,
			u.IntN(2), u.IntN(4))
	}
	w := must(workload.Parse([]byte(text), s))
	m := smalldb.RowsFor(20, .3)
	fmt.Printf("smalldb, |X| = 16, |Q| = 20, alpha = .3: %v multisets of %d rows (the textbook's 34 "+
		"rows: %v), 1000 rows, epsilon %v\n", smalldb.Candidates(16, m), m, smalldb.Candidates(16, 34),
		b.Epsilon)
	f := must(smalldb.New(smalldb.Config{Workload: text, Alpha: .3}))
	fit("  smalldb", f, w, t, runs, b)
}
