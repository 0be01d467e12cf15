package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/train"
)

// trained prints the AUROC of private classifiers on rows that they did not see, beside that of a
// regression without privacy on the same rows.
func trained(args []string) {
	f := flag.NewFlagSet("train", flag.ExitOnError)
	t := tables{}
	t.flags(f)
	sizes := f.String("sizes", "300,1000,3000,29305", "rows to train on, chosen by a public seed")
	epsilons := f.String("epsilon", "0.1,1,10", "budgets")
	delta := f.Float64("delta", 1e-5, "their delta")
	runs := runsOf(f, 5)
	by := f.String("by", train.Descent, "how: descent, output or objective")
	f.Parse(args)
	budgets := budgetsOf(*epsilons, *delta)
	t.each(func(x testTable) {
		for _, size := range strings.Split(*sizes, ",") {
			n, err := strconv.Atoi(size)
			if err != nil || n < 1 || n > x.train.Rows() {
				check(fmt.Errorf("-sizes: %q is not from 1 to %d", size, x.train.Rows()))
			}
			line := classifiers(x, n, budgets, *runs, *by)
			fmt.Println(line)
		}
	})
}

// classifiers is a line of the table: mean and least AUROC for each budget, and without privacy.
func classifiers(x testTable, n int, budgets []accountant.Budget, runs int, by string) string {
	line, open := fmt.Sprintf("| %d |", n), 0.
	for at, b := range budgets {
		sum, least := 0., 1.
		for k := range runs {
			rows := x.train.Select(rand.New(rand.NewPCG(uint64(k), 1)).Perm(x.train.Rows())[:n])
			auroc := classified(x, rows, b, by)
			sum, least = sum+auroc/float64(runs), min(least, auroc)
			if at == 0 {
				p := must(eval.TRTR(rows, x.test, x.task))
				open += p.AUROC / float64(runs)
			}
		}
		line += fmt.Sprintf(" %.3f (%.3f) |", sum, least)
	}
	return fmt.Sprintf("%s %.3f |", line, open)
}

// classified trains once and predicts the rows to test on.
func classified(x testTable, rows *table.Table, b accountant.Budget, by string) float64 {
	c, _, err := train.Run(context.Background(), privacy.FromTable(rows), train.Options{
		Options: privacy.Options{Budget: b, Tool: "bench"}, Target: x.task.Label,
		Drop: x.task.Drop, By: by,
	})
	check(err)
	p := must(c.Probabilities(x.test))
	at := x.test.Schema().Index(x.task.Label)
	codec := x.test.Column(at)
	positive := slices.Index(c.Classes, x.test.Schema().Columns[at].Categories[x.task.Positive])
	scores, labels := make([]float64, len(p)), make([]bool, len(p))
	for i := range p {
		scores[i], labels[i] = p[i][positive], codec.At(i) == x.task.Positive
	}
	return must(eval.AUROC(scores, labels))
}
