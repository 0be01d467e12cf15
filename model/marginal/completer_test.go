package marginal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestCompleter. Null: whatever columns are known, and with whatever codes, the others of the drawn
// rows have the distribution of the joint given these; 20,000 draws for each of the sets of columns
// that may be known, false-alarm rate 1e-6 each. A conditional that is 30 % off in its likeliest
// cell is rejected, and so is one that does not look at the known codes.
func TestCompleter(t *testing.T) {
	const n = 20_000
	u := rand.New(rand.NewPCG(14, 1))
	rejected, blind := 0, 0
	for _, d := range domains {
		m, j := randomModel(t, d.sizes, d.cliques, 1, u)
		for _, known := range allSubsets(len(d.sizes), len(d.sizes)-1) {
			var free []int
			for c := range d.sizes {
				if !slices.Contains(known, c) {
					free = append(free, c)
				}
			}
			cells := int(cellsOf(d.sizes, free))
			if cells < 2 || cells > 200 {
				continue
			}
			row, counts := make([]uint16, len(d.sizes)), make([]int64, cells)
			for _, c := range known {
				row[c] = uint16(u.IntN(d.sizes[c]))
			}
			c := m.Completer(known)
			c.Given(slices.Clone(row))
			for range n {
				c.Draw(row, u)
				counts[c.cell(free, row)]++
			}
			want, other := make([]float64, cells), j.marginal(free)
			for i, p := range j.p {
				if j.cell(i, known) == c.cell(known, row) {
					want[j.cell(i, free)] += p
				}
			}
			normalize(want)
			if statistic, limit, ok := stattest.ChiSquare(counts, want); !ok {
				t.Errorf("%s, known %v: %v above %v", d.name, known, statistic, limit)
			}
			top := slices.Index(want, slices.Max(want))
			want[top] /= 1.3
			normalize(want)
			if _, _, ok := stattest.ChiSquare(counts, want); !ok {
				rejected++
			} else if j.marginal(free)[top] < .99 {
				t.Errorf("%s, known %v: a cell that is 30 %% off is not rejected", d.name, known)
			}
			if _, _, ok := stattest.ChiSquare(counts, other); !ok {
				blind++
			}
		}
	}
	if rejected < 100 || blind < 100 {
		t.Errorf("%d and %d wrong conditionals rejected", rejected, blind)
	}
}

func normalize(w []float64) {
	all := sum(w)
	for i := range w {
		w[i] /= all
	}
}

// TestCompleterExtremes: rows of a model whose probabilities go down to 10⁻⁶⁰ and beyond are
// completed to rows that it has; a known code that it rules out is no reason to stop.
func TestCompleterExtremes(t *testing.T) {
	u := rand.New(rand.NewPCG(15, 1))
	for _, d := range domains {
		m, j := randomModel(t, d.sizes, d.cliques, 30, u)
		all := make([]int, len(d.sizes))
		for c := range all {
			all[c] = c
		}
		rows := m.Sample(50, u)
		for _, known := range allSubsets(len(d.sizes), len(d.sizes)-1) {
			c := m.Completer(known)
			for i := range rows[0] {
				row, most := make([]uint16, len(rows)), 0.0
				for k := range rows {
					row[k] = rows[k][i]
				}
				for k, p := range j.p {
					if j.cell(k, known) == c.cell(known, row) {
						most = max(most, p)
					}
				}
				c.Given(row)
				c.Draw(row, u)
				if p := j.p[c.cell(all, row)]; p < 1e-20*most {
					t.Fatalf("%s, known %v: %v has probability %v, others %v", d.name, known, row, p, most)
				}
			}
		}
	}
	m := must(FromFactors([]int{2, 3}, [][]int{{0}, {1}}, [][]float64{{1, 0}, {1, 0, 1}}, 9))
	row, c := []uint16{1, 0}, m.Completer([]int{0})
	for range 100 {
		c.Given(row)
		if c.Draw(row, u); row[0] != 1 || row[1] == 1 {
			t.Fatalf("drew %v", row)
		}
	}
	m = newModel(stattest.Must(newJunctionTree([]int{2, 2}, [][]int{{0, 1}})),
		[][]float64{{.4, .6, 0, 0}}, 9) // the second code of the first column has no chance
	row, c = []uint16{1, 0}, m.Completer([]int{0})
	seen := map[uint16]bool{}
	for range 100 {
		c.Given(row)
		c.Draw(row, u)
		seen[row[1]] = true
	}
	if len(seen) != 2 {
		t.Errorf("given a code of probability 0, drew %v", seen)
	}
}

// BenchmarkCompleter draws 24,000 rows, each with known columns of its own, from 22 cliques of 5
// columns: half of them have 4,096 cells that are not known, the others 256.
func BenchmarkCompleter(b *testing.B) {
	const columns, rows = 26, 24_000
	sizes, known := make([]int, columns), []int{}
	for c := range sizes {
		if sizes[c] = 16; c%2 == 0 {
			sizes[c], known = 8, append(known, c)
		}
	}
	var sets [][]int
	var tables [][]float64
	u := rand.New(rand.NewPCG(16, 1))
	for c := range columns - 4 {
		sets = append(sets, []int{c, c + 1, c + 2, c + 3, c + 4})
		table := make([]float64, int(cellsOf(sizes, sets[c])))
		for i := range table {
			table[i] = u.ExpFloat64()
		}
		tables = append(tables, table)
	}
	m := must(FromFactors(sizes, sets, tables, rows))
	for b.Loop() {
		c, row := m.Completer(known), make([]uint16, columns)
		for range rows {
			for _, k := range known {
				row[k] = uint16(u.IntN(sizes[k]))
			}
			c.Given(row)
			c.Draw(row, u)
		}
	}
}
