package synth

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

var (
	tablePath  = flag.String("table", "", "public table for TestSteered")
	schemaPath = flag.String("schema", "", "its schema")
)

// TestSteered prints what steering does to the rows of the default method, fitted to a public table
// at ε = 1 and 10: for some β, and least lifts of the codes that a row may get, the rows that break
// a rule, the two-way error, and how many rows have rare codes (below 1 %), of those that the model
// gives them. A rule is a code of a column, in 1 % of the rows or more, that goes with one code of
// another column in 99.9 % of them. Rows are drawn of the same model each time.
func TestSteered(t *testing.T) {
	if *tablePath == "" {
		t.Skip("-args -table names no public table")
	}
	real, _, err := table.Read(t.Context(), *tablePath, synthtest.Must(schema.Load(*schemaPath)),
		table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rules, n := rulesOf(real), real.Rows()
	fmt.Printf("%d rows, %d rules\n\n| ε | β | least lift | rows that break a rule | two-way error |"+
		" rare codes |\n| --- | --- | --- | --- | --- | --- |\n", n, len(rules))
	for _, epsilon := range []float64{1, 10} {
		f := synthtest.Must(New(Auto, nil))
		m := Fit(t, f, real, accountant.Budget{Epsilon: epsilon, Delta: 1e-9})
		p := m.Params().(*release.Marginal)
		given, sizes := p.Model.Conditionals(), p.Model.Sizes()
		pairs := marginal.CountPairs(sizes, p.Model.Sample(300_000, rand.New(rand.NewPCG(1, 2))))
		for _, x := range []struct{ beta, lift float32 }{{0, 0}, {512, 0}, {32, 0}, {8, 0}, {512, .3},
			{128, .3}, {32, .1}, {32, .3}, {32, 1}, {8, .3}} {
			u := rand.New(rand.NewPCG(3, 4))
			rows := p.Model.Sample(n, u)
			chance := func(dst []float32, i, k int) {
				given.To(dst, rows, i, k)
				sum := float32(0)
				for _, q := range dst {
					sum += q
				}
				for code, share := range pairs.Ones[pairs.Offsets[k]:][:len(dst)] {
					if code != int(rows[k][i]) && dst[code] < x.lift*sum*share {
						dst[code] = 0
					}
				}
			}
			if x.beta > 0 {
				s := marginal.NewSteering(pairs, u)
				s.OneWeight = 16
				s.Rows(rows, []float64{float64(x.beta)}, 1<<14, chance)
			}
			got, want := 0., 0.
			after := marginal.CountPairs(sizes, rows)
			for i, share := range pairs.Ones {
				if share < .01 {
					got, want = got+float64(after.Ones[i]), want+float64(share)
				}
			}
			p.Grouping.Expand(rows, u)
			cols := make([]table.Codes, len(rows))
			for c, size := range real.Schema().Sizes() {
				cols[c] = table.NewCodes(size, n)
				for r, code := range rows[c] {
					cols[c].Set(r, code)
				}
			}
			drawn := synthtest.Must(table.FromColumns(real.Schema(), cols, nil))
			fmt.Printf("| %v | %v | %v | %.2f %% | %.4f | %.3f |\n", epsilon, x.beta, x.lift,
				100*broken(rules, rows), synthtest.Must(eval.MarginalError(real, drawn, 2)), got/want)
		}
	}
}

// rule says that rows with a code of the first column have one of the second.
type rule struct {
	first, second int
	when, then    uint16
}

func rulesOf(t *table.Table) (out []rule) {
	sizes, n := t.Schema().Sizes(), int64(t.Rows())
	for i := range sizes {
		for j := range sizes {
			own, pair := make([]int64, sizes[j]), make([]int64, sizes[i]*sizes[j])
			t.CountTo(own, []int{j})
			if i != j {
				t.CountTo(pair, []int{i, j})
			}
			for cell, both := range pair {
				all := int64(0)
				for _, x := range pair[cell/sizes[j]*sizes[j]:][:sizes[j]] {
					all += x
				}
				if 100*all >= n && 1000*both >= 999*all && 1000*own[cell%sizes[j]] < 999*n {
					out = append(out, rule{i, j, uint16(cell / sizes[j]), uint16(cell % sizes[j])})
				}
			}
		}
	}
	return out
}

// broken is the share of the rows that break one of the rules, or several.
func broken(rules []rule, rows [][]uint16) float64 {
	n := 0
	for r := range rows[0] {
		for _, q := range rules {
			if rows[q.first][r] == q.when && rows[q.second][r] != q.then {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(rows[0]))
}
