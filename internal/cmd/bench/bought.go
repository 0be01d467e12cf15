package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
	"github.com/decoy-dp/decoy/table"
)

// oneCommand prints how far the tables of a run that buys its schema are from the real one, beside
// those of two runs (schema infer with a third of the budget, generate with the rest) and of a run
// of the whole budget on the schema that the two runs bought, as if that cost nothing. The error
// is that of methods on the codes of NAME.domain.json: a column that the schema leaves out is all
// wrong.
func oneCommand(args []string) {
	f := flag.NewFlagSet("bought", flag.ExitOnError)
	parse := folderOf(f, "adult,bank,support2,heart_cleveland,acs_ma2019")
	runs, epsilons := runsOf(f, 3), f.String("epsilon", "1,3", "budgets, with commas between")
	method := f.String("method", all.Auto, "method")
	dir, names := parse(args)
	budgets := budgetsOf(*epsilons, 1e-9)
	fmt.Println("| table | ε | one-way: one command | two runs | free schema | two-way: one " +
		"command | two runs | free schema |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, name := range names {
		t := openDescribed(dir, name)
		for _, b := range budgets {
			var cells [6][]float64
			for range *runs {
				errors := t.compare(*method, b)
				for i, x := range errors {
					cells[i] = append(cells[i], x)
				}
			}
			line := fmt.Sprintf("| %s | %v |", name, b.Epsilon)
			for _, x := range cells {
				line += " " + spread(x, 3) + " |"
			}
			fmt.Println(line)
		}
	}
}

// described is a public table as a program meets it, and what is true of it.
type described struct {
	path  string
	names []string
	real  *table.Table // in codes that no run knows
}

func openDescribed(dir, name string) *described {
	d := &described{path: filepath.Join(dir, name+".csv")}
	s, _, err := valuesSchema(filepath.Join(dir, name+".domain.json"))
	check(err)
	s.Lenient = true
	for i := range s.Columns {
		c := &s.Columns[i]
		codes(c)
		if c.Kind == schema.Categorical {
			c.Categories = append(c.Categories, "(other)")
			c.OnInvalid, c.Other = schema.Other, "(other)"
		} else {
			c.OnInvalid = schema.Clamp
			if !slices.Contains(c.Missing, "") {
				c.Missing = append(c.Missing, "")
			}
		}
	}
	content := must(os.ReadFile(d.path))
	header, _, _ := strings.Cut(string(content), "\n")
	d.names = strings.Split(strings.TrimSpace(header), ",")
	d.real, err = readStays(content, s)
	check(err)
	return d
}

// codes makes whole numbers of a column whose categories are: 1.0 and 1 are the same.
func codes(c *schema.Column) {
	whole := schema.Column{Name: c.Name, Kind: schema.Integer}
	for i, category := range c.Categories {
		x, err := strconv.ParseFloat(category, 64)
		if category == "" {
			whole.Missing = []string{""}
			continue
		} else if err != nil || x != math.Floor(x) || math.Abs(x) > 1e6 {
			return
		}
		if i == 0 {
			whole.Min, whole.Max = x, x
		}
		whole.Min, whole.Max = min(whole.Min, x), max(whole.Max, x)
	}
	if len(c.Categories) > 0 {
		*c = whole
	}
}

// compare fits in the three ways. Of errors, the first three are one-way.
func (d *described) compare(method string, b accountant.Budget) (out [6]float64) {
	f := must(fitterOf(method))
	source := must(text.File(d.path, text.Options{Names: d.names, CSV: schema.CSV{Comma: ','}}))
	ctx, options := context.Background(), infer.Options{CSV: schema.CSV{Comma: ','}}
	part := func(share float64) accountant.Budget {
		return accountant.Budget{Epsilon: share * b.Epsilon, Delta: share * b.Delta}
	}
	run := func(budget accountant.Budget) synth.RunOptions {
		return synth.RunOptions{Options: privacy.Options{Budget: budget, Tool: "bench"}}
	}
	plan := must(infer.NewPlan(len(d.names), source.Neighbours(accountant.AddRemove), b))
	plan.Share = 1. / 3
	one, _, err := synth.RunBought(ctx, source, plan, options, f.(synth.Continuer), run(b))
	check(err)
	options.Options = privacy.Options{Budget: part(1. / 3)}
	r, _, err := infer.Run(ctx, source, options)
	check(err)
	two, _, err := synth.Run(ctx, privacy.File(d.path, r.Schema()), f, run(part(2./3)))
	check(err)
	free, _, err := synth.Run(ctx, privacy.File(d.path, r.Schema()), f, run(b))
	check(err)
	for i, m := range []*release.Model{one, two, free} {
		var csv bytes.Buffer
		check(writeStays(&csv, m, d.real.Rows()))
		drawn := must(readStays(csv.Bytes(), d.real.Schema()))
		for way := range 2 {
			if out[3*way+i], err = eval.MarginalError(d.real, drawn, way+1); err != nil {
				check(err)
				return out
			}
		}
	}
	return out
}
