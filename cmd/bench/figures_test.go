package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var (
	long     = flag.Bool("long", false, "print figures of docs: minutes")
	variants = flag.String("variants", "mst,aim,aim target={label},aim workload=triples,pategan,"+
		"mwem rounds=10,wgan,wgan marginal_share=.5", "methods, each with its settings; {label} is the "+
		"last column")
	epsilon = flag.Float64("epsilon", 1, "budget; delta is 1e-5, for intervals 1e-9")
	rowsOf  = flag.Int("rows", 10_000, "rows of a table")
)

// whole is a schema of columns of whole numbers from 0, with these numbers of codes.
func whole(sizes ...int) *schema.Schema {
	s := &schema.Schema{}
	for i, n := range sizes {
		s.Columns = append(s.Columns,
			schema.Column{Name: fmt.Sprint("c", i), Kind: schema.Integer, Max: float64(n - 1)})
	}
	return s
}

// draw makes a table of rows that draw fills.
func draw(s *schema.Schema, n int, row func(row []int)) *table.Table {
	sizes := s.Sizes()
	cols, one := make([]table.Codes, len(sizes)), make([]int, len(sizes))
	for i, size := range sizes {
		cols[i] = table.NewCodes(size, n)
	}
	for r := range n {
		row(one)
		for i, x := range one {
			cols[i].Set(r, uint16(x))
		}
	}
	return must(table.FromColumns(s, cols, nil))
}

// chain draws rows whose first column is skewed; every other copies the one before, scaled, in six
// of ten rows.
func chain(s *schema.Schema, n int, u *rand.Rand) *table.Table {
	sizes := s.Sizes()
	return draw(s, n, func(row []int) {
		for i, size := range sizes {
			row[i] = int(float64(size) * u.Float64() * u.Float64())
			if i > 0 && u.IntN(10) < 6 {
				row[i] = row[i-1] * size / sizes[i-1]
			}
		}
	})
}

// structure is a table whose columns hang together in ways that pairs of them do not, or hardly,
// show: how a row is drawn, and what it shows of the structure, from 0 to the number of columns.
type structure struct {
	columns, codes int
	draw           func(row []int, u *rand.Rand)
	shown          func(row []int) int
}

// mixture has rows of so many kinds, each with a code in each of ten columns that four cells of
// five have.
func mixture(kinds, codes int) structure {
	code := func(kind, column int) int { return (3*kind + column*(kind+1)) % 8 % codes }
	return structure{10, codes, func(row []int, u *rand.Rand) {
		kind := u.IntN(kinds)
		for c := range row {
			row[c] = code(kind, c)
			if u.IntN(5) == 0 {
				row[c] = u.IntN(codes)
			}
		}
	}, func(row []int) (most int) {
		for kind := range kinds {
			most = max(most, count(row, func(c, x int) bool { return x == code(kind, c) }))
		}
		return most
	}}
}

// count is how many of a row's codes are so; is sees the column and the code.
func count(row []int, is func(c, x int) bool) (n int) {
	for c, x := range row {
		if is(c, x) {
			n++
		}
	}
	return n
}

var structures = map[string]structure{
	// Each third column is the parity of the two before, but for one row in twenty.
	"parity": {12, 2, func(row []int, u *rand.Rand) {
		for c := range row {
			row[c] = u.IntN(2)
			if c%3 == 2 && u.IntN(20) > 0 {
				row[c] = row[c-1] ^ row[c-2]
			}
		}
	}, func(row []int) int {
		return count(row, func(c, x int) bool { return c%3 == 2 && x == row[c-1]^row[c-2] })
	}},
	"mixture": mixture(5, 8), "archetypes": mixture(8, 3),
	// Codes with shares that fall as 1/(c + 1)^1.5; in one row of fifty all are in the tail.
	"tails": {8, 32, func(row []int, u *rand.Rand) {
		rare := u.IntN(50) == 0
		for c := range row {
			row[c] = min(int(math.Pow(1-u.Float64(), -2))-1, 31)
			if rare {
				row[c] = 16 + u.IntN(16)
			}
		}
	}, func(row []int) int { return count(row, func(_, x int) bool { return x >= 16 }) }},
}

// TestHighOrders prints, with -long, how far the rows of methods are from such a table: in two-way
// and three-way error, by what boosting that learns the last column from them knows of it, and in
// the distribution of what a row shows.
func TestHighOrders(t *testing.T) {
	if !*long {
		t.Skip("figures of docs/wgan.md: -args -long")
	}
	b := accountant.Budget{Epsilon: *epsilon, Delta: 1e-5}
	for name, x := range structures {
		u := rand.New(rand.NewPCG(1, 0))
		real := draw(whole(slices.Repeat([]int{x.codes}, x.columns)...), *rowsOf,
			func(row []int) { x.draw(row, u) })
		shown := func(of *table.Table) []float64 {
			out, row := make([]float64, x.columns+1), make([]int, x.columns)
			for r := range of.Rows() {
				for c := range row {
					row[c] = int(of.Column(c).At(r))
				}
				out[x.shown(row)] += 1 / float64(of.Rows())
			}
			return out
		}
		want := shown(real)
		last := fmt.Sprint("c", x.columns-1)
		task := eval.Task{Label: last, Positive: 1, Learner: eval.GradientBoosting}
		for _, v := range split(*variants) {
			f := must(variant(strings.ReplaceAll(v, "{label}", last), nil))
			sums := make([]float64, 4) // errors of two and three columns, AUROC, distance
			const runs = 3
			for range runs {
				syn := must(f.drawn(real, b))
				sums[0] += must(eval.MarginalError(real, syn, 2)) / runs
				sums[1] += must(eval.MarginalError(real, syn, 3)) / runs
				sums[2] += must(eval.TSTR(syn, real, task)).AUROC / runs
				for i, share := range shown(syn) {
					sums[3] += math.Abs(share-want[i]) / 2 / runs
				}
			}
			t.Logf("%-10s ε = %v, %-24s two-way and three-way error, AUROC, distance %.4f", name,
				b.Epsilon, v, sums)
		}
	}
}

