package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

// join prints the figures of docs/join.md: the mean total variation distance of all one- and
// two-way marginals from those of the whole table, of a model of the whole table, of the joint
// model of parties that have a part of it each, of the parties' models side by side (each weighted
// by its rows: their synthetic tables, one below the other), and of the best of the parties'
// models; and of models of sums under masks.
func join(args []string) {
	flags := flag.NewFlagSet("join", flag.ExitOnError)
	var src tables
	src.flags(flags)
	parties := flags.Int("parties", 5, "number of parties")
	by := flags.String("by", "", "column: parties have its codes, as evenly as their rows allow; "+
		"default at random")
	variants := flags.String("variants", "mst,aim", "methods, each with its settings")
	masked := flags.String("masked", "mst,wgan", "the same, of sums under masks")
	fedAvg := flags.Bool("fedavg", false, "simulate FedSGD, FedAvg and DP-FedAvg of a critic")
	budget, runs := budgetOf(flags), runsOf(flags, 3)
	flags.Parse(args)
	src.each(func(t testTable) {
		parts := divide(t.train, *parties, *by)
		fmt.Printf("%s: %d rows, of %d parties; one-way and two-way error\n", t.name, t.train.Rows(),
			len(parts))
		fmt.Printf("%-16s %-17s %-17s %-17s %-17s %s\n", "variant", "whole table", "joint",
			"side by side", "best party", "seconds of the join")
		for _, v := range split(*variants) {
			joinLine(t.train, parts, v, *budget, *runs)
		}
		for _, v := range split(*masked) {
			partyLine(t.train, parts, v, *budget, *runs)
		}
		if *fedAvg {
			averaged(t.train, parts, *budget)
		}
	})
}

// joinLine prints the errors of one method.
func joinLine(
	t *table.Table, parts []*table.Table, variant string, b accountant.Budget, runs int,
) {
	f := must(fitterOf(variant))
	var cells [4][2]float64
	seconds := 0.0
	for range runs {
		central := fitted(t, f, b)
		var models []*release.Model
		var names []string
		best := [2]float64{1, 1}
		for i, part := range parts {
			m := fitted(part, f, b)
			one := errorOf(t, m.Params())
			if one[1] < best[1] {
				best = one
			}
			models, names = append(models, m), append(names, fmt.Sprint("party ", i+1))
		}
		before := cpu()
		joint := must(release.Join(context.Background(), models,
			release.JoinOptions{People: release.Disjoint, Names: names, Tool: "bench"}))
		seconds += (cpu() - before) / float64(runs)
		for i, list := range [][]*release.Model{{central}, {joint}, models} {
			var params []release.Params
			for _, m := range list {
				params = append(params, m.Params())
			}
			e := errorOf(t, params...)
			for k, x := range e {
				cells[i][k] += x / float64(runs)
			}
		}
		for k, x := range best {
			cells[3][k] += x / float64(runs)
		}
	}
	fmt.Printf("%-16s", variant)
	for _, c := range cells {
		fmt.Printf(" %-17s", fmt.Sprintf("%.4f %.4f", c[0], c[1]))
	}
	fmt.Printf(" %.1f\n", seconds)
}

// errorOf is the mean one-way and two-way error of models side by side.
func errorOf(t *table.Table, models ...release.Params) (out [2]float64) {
	for way := range out {
		w := must(workload.New(t.Schema(), workload.Marginals(t.Schema(), way+1, 0)))
		out[way], _ = errorsOf(w, t, models...)
	}
	return out
}

// divide cuts a table into parts: at random, or so that each has some of the codes of a column, the
// most frequent first, each to the part with the fewest rows so far.
func divide(t *table.Table, parts int, by string) []*table.Table {
	rows := make([][]int, parts)
	if by == "" {
		for i, r := range rand.New(rand.NewPCG(1, 0)).Perm(t.Rows()) {
			rows[i%parts] = append(rows[i%parts], r)
		}
	} else {
		c := t.Schema().Index(by)
		if c < 0 {
			check(fmt.Errorf("-by: there is no column %q among %s", by, strings.Join(
				t.Schema().Names(), ", ")))
		}
		of := make([][]int, t.Schema().Sizes()[c])
		for r := range t.Rows() {
			code := t.Column(c).At(r)
			of[code] = append(of[code], r)
		}
		slices.SortStableFunc(of, func(a, b []int) int { return len(b) - len(a) })
		for _, list := range of {
			least := 0
			for i := range rows {
				if len(rows[i]) < len(rows[least]) {
					least = i
				}
			}
			rows[least] = append(rows[least], list...)
		}
	}
	var out []*table.Table
	for i, list := range rows {
		if len(list) == 0 {
			check(fmt.Errorf("party %d has no rows", i+1))
		}
		out = append(out, t.Select(list))
	}
	return out
}
