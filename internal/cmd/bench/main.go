// Command bench prints the figures of the README and of docs: how far synthetic tables are from
// real ones, what a prediction trained on them is worth, and what making them takes.
//
//	go run ./internal/cmd/bench methods -table adult.csv -schema adult.yaml -label income \
//	    -positive '>50K' -variants 'mst,aim target=income'
//	go run ./internal/cmd/bench methods -discrete DIR -tables adult,nltcs -epsilon .1,1
//	go run ./internal/cmd/bench methods -table adult.csv -schema adult.yaml -variants '' \
//	    'bought=decoy generate {table} --epsilon {epsilon} --header-is-public --out {dir}/out.csv'
//
// It prints one line for each table, budget and way to a synthetic table. A way is a method with
// settings (-variants 'mst,wgan steps=8 hidden=32,64'), "collect" (randomised answers of each row),
// or an operand NAME=COMMAND, any program. Noise is secret and fresh in each run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "methods" {
		fmt.Fprintln(os.Stderr, "bench: the first argument is methods")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("methods", flag.ExitOnError)
	var src tables
	src.flags(flags)
	variants := flags.String("variants", synth.Auto, "methods, each with its settings")
	epsilons := flags.String("epsilon", "", "budgets; default .1,1,10, with -table 1")
	delta := flags.Float64("delta", 0, "delta; default 1e-9, with -table 1e-5")
	runs := flags.Int("runs", 3, "runs of each line")
	limit := flags.Duration("limit", 30*time.Minute, "a command that takes longer is ended")
	flags.Parse(os.Args[2:])
	if *epsilons == "" {
		*epsilons = map[bool]string{true: "1", false: ".1,1,10"}[src.path != ""]
	}
	if *delta == 0 {
		*delta = map[bool]float64{true: 1e-5, false: 1e-9}[src.path != ""]
	}
	var ways []way
	for _, v := range split(*variants) {
		ways = append(ways, way{v, must(variant(v)).scored})
	}
	for _, operand := range flags.Args() {
		ways = append(ways, must(program(operand, *limit)))
	}
	budgets := must(budgetsOf(*epsilons, *delta))
	src.each(func(t *testTable) {
		t.head(*delta, *runs)
		for _, b := range budgets {
			for _, w := range ways {
				line(t, w, b, *runs)
			}
		}
	})
}

// check ends the program: a figure cannot be computed.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// must is a value that could be computed.
func must[T any](x T, err error) T {
	check(err)
	return x
}

// budgetsOf are those of a list of epsilons.
func budgetsOf(epsilons string, delta float64) (out []accountant.Budget, err error) {
	for _, e := range strings.Split(epsilons, ",") {
		epsilon, err := strconv.ParseFloat(e, 64)
		if err != nil {
			return nil, fmt.Errorf("-epsilon: %q is not a number", e)
		}
		out = append(out, accountant.Budget{Epsilon: epsilon, Delta: delta})
	}
	return out, nil
}

// scores of a synthetic table: the mean total variation distance of all one-way, two-way and
// three-way marginals from those of the fitted rows; the AUROC of a logistic regression trained on
// the synthetic rows and tested on real ones; the share of the positive class as a multiple of its
// share of the fitted rows; wall and processor seconds; megabytes of a command.
type scores [8]float64

// digits are those that are printed of each score.
var digits = [len(scores{})]int{4, 4, 4, 4, 2, 2, 2, 0}

// way makes synthetic rows of a table and scores them.
type way struct {
	name string
	run  func(t *testTable, b accountant.Budget) (scores, error)
}

// head prints what a table's lines are about.
func (t *testTable) head(delta float64, runs int) {
	fmt.Printf("%s: %d rows fitted, delta %v, %d runs", t.name, t.train.Rows(), delta, runs)
	if t.task.Label != "" {
		real := must(eval.TRTR(t.train, t.test, t.task))
		fmt.Printf("; AUROC when trained on the fitted rows %.4f", real.AUROC)
	}
	fmt.Printf("\n%-30s %7s  %-22s %-22s %-22s %-22s %-18s %-20s %-20s %s\n", "variant", "epsilon",
		"one-way error", "two-way error", "three-way error", "AUROC", "positives", "seconds", "CPU",
		"MB")
}

