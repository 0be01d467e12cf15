// Command bench prints the figures of the README and of docs: how far synthetic tables are from
// real ones, what a prediction trained on them is worth, and what making them takes.
//
//	go run ./cmd/bench methods -table adult.csv -schema adult.yaml -label income \
//	    -positive '>50K' -variants 'mst,aim target=income'
//	go run ./cmd/bench methods -discrete DIR -tables adult,nltcs -epsilon .1,1
//	go run ./cmd/bench methods -table adult.csv -schema adult.yaml -variants '' \
//	    'bought=decoy generate {table} --epsilon {epsilon} --header-is-public --out {dir}/out.csv'
//	go run ./cmd/bench thesis -done thesis.json -pictures docs/images
//	go run ./cmd/bench linked -data DIR
//
// methods prints one line for each table, budget and way to a synthetic table; thesis prints the
// tables of docs/results.md; linked prints one line for each way to synthetic linked tables. A way
// is a method with settings (-variants 'mst,wgan steps=8 hidden=32,64'), "collect" (randomised
// answers of each row), "copula" or "copula 4" (a normal distribution with noisy correlations of
// columns in two or four groups), or an operand NAME=COMMAND, any program. Noise is secret and
// fresh in each run.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth"
)

func main() {
	kinds := map[string]func(args []string){"methods": methods, "thesis": thesis,
		"linked": linkedBench}
	if len(os.Args) < 2 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: the first argument is methods, thesis or linked")
		os.Exit(2)
	}
	kinds[os.Args[1]](os.Args[2:])
}

// methods compares ways to synthetic tables.
func methods(args []string) {
	flags := flag.NewFlagSet("methods", flag.ExitOnError)
	var src tables
	src.flags(flags)
	variants := flags.String("variants", synth.Auto, "methods, each with its settings")
	epsilons := flags.String("epsilon", "", "budgets; default .1,1,10, with -table 1")
	delta := flags.Float64("delta", 0, "delta; default 1e-9, with -table 1e-5")
	runs := flags.Int("runs", 3, "runs of each line")
	done := flags.String("done", "", doneUsage)
	limit := flags.Duration("limit", 30*time.Minute, "a command that takes longer is ended")
	flags.Parse(args)
	if *epsilons == "" {
		*epsilons = map[bool]string{true: "1", false: ".1,1,10"}[src.path != ""]
	}
	if *delta == 0 {
		*delta = map[bool]float64{true: 1e-5, false: 1e-9}[src.path != ""]
	}
	var ways []way
	for _, v := range split(*variants) {
		if k := slices.IndexFunc(copulas, func(c copula) bool { return c.name() == v }); k >= 0 {
			ways = append(ways, way{v, copulas[k].scored})
			continue
		}
		ways = append(ways, way{v, must(variant(v, nil)).scored})
	}
	for _, operand := range flags.Args() {
		ways = append(ways, must(program(operand, *limit)))
	}
	budgets := must(budgetsOf(*epsilons, *delta))
	log := must(openRuns(*done))
	src.each(func(t *testTable) {
		t.head(compared, *delta, *runs)
		for _, c := range cellsOf(ways, budgets) { // a line as soon as it is done
			c.runs = log.of(t, c.way, c.Budget, *runs)
			c.print(compared)
		}
	})
}

// doneUsage is the usage of -done.
const doneUsage = "file of the runs that are done, a JSON object each: they are not run again, " +
	"and new ones are appended"

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

// scores are what a run is scored by: those of [compared], [measures] or [linkedHeads].
type scores [12]float64

// measure is one of them. One with a file has a picture.
type measure struct {
	name      string
	digits    int
	file      string
	low, high float64
}

// compared are the mean total variation distance of all one-way, two-way and three-way marginals
// from those of the fitted rows; the AUROC of a logistic regression trained on the synthetic rows
// and tested on real ones; the share of the positive class as a multiple of its share of the fitted
// rows; wall and processor seconds; megabytes of a command; what is kept of relations, and the
// errors of coarse pairs, Spearman's correlations and Cramér's V ([eval.KeptRelations]).
var compared = []measure{{name: "one-way error", digits: 4}, {name: "two-way error", digits: 4},
	{name: "three-way error", digits: 4}, {name: "AUROC", digits: 4}, {name: "positives", digits: 2},
	{name: "seconds", digits: 2}, {name: "CPU", digits: 2}, {name: "MB"},
	{name: "kept", digits: 3}, {name: "coarse error", digits: 4}, {name: "Spearman error", digits: 3},
	{name: "Cramér error", digits: 3}}