// intervalsOf draws a workload of counts: of one to three columns, an interval each.
func intervalsOf(sizes []int, n int, u *rand.Rand) string {
	var text strings.Builder
	text.WriteString("queries:\n")
	for range n {
		var parts []string
		for _, c := range u.Perm(len(sizes))[:1+u.IntN(3)] {
			from, to := u.IntN(sizes[c]), u.IntN(sizes[c])
			parts = append(parts,
				fmt.Sprintf("c%d >= %d and c%d <= %d", c, min(from, to), c, max(from, to)))
		}
		text.WriteString("  - where: " + strings.Join(parts, " and ") + "\n")
	}
	return text.String()
}

// BenchmarkQueries is the time of a fit for a workload, and its mean error as a share of the rows.
func BenchmarkQueries(b *testing.B) {
	wide := []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 2, 3, 4, 5}
	for _, x := range []struct {
		name, variant string
		sizes         []int
		rows, counts  int
	}{
		{"6 columns of 10", "mwem rounds=30", slices.Repeat([]int{10}, 6), 50_000, 1000},
		{"20 columns of 2", "mwem rounds=30", slices.Repeat([]int{2}, 20), 50_000, 1000},
		{"3 columns of 100", "mwem rounds=30", []int{100, 100, 100}, 50_000, 1000},
		{"14 columns, pairs", "mwem", wide, 50_000, 0},
		{"4 columns of 2", "smalldb alpha=.3", []int{2, 2, 2, 2}, 1000, 20},
	} {
		u := rand.New(rand.NewPCG(1, 1))
		s := whole(x.sizes...)
		rows, settings, text := chain(s, x.rows, u), x.variant, "queries: [{marginals: all pairs}]"
		if x.counts > 0 {
			text = intervalsOf(x.sizes, x.counts, u)
			path := filepath.Join(b.TempDir(), "workload.yaml")
			check(os.WriteFile(path, []byte("decoy_workload: 1\n"+text), 0o600))
			settings += " workload=" + path
		}
		w := must(workload.Parse([]byte("decoy_workload: 1\n"+text), s))
		truth := must(w.OnTable(rows))
		b.Run(x.name+": "+x.variant, func(b *testing.B) {
			f := must(variant(settings, nil))
			sum := 0.
			for b.Loop() {
				m := must(f(rows, accountant.Budget{Epsilon: *epsilon, Delta: 1e-9}))
				b.StopTimer()
				sum += errorOf(m, w, truth, x.rows)
				b.StartTimer()
			}
			b.ReportMetric(sum/float64(b.N), "error")
		})
	}
}

// errorOf is the mean error of the answers of a model, from a million of its rows, as shares of the
// rows: of counts the difference, of marginals the total variation distance.
func errorOf(
	m *release.Model, w *workload.Workload, truth workload.Answers, rows int,
) (mean float64) {
	const drawn = 1_000_000
	difference := make([][]float64, len(truth))
	for i, x := range truth {
		for _, n := range x {
			difference[i] = append(difference[i], -n/float64(rows))
		}
	}
	check(m.Sample(context.Background(), drawn, 1, func(t *table.Table) error {
		answers, err := w.OnTable(t)
		for i, x := range answers {
			for k, n := range x {
				difference[i][k] += n / drawn
			}
		}
		return err
	}))
	for i, x := range difference {
		scale := .5
		if w.Items()[i].IsCount() {
			scale = 1
		}
		mean += scale * floats.Norm(x, 1) / float64(len(truth))
	}
	return mean
}

// BenchmarkAnswers is the time to answer a thousand counts on a million rows, and on a model.
func BenchmarkAnswers(b *testing.B) {
	u := rand.New(rand.NewPCG(3, 3))
	sizes := []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 2, 3, 4, 5}
	s := whole(sizes...)
	rows := chain(s, 1_000_000, u)
	w := must(workload.Parse([]byte("decoy_workload: 1\n"+intervalsOf(sizes, 1000, u)), s))
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			must(w.OnTable(rows))
		}
	})
	m := must(must(variant("mwem", nil))(rows, accountant.Budget{Epsilon: *epsilon, Delta: 1e-9}))
	p := m.Params().(*release.Marginal)
	b.Run(fmt.Sprint("model of ", len(p.Model.Cliques()), " cliques"), func(b *testing.B) {
		for b.Loop() {
			must(w.OnModel(p.Model, p.Grouping))
		}
	})
}
