package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/collect"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

// collected prints the figures of docs/collect.md: the mean total variation distance of all one-
// and two-way marginals from those of the table, of models of its rows' randomised answers, one
// each, and of models that were fitted to the rows themselves at the same ε.
func collected(args []string) {
	flags := flag.NewFlagSet("collect", flag.ExitOnError)
	var src tables
	src.flags(flags)
	central := flags.String("variants", "mst", "methods for the rows, each with its settings")
	epsilon := flags.Float64("epsilon", 2, "of each respondent, and of each model; delta is 1e-9")
	runs := flags.Int("runs", 3, "runs of each line")
	flags.Parse(args)
	src.each(func(t testTable) {
		fmt.Printf("%s: %d rows, epsilon %v; one-way and two-way error\n", t.name, t.train.Rows(),
			*epsilon)
		for _, v := range append([]string{""}, split(*central)...) {
			var mean [2]float64
			for range *runs {
				e := collectedError(t.train, v, *epsilon)
				for i := range mean {
					mean[i] += e[i] / float64(*runs)
				}
			}
			if v == "" {
				v = "answers"
			}
			fmt.Printf("%-16s %.4f %.4f\n", v, mean[0], mean[1])
		}
	})
}

// collectedError is that of a variant, or of answers if there is none.
func collectedError(t *table.Table, variant string, epsilon float64) (out [2]float64) {
	ctx := context.Background()
	if variant != "" {
		f := must(fitterOf(variant))
		m := fitted(t, f, accountant.Budget{Epsilon: epsilon, Delta: 1e-9})
		return errorOf(t, m.Params())
	}
	form := must(collect.NewForm(t.Schema(), epsilon))
	tally := form.NewTally()
	for r := range t.Rows() {
		a, _, err := form.Answer(ctx, privacy.FromTable(t.Select([]int{r})), collect.Options{})
		if err == nil {
			err = tally.Add(a)
		}
		check(err)
	}
	m := must(tally.Fit(ctx, "bench", nil))
	return errorOf(t, m.Params())
}
