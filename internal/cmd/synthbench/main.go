// Command synthbench prints the marginal error of a method on public tables, and what a prediction
// trained on its rows is worth: the numbers of the README and of docs/aim.md.
//
//	go run ./internal/cmd/synthbench -discrete DIR [-tables adult,nltcs] [-method aim] [-set key=value]... [-epsilon .1,1,10] [-runs 3]
//	go run ./internal/cmd/synthbench -discrete DIR -tables adult -label 'income>50K' -method aim -set 'target=income>50K'
//	go run ./internal/cmd/synthbench -discrete DIR -tables mammography -holdout .4 -method aim -set target=outlier -epsilon 1
//
// DIR holds NAME.csv of integer codes and NAME-domain.json (column name → number of codes), the
// form the marginal literature uses, or NAME.csv of values and NAME.domain.json with kinds, bounds,
// categories and a label. Each run draws fresh secret noise; error is the mean total variation
// distance of all two-way and three-way marginals between as many synthetic rows as fitted ones and
// the fitted rows. With a label, AUROC is that of a logistic regression trained on the synthetic
// rows and tested on the real ones or, with -holdout, on real rows that were not fitted; the rate
// is the share of the positive class, as a multiple of its share of the fitted rows. A cell is a
// mean and, behind it, the smallest and the largest value. CPU is that of the process, in seconds a
// run. Without -discrete it says so and does nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
	"github.com/decoy-dp/decoy/table"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "synthbench:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("discrete", "", "folder with NAME.csv and NAME-domain.json")
	names := flag.String("tables", "adult,nltcs,titanic,salary", "tables in the folder")
	method := flag.String("method", all.Default, "method")
	epsilons := flag.String("epsilon", ".1,1,10", "budgets")
	delta := flag.Float64("delta", 1e-9, "delta")
	runs := flag.Int("runs", 3, "runs a budget")
	label := flag.String("label", "",
		"column to predict in tables that name none; its code 1 is the positive one")
	holdout := flag.Float64("holdout", 0,
		"share of the rows to keep for the test of the prediction")
	var given []configs.Given
	flag.Func("set", "`KEY=VALUE` of the method; may be repeated", func(text string) error {
		g, err := configs.ParseSet(text, "-set")
		given = append(given, g)
		return err
	})
	flag.Parse()
	if *dir == "" {
		fmt.Println("synthbench: skipped, -discrete names no folder of tables")
		return nil
	}
	fitter, err := all.New(*method, configs.Decoder(*method, given))
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %-6s %7s  %-22s %-22s %-22s %-19s %-19s %s\n", "table", "method", "epsilon",
		"two-way error", "three-way error", "AUROC", "rate", "seconds", "CPU")
	for _, name := range strings.Split(*names, ",") {
		src, err := open(*dir, name, *label, *holdout)
		if err != nil {
			return err
		}
		for _, e := range strings.Split(*epsilons, ",") {
			epsilon, err := strconv.ParseFloat(e, 64)
			if err != nil {
				return fmt.Errorf("-epsilon: %q is not a number", e)
			}
			var cells [6][]float64
			for range *runs {
				r, err := once(src, fitter, accountant.Budget{Epsilon: epsilon, Delta: *delta})
				if err != nil {
					return err
				}
				for i, x := range r {
					cells[i] = append(cells[i], x)
				}
			}
			auroc, rate := "-", "-"
			if src.task.Label != "" {
				auroc, rate = spread(cells[2], "%.4f"), spread(cells[3], "%.2f")
			}
			fmt.Printf("%-14s %-6s %7v  %-22s %-22s %-22s %-19s %-19s %s\n", name, *method, epsilon,
				spread(cells[0], "%.4f"), spread(cells[1], "%.4f"), auroc, rate,
				spread(cells[4], "%.2f"), spread(cells[5], "%.2f"))
		}
	}
	return nil
}

// once fits and samples one time: two-way error, three-way error, AUROC, rate, seconds, seconds of
// CPU.
func once(src source, f synth.Fitter, b accountant.Budget) (out [6]float64, err error) {
	start, used := time.Now(), cpu()
	m, _, err := synth.Run(context.Background(), privacy.FromTable(src.train), f,
		synth.RunOptions{Budget: b, Tool: "synthbench"})
	if err != nil {
		return out, err
	}
	var syn *table.Table
	err = m.Sample(context.Background(), src.train.Rows(), uint64(start.UnixNano()),
		func(t *table.Table) error { syn = t; return nil })
	if err != nil {
		return out, err
	}
	out[4], out[5] = time.Since(start).Seconds(), cpu()-used
	for i := range 2 {
		if out[i], err = eval.MarginalError(src.train, syn, i+2); err != nil {
			return out, err
		}
	}
	if src.task.Label == "" {
		return out, nil
	}
	out[3] = rate(syn, src.task) / rate(src.train, src.task)
	p, err := eval.TSTR(syn, src.test, src.task)
	if errors.Is(err, eval.ErrOneClass) { // nothing can be learnt from one class
		out[2] = .5
		return out, nil
	}
	out[2] = p.AUROC
	return out, err
}

// rate is the share of the positive class.
func rate(t *table.Table, task eval.Task) float64 {
	k := t.Schema().Index(task.Label)
	counts := make([]int64, t.Schema().Sizes()[k])
	t.CountTo(counts, []int{k})
	return float64(counts[task.Positive]) / float64(t.Rows())
}

// spread is the mean of the values and, behind it, the smallest and the largest.
func spread(x []float64, format string) string {
	lo, hi, sum := x[0], x[0], 0.0
	for _, v := range x {
		lo, hi, sum = min(lo, v), max(hi, v), sum+v
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", sum/float64(len(x)), lo, hi)
}