// way makes synthetic rows of a table and scores them.
type way struct {
	name string
	run  func(t *testTable, b accountant.Budget) (scores, error)
}

// cell is a way with a budget, and its runs. The real rows have no budget.
type cell struct {
	way
	accountant.Budget
	label string // of its line
	runs  []doneRun
	worst bool // is shown beside the means, in place of intervals
}

// cellsOf are each way with each budget.
func cellsOf(ways []way, budgets []accountant.Budget) (out []*cell) {
	for _, w := range ways {
		for _, b := range budgets {
			out = append(out, &cell{way: w, Budget: b, label: fmt.Sprintf("%s | %v", w.name, b.Epsilon)})
		}
	}
	return out
}

// head prints what the lines of a table are about, and begins it, in Markdown.
func (t *testTable) head(of []measure, delta float64, runs int) {
	fmt.Printf("\n### %s\n\n%d rows fitted, %d for the test, %d columns, delta %v, %d runs", t.name,
		t.train.Rows(), t.test.Rows(), len(t.train.Schema().Columns), delta, runs)
	if t.task.Label != "" {
		real := must(eval.TRTR(t.train, t.test, t.task))
		fmt.Printf("; AUROC when trained on the fitted rows %.4f", real.AUROC)
	}
	heading(of)
}

// heading begins the lines of a table.
func heading(of []measure) {
	fmt.Print("\n\n| way | ε |")
	for _, m := range of {
		fmt.Printf(" %s |", m.name)
	}
	fmt.Println("\n|" + strings.Repeat(" --- |", 2+len(of)))
}

// print prints the means of the runs, with the half-width of a 95 % interval (Student's t), and why
// the last has none.
func (c *cell) print(of []measure) {
	fmt.Printf("| %s |", c.label)
	for k, m := range of {
		fmt.Printf(" %s |", c.interval(k, m))
	}
	fmt.Println(c.runs[len(c.runs)-1].Err)
}

// lineKey says what the runs of a line have in common.
type lineKey struct {
	Table, Way     string
	Rows           int
	Epsilon, Delta float64
}

// doneRun is one run: its scores, or why it has none.
type doneRun struct {
	lineKey
	Scores scores
	Err    string `json:",omitempty"`
}

// runLog holds the runs that are done, and the file that keeps them, if there is one.
type runLog struct {
	runs map[lineKey][]doneRun
	file *os.File
}

// openRuns reads the runs of a file; a last line that was cut off is run again.
func openRuns(path string) (runLog, error) {
	l := runLog{runs: map[lineKey][]doneRun{}}
	if path == "" {
		return l, nil
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return l, err
	}
	text, err := io.ReadAll(l.file)
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		var r doneRun
		if err := json.Unmarshal(line, &r); err != nil {
			return l, fmt.Errorf("-done %s: %w", path, err)
		}
		l.runs[r.lineKey] = append(l.runs[r.lineKey], r)
	}
	return l, errors.Join(err, l.file.Truncate(int64(len(text))))
}

// of returns the runs of a way with a table.
func (l *runLog) of(t *testTable, w way, b accountant.Budget, runs int) []doneRun {
	return l.line(lineKey{t.name, w.name, t.train.Rows(), b.Epsilon, b.Delta}, runs,
		func() (scores, error) { return w.run(t, b) })
}

// line returns the runs of a line, those of the file before new ones. One that failed is the last.
func (l *runLog) line(key lineKey, runs int, run func() (scores, error)) []doneRun {
	out := l.runs[key]
	for len(out) < runs && (len(out) == 0 || out[len(out)-1].Err == "") {
		r := doneRun{lineKey: key}
		var err error
		if r.Scores, err = run(); err != nil {
			r.Err = err.Error()
		}
		out = append(out, r)
		if l.file != nil {
			must(l.file.Write(append(must(json.Marshal(r)), '\n')))
		}
	}
	return out[:min(runs, len(out))]
}

