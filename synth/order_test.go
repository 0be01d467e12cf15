package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/data/table"
)

// TestOrder: the order of the rows that a model gives carries nothing, whatever its method. Null:
// of all orders of these 20,000 rows, each is as likely. The first 250 and each tenth are
// compared with all others, by χ² over the codes of every column and every pair of neighbouring
// columns ([stattest.TwoSample]); the threshold is raised such that the tests of a method together
// have a false-alarm rate of 1e-6.
//
// The mutant is rows as they are steered, before they are shuffled: of up to twelve draws one must
// be rejected. Of twelve fits, the worst had half of its draws rejected: such a fit would pass once
// in 4,000.
func TestOrder(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"aim", "wgan", "smalldb"} { // one for each kind of parameters
		t.Run(name, func(t *testing.T) {
			real := skewed(t, 10, 12)
			if name == "smalldb" { // its domain is tiny
				real = skewed(t, 2, 3)
			}
			f := stattest.Must(New(name, untrained))
			m := Fit(t, f, real, accountant.Budget{Epsilon: 1, Delta: 1e-9})
			drawn, rows := Sample(t, m, n, 1), make([][]uint16, real.Schema().Width())
			for c := range rows {
				for r := range n {
					rows[c] = append(rows[c], drawn.Column(c).At(r))
				}
			}
			sizes := m.Params().Sizes()
			if told := toldByOrder(sizes, rows); told != "" {
				t.Errorf("the order of rows tells what is in them: %s", told)
			}
			if !strings.HasPrefix(m.Params().Kind(), "steered") || name == "smalldb" {
				return // a model of one clique needs no steering
			}
			told := ""
			for seed := uint64(0); told == "" && seed < 12; seed++ {
				told = toldByOrder(sizes, m.Params().Sample(n, rand.New(rand.NewPCG(1, seed))))
			}
			if told == "" {
				t.Error("rows as they are steered pass the test")
			}
		})
	}
}

// skewed is a table of 5000 rows and so many columns of so many codes, of which the first are the
// most frequent. In three rows of four a column has the code of the one before.
func skewed(t *testing.T, columns, codes int) *table.Table {
	s, cols, u := &schema.Schema{}, make([]table.Codes, columns), rand.New(rand.NewPCG(3, 4))
	for c := range cols {
		x := schema.Column{Name: fmt.Sprint("column ", c), Kind: schema.Categorical}
		for k := range codes {
			x.Categories = append(x.Categories, fmt.Sprint(k))
		}
		s.Columns = append(s.Columns, x)
		for r := range 5000 {
			code := uint8(u.IntN(1 + u.IntN(codes)))
			if c > 0 && u.IntN(4) > 0 {
				code = cols[c-1].U8[r]
			}
			cols[c].U8 = append(cols[c].U8, code)
		}
	}
	out := stattest.Must(table.FromColumns(s, cols, nil))
	return out
}

// untrained makes the training of a generator short: it does not matter for the order of rows.
func untrained(config any) error {
	if c, ok := config.(*WGAN); ok {
		c.Steps, c.DistilSteps, c.PostSteps = 2, 100, 10
	}
	return nil
}

// toldByOrder is the test of [TestOrder] by which the order of rows is not random, or "".
func toldByOrder(sizes []int, rows [][]uint16) (worst string) {
	n, columns := len(rows[0]), len(rows)
	parts := [][2]int{{0, n / 80}}
	for i := range 10 {
		parts = append(parts, [2]int{n * i / 10, n * (i + 1) / 10})
	}
	more := 4 * math.Log(float64(2*len(parts)*columns)) // divides the tail by more than the tests
	for c := range 2 * columns {
		a, b, width := rows[c/2], rows[(c/2+1)%columns], sizes[(c/2+1)%columns]
		if c%2 == 0 {
			b, width = make([]uint16, n), 1
		}
		for _, part := range parts {
			var counts [2][]int64
			for i := range counts {
				counts[i] = make([]int64, sizes[c/2]*width)
			}
			for r, code := range a {
				in := 0
				if part[0] <= r && r < part[1] {
					in = 1
				}
				counts[in][int(code)*width+int(b[r])]++
			}
			statistic, threshold, _ := stattest.TwoSample(counts[1], counts[0])
			if statistic > threshold+more {
				return fmt.Sprintf("rows %d to %d, column %d: χ² %.0f", part[0], part[1], c/2,
					statistic)
			}
		}
	}
	return ""
}
