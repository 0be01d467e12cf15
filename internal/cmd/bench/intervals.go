package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/workload"
)

// intervals prints how often the intervals of decoy queries answer --interval hold the population's
// value: in each of many tables drawn from one population, one-way shares, two-way shares, and the
// slope of each column on each before it, of pairs that were measured and of others.
func intervals(args []string) {
	flags := flag.NewFlagSet("intervals", flag.ExitOnError)
	variant := flags.String("variant", "mst", "method with its settings")
	n := flags.Int("rows", 10000, "rows of each table")
	budget := budgetOf(flags)
	tables := flags.Int("populations", 500, "tables to draw")
	flags.Parse(args)
	s := categorical(3, 4, 3, 5, 2)
	f := must(fitterOf(*variant))
	whole := rows(s, 4_000_000, rand.New(rand.NewPCG(9, 9)))
	w := must(workload.New(s, append(workload.Marginals(s, 1, 0), workload.Marginals(s, 2, 0)...)))
	answers := must(w.OnTable(whole))
	truth, items := shares(w, answers)
	kinds := []string{"one-way share", "two-way share", "slope", "two-way share, not measured",
		"slope, not measured"}
	held, all := make([]int, len(kinds)), make([]int, len(kinds))
	u := rand.New(rand.NewPCG(5, 5))
	for range *tables {
		t := rows(s, *n, u)
		m := fitted(t, f, *budget)
		ask := func(m *release.Model) ([]float64, error) {
			p := m.Params().(*release.Marginal)
			answers, err := w.OnModel(p.Model, p.Grouping)
			x, _ := shares(w, answers)
			return x, err
		}
		list := must(m.Bootstrap(context.Background(), u.Uint64(), ask, func(float64) {}))
		for k, x := range list {
			cols, kind := w.Item(items[k]).Cols, 0
			if len(cols) == 2 {
				kind = 1
				if k == len(list)-1 || items[k+1] != items[k] {
					kind = 2
				}
				measured := false
				for _, one := range m.Params().(*release.Marginal).Measured {
					measured = measured || slices.Equal(one.Cols, cols)
				}
				if !measured {
					kind += 2
				}
			}
			all[kind]++
			if x.Low <= truth[k] && truth[k] <= x.High {
				held[kind]++
			}
		}
	}
	fmt.Printf("%s, epsilon %v, %d tables of %d rows\n", *variant, budget.Epsilon, *tables, *n)
	for i, kind := range kinds {
		fmt.Printf("%-28s %.3f of %d intervals\n", kind, float64(held[i])/float64(max(all[i], 1)), all[i])
	}
}

// shares are the shares of each marginal's cells, and of a pair the slope of its second column's
// codes on the first's besides, last; with the item of each.
func shares(w *workload.Workload, answers workload.Answers) (x []float64, items []int) {
	for i, cells := range answers {
		cols, total := w.Item(i).Cols, 0.0
		for _, c := range cells {
			total += c
		}
		var a, b, aa, ab float64 // means of the codes, and of their products
		codes := w.Schema().Sizes()[cols[len(cols)-1]]
		for k, c := range cells {
			share, first, second := c/total, float64(k/codes), float64(k%codes)
			x, items = append(x, share), append(items, i)
			a, b = a+share*first, b+share*second
			aa, ab = aa+share*first*first, ab+share*first*second
		}
		if len(cols) == 2 {
			x, items = append(x, (ab-a*b)/(aa-a*a)), append(items, i)
		}
	}
	return x, items
}