// interval is a mean as text, with the half-width of its interval, or the worst, of several runs.
func (c *cell) interval(score int, m measure) string {
	values := c.of(score)
	mean, half := meanOf(values)
	switch {
	case slices.Max(values) == 0 && !c.worst:
		return "–" // not measured
	case len(values) == 1:
		return fmt.Sprintf("%.*f", m.digits, mean)
	case c.worst && strings.HasPrefix(m.name, "AUC"):
		return fmt.Sprintf("%.*f (%.*f)", m.digits, mean, m.digits, slices.Min(values))
	case c.worst:
		return fmt.Sprintf("%.*f (%.*f)", m.digits, mean, m.digits, slices.Max(values))
	}
	return fmt.Sprintf("%.*f ± %.*f", m.digits, mean, m.digits, half)
}

// meanOf is a mean with the half-width of its 95 % interval (Student's t), 0 of one value.
func meanOf(values []float64) (mean, half float64) {
	mean, n := stat.Mean(values, nil), float64(len(values))
	if n > 1 {
		half = stat.StdDev(values, nil) / math.Sqrt(n) *
			distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.975)
	}
	return mean, half
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

// variant is a method with settings, in this process; told, which may be nil, hears of its
// progress.
func variant(name string, told synth.Progress) (fit, error) {
	if name == "collect" {
		return answered, nil
	}
	f, err := fitter(name)
	return func(t *table.Table, b accountant.Budget) (*release.Model, error) {
		m, _, err := synth.Run(context.Background(), privacy.FromTable(t), f,
			synth.RunOptions{Options: privacy.Options{Budget: b, Tool: "bench"}, Progress: told})
		return m, err
	}, err
}

// fitter is a method with settings.
func fitter(name string) (synth.Fitter, error) {
	words := strings.Fields(name)
	if len(words) == 0 {
		return nil, errors.New("a variant without a name")
	}
	var given []configs.Given
	for _, word := range words[1:] {
		g, err := configs.ParseSet(word, "-variants")
		if err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	return synth.New(words[0], configs.Decoder(words[0], given))
}

// answered is a model of randomised answers, one of each row.
func answered(t *table.Table, b accountant.Budget) (*release.Model, error) {
	form, err := stats.NewForm(t.Schema(), b.Epsilon)
	if err != nil {
		return nil, err
	}
	tally := form.NewTally()
	for r := range t.Rows() {
		row := privacy.FromTable(t.Select([]int{r}))
		a, _, err := form.Answer(context.Background(), row, stats.Run[stats.Answer]{})
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
func (f fit) drawn(t *table.Table, b accountant.Budget) (*table.Table, error) {
	m, err := f(t, b)
	if err != nil {
		return nil, err
	}
	return sampled(m, t.Rows())
}

// sampled is n rows of a model.
func sampled(m *release.Model, n int) (out *table.Table, err error) {
	err = m.Sample(context.Background(), n, rand.Uint64(), func(t *table.Table) error {
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
	if len(t.train.Schema().Columns) > 1 {
		r, err := eval.KeptRelations(t.train, syn, .95, 1)
		if err != nil {
			return err
		}
		out[8], out[9] = r.Kept.Estimate, r.Coarse
		out[10], out[11] = defined(r.Spearman), defined(r.Cramer)
	}
	if t.task.Label == "" {
		return nil
	}
	out[4] = rate(syn, t.task) / rate(t.train, t.task)
	out[3], err = t.learnt(syn)
	return err
}

// defined is 0 of what is not.
func defined(x float64) float64 {
	if x != x {
		return 0
	}
	return x
}

// learnt is the AUROC, on the rows for the test, of what is trained on a table.
func (t *testTable) learnt(from *table.Table) (float64, error) {
	p, err := eval.TSTR(from, t.test, t.task)
	if errors.Is(err, eval.ErrOneClass) { // nothing can be learnt from one class
		return .5, nil
	}
	return p.AUROC, err
}

// rate is the share of the positive class.
func rate(t *table.Table, task eval.Task) float64 {
	return float64(t.Counts(t.Schema().Index(task.Label))[task.Positive]) / float64(t.Rows())
}
