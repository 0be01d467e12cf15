package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
	"github.com/decoy-dp/decoy/table"
)

// methods prints one line for each table, budget and variant of a method: the mean total variation
// distance of all one-way, two-way and three-way marginals between as many synthetic rows as fitted
// ones and the fitted rows; the AUROC of a logistic regression trained on the synthetic rows and
// tested on real ones; the share of the positive class as a multiple of its share of the fitted
// rows; wall and processor seconds. A cell is the mean of the runs and, in brackets, the smallest
// and the largest.
//
// For a simulated table the distance of its structure stands in place of the AUROC: see shownError.
//
// A variant is a method with settings, as in -variants 'mst,wgan steps=8 hidden=32,64'. A line is
// printed as soon as its runs are done, so that the command may be cut short.
func methods(args []string) {
	flags := flag.NewFlagSet("methods", flag.ExitOnError)
	var src tables
	src.flags(flags)
	variants := flags.String("variants", all.Auto, "methods, each with its settings")
	epsilons := flags.String("epsilon", "", "budgets; default .1,1,10, with -table 1")
	delta := flags.Float64("delta", 0, "delta; default 1e-9, with -table 1e-5")
	runs := runsOf(flags, 3)
	certified := flags.String("certificates", "",
		"a variant of wgan: print the size of its certificates in each mode, step by step")
	flags.Parse(args)
	if *epsilons == "" {
		*epsilons = map[bool]string{true: "1", false: ".1,1,10"}[src.path != ""]
	}
	if *delta == 0 {
		*delta = map[bool]float64{true: 1e-5, false: 1e-9}[src.path != ""]
	}
	budgets := budgetsOf(*epsilons, *delta)
	src.each(func(t testTable) {
		if *certified != "" {
			f := must(fitterOf(*certified))
			check(printCertificates(t.train, f, budgets[0]))
			return
		}
		t.head(*delta, *runs)
		for _, b := range budgets {
			for _, v := range split(*variants) {
				line(t, v, b, *runs)
			}
		}
	})
}

// budgetsOf are those of a list of epsilons.
func budgetsOf(epsilons string, delta float64) (out []accountant.Budget) {
	for _, e := range strings.Split(epsilons, ",") {
		epsilon, err := strconv.ParseFloat(e, 64)
		if err != nil {
			check(fmt.Errorf("-epsilon: %q is not a number", e))
		}
		out = append(out, accountant.Budget{Epsilon: epsilon, Delta: delta})
	}
	return out
}

// head prints what a table's lines are about.
func (t testTable) head(delta float64, runs int) {
	fmt.Printf("%s: %d rows fitted, delta %v, %d runs", t.name, t.train.Rows(), delta, runs)
	if t.task.Label != "" {
		real := must(eval.TRTR(t.train, t.test, t.task))
		fmt.Printf("; AUROC when trained on the fitted rows %.4f", real.AUROC)
	}
	score := "AUROC"
	if t.shown != nil {
		score = "structure"
	}
	fmt.Printf("\n%-30s %7s  %-22s %-22s %-22s %-22s %-18s %-20s %s\n", "variant", "epsilon",
		"one-way error", "two-way error", "three-way error", score, "positives", "seconds", "CPU")
}

// line fits and scores a variant some times and prints it.
func line(t testTable, variant string, b accountant.Budget, runs int) {
	f := must(fitterOf(variant))
	var cells [7][]float64
	for range runs {
		r := once(t, f, b)
		for i, x := range r {
			cells[i] = append(cells[i], x)
		}
	}
	t.print(variant, fmt.Sprint(b.Epsilon), cells, "")
}

// print prints the scores of some runs, with a word behind them.
func (t testTable) print(name, epsilon string, cells [7][]float64, more string) {
	text := [7]string{3: "-", 4: "-"}
	without := [7]bool{3: t.task.Label == "" && t.shown == nil, 4: t.task.Label == ""}
	for i, digits := range [7]int{4, 4, 4, 4, 2, 2, 2} {
		if !without[i] {
			text[i] = spread(cells[i], digits)
		}
	}
	fmt.Printf("%-30s %7s  %-22s %-22s %-22s %-22s %-18s %-20s %s%s\n", name, epsilon,
		text[0], text[1], text[2], text[3], text[4], text[5], text[6], more)
}

// split cuts a list of variants at its commas, but not within a list of numbers, as in "wgan
// hidden=64,128,mst".
func split(list string) (names []string) {
	if list == "" {
		return nil
	}
	for _, name := range strings.Split(list, ",") {
		first, _, _ := strings.Cut(name, " ")
		if _, err := strconv.Atoi(first); err == nil && len(names) > 0 {
			names[len(names)-1] += "," + name
			continue
		}
		names = append(names, strings.Join(strings.Fields(name), " "))
	}
	return names
}

// fitterOf is a method with settings.
func fitterOf(variant string) (synth.Fitter, error) {
	words := strings.Fields(variant)
	if len(words) == 0 {
		return nil, fmt.Errorf("a variant without a name")
	}
	var given []configs.Given
	for _, word := range words[1:] {
		g, err := configs.ParseSet(word, "-variants")
		if err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	return all.New(words[0], configs.Decoder(words[0], given))
}

// mostTriples is the most columns of a table whose triples are all counted; of one with more the
// three-way error is written as 0.
const mostTriples = 50

// once fits and scores one time: see score; then seconds, seconds of CPU.
func once(t testTable, f synth.Fitter, b accountant.Budget) (out [7]float64) {
	start, used := time.Now(), cpu()
	m := fitted(t.train, f, b)
	syn := drawnFrom(m, t.train.Rows())
	out[5], out[6] = time.Since(start).Seconds(), cpu()-used
	check(t.score(syn, &out))
	return out
}

// score is the one-, two- and three-way error, AUROC and rate of the positive class of a synthetic
// table. One with one class only has an AUROC of 0.5.
func (t testTable) score(syn *table.Table, out *[7]float64) (err error) {
	for i := range 3 {
		if i == 2 && len(t.train.Schema().Columns) > mostTriples {
			break
		}
		if out[i], err = eval.MarginalError(t.train, syn, i+1); err != nil {
			return err
		}
	}
	if t.shown != nil {
		out[3] = t.shownError(syn)
	}
	if t.task.Label == "" {
		return nil
	}
	out[4] = rate(syn, t.task) / rate(t.train, t.task)
	p, err := eval.TSTR(syn, t.test, t.task)
	if errors.Is(err, eval.ErrOneClass) { // nothing can be learnt from one class
		out[3] = .5
		return nil
	}
	out[3] = p.AUROC
	return err
}

// rate is the share of the positive class.
func rate(t *table.Table, task eval.Task) float64 {
	k := t.Schema().Index(task.Label)
	counts := make([]int64, t.Schema().Sizes()[k])
	t.CountTo(counts, []int{k})
	return float64(counts[task.Positive]) / float64(t.Rows())
}

// spread is the mean of the values and, in brackets, the smallest and the largest.
func spread(x []float64, digits int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, stat.Mean(x, nil), digits, slices.Min(x),
		digits, slices.Max(x))
}