// line prints the means of some runs and, in brackets, the smallest and the largest; or in a word
// why there are none. It is printed as soon as they are done, so that the command may be cut short.
func line(t *testTable, w way, b accountant.Budget, runs int) {
	var cells [len(scores{})][]float64
	for range runs {
		r, err := w.run(t, b)
		if err != nil {
			fmt.Printf("%-30s %7v  %v\n", w.name, b.Epsilon, err)
			return
		}
		for i, x := range r {
			cells[i] = append(cells[i], x)
		}
	}
	fmt.Printf("%-30s %7v ", w.name, b.Epsilon)
	for i, width := range [len(scores{})]int{22, 22, 22, 22, 18, 20, 20, 0} {
		text := fmt.Sprintf("%.*f (%.*f–%.*f)", digits[i], stat.Mean(cells[i], nil), digits[i],
			slices.Min(cells[i]), digits[i], slices.Max(cells[i]))
		if slices.Max(cells[i]) == 0 {
			text = "-" // not measured
		}
		fmt.Printf(" %-*s", width, text)
	}
	fmt.Println()
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

// fit makes a model of a table.
type fit func(t *table.Table, b accountant.Budget) (*release.Model, error)

// variant is a method with settings, in this process.
func variant(name string) (fit, error) {
	words := strings.Fields(name)
	if len(words) == 0 {
		return nil, errors.New("a variant without a name")
	}
	if name == "collect" {
		return answered, nil
	}
	var given []configs.Given
	for _, word := range words[1:] {
		g, err := configs.ParseSet(word, "-variants")
		if err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	f, err := synth.New(words[0], configs.Decoder(words[0], given))
	return func(t *table.Table, b accountant.Budget) (*release.Model, error) {
		m, _, err := synth.Run(context.Background(), privacy.FromTable(t), f,
			synth.RunOptions{Options: privacy.Options{Budget: b, Tool: "bench"}})
		return m, err
	}, err
}

// answered is a model of randomised answers, one of each row.
func answered(t *table.Table, b accountant.Budget) (*release.Model, error) {
	form, err := analysis.NewForm(t.Schema(), b.Epsilon)
	if err != nil {
		return nil, err
	}
	tally := form.NewTally()
	for r := range t.Rows() {
		row := privacy.FromTable(t.Select([]int{r}))
		a, _, err := form.Answer(context.Background(), row, analysis.Run[analysis.Answer]{})
		if err == nil {
			err = tally.Add(a)
		}
		if err != nil {
			return nil, err
		}
	}
	return tally.Fit(context.Background(), "bench", nil)
}

// drawn is as many rows of a model as it was fitted to.
func (f fit) drawn(t *table.Table, b accountant.Budget) (out *table.Table, err error) {
	m, err := f(t, b)
	if err != nil {
		return nil, err
	}
	err = m.Sample(context.Background(), t.Rows(), rand.Uint64(), func(t *table.Table) error {
		out = t
		return nil
	})
	return out, err
}

// scored scores what it draws.
func (f fit) scored(t *testTable, b accountant.Budget) (out scores, err error) {
	start, used := time.Now(), cpu()
	syn, err := f.drawn(t.train, b)
	if err != nil {
		return out, err
	}
	out[5], out[6] = time.Since(start).Seconds(), cpu()-used
	return out, t.score(syn, &out)
}

// mostTriples is the most columns of a table whose triples are all counted.
const mostTriples = 50

// score is of what a synthetic table holds. One with one class only has an AUROC of 0.5.
func (t *testTable) score(syn *table.Table, out *scores) (err error) {
	for i := range 3 {
		if i == 2 && len(t.train.Schema().Columns) > mostTriples {
			break
		}
		if out[i], err = eval.MarginalError(t.train, syn, i+1); err != nil {
			return err
		}
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
