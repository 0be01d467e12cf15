// Command ablation prints what each part of a method is worth on a public table: one line a
// variant, with the one-way and two-way error, the AUROC of a logistic regression trained on the
// synthetic rows and tested on real ones that were held out, and the wall time.
//
//	go run ./internal/cmd/ablation -table adult.csv -schema adult.yaml -label income -positive '>50K' [-epsilon 1] [-delta 1e-5] [-runs 3] [-variants wgan,mst]
//
// Without -variants it runs mst, wgan and, of wgan, noise mode × replay × warm start and the
// penalty at interpolates, and the forms of pategan. -quick takes a fifth of the time: one run a
// variant, with a quarter of the generator's steps on batches of half the size; it is for the order
// of the lines, not for their last digit.
//
// A variant is a name of the list, or a method with settings, as in -variants 'wgan steps=8
// hidden=32,64,wgan preset=small'. A line is printed as soon as its runs are done, so that the
// command may be cut short. With -variance 'wgan post_steps=1' it prints instead the size of the
// certificates of one run in each mode, step by step.
//
// 60 % of the rows, chosen with a fixed public seed, are fitted and the others held out. Each run
// draws fresh secret noise; a cell is the mean of the runs and, in brackets, the smallest and the
// largest. Without -table it says so and does nothing.
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

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
	"github.com/decoy-dp/decoy/synth/mst"
	"github.com/decoy-dp/decoy/synth/pategan"
	"github.com/decoy-dp/decoy/synth/wgan"
	"github.com/decoy-dp/decoy/table"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

// quick makes wgan take about a fifth of its time.
func quick(c wgan.Config) wgan.Config {
	c.Batch = 512
	if !c.NoReplay { // which has few steps anyway
		c.GeneratorSteps, c.PostSteps = 6, 750
	}
	return c
}

// variants are the lines of the table, by name; each wgan's settings are what change makes of them.
func variants(change func(wgan.Config) wgan.Config) (names []string,
	fitters map[string]func() (synth.Fitter, error)) {
	fitters = map[string]func() (synth.Fitter, error){"mst": func() (synth.Fitter,
		error) {
		return mst.New(mst.Config{})
	}}
	names = append(names, "mst")
	add := func(name string, c wgan.Config) {
		names = append(names, name)
		fitters[name] = func() (synth.Fitter, error) { return wgan.New(change(c)) }
	}
	add("wgan", wgan.Config{})
	for _, mode := range []wgan.Mode{wgan.Thesis, wgan.Box, wgan.Blocks, wgan.Residual} {
		for _, replay := range []bool{true, false} {
			for _, warm := range []bool{true, false} {
				name := "wgan-" + mode.String()
				if !replay {
					name += "-noreplay"
				}
				if !warm {
					name += "-cold"
				}
				add(name, wgan.Config{Mode: mode, NoReplay: !replay, ColdStart: !warm})
			}
		}
	}
	add("wgan-interpolates", wgan.Config{Lipschitz: "interpolates"})
	for _, v := range []struct {
		name string
		c    pategan.Config
	}{
		{"pategan", pategan.Config{}},
		{"pategan-novotes", pategan.Config{Rounds: 1, Questions: 1, TotalShare: .012,
			MarginalShare: .14, TargetShare: .588, PairShare: .249, StudentWeight: 1e-9}},
		{"pategan-cold", pategan.Config{ColdStart: true}},
	} {
		names = append(names, v.name)
		fitters[v.name] = func() (synth.Fitter, error) { return pategan.New(v.c) }
	}
	return names, fitters
}

// split cuts a list of variants at its commas, but not within a list of numbers, as in "wgan
// hidden=64,128,mst".
func split(list string) (names []string) {
	for _, name := range strings.Split(list, ",") {
		first, _, _ := strings.Cut(name, " ")
		if _, err := strconv.Atoi(first); err == nil && len(names) > 0 {
			names[len(names)-1] += "," + name
			continue
		}
		names = append(names, name)
	}
	return names
}

func run() error {
	path := flag.String("table", "", "public table, .csv or .parquet")
	schemaPath := flag.String("schema", "", "its schema")
	label := flag.String("label", "", "column to predict")
	positive := flag.String("positive", "", "its positive category")
	drop := flag.String("drop", "", "comma-separated columns that the prediction must not see")
	epsilon := flag.Float64("epsilon", 1, "epsilon")
	delta := flag.Float64("delta", 1e-5, "delta")
	runs := flag.Int("runs", 3, "runs a variant")
	fast := flag.Bool("quick", false,
		"one run a variant, with fewer generator steps: about a fifth of the time")
	variance := flag.String("variance", "",
		"a variant: print the size of its certificates in each mode, step by step")
	only := flag.String("variants", "", "variants to run; default all of the list")
	flag.Parse()
	change := func(c wgan.Config) wgan.Config { return c }
	if *fast {
		change, *runs = quick, 1
	}
	names, fitters := variants(change)
	if *only != "" {
		names = split(*only)
	}
	if *path == "" {
		fmt.Println("ablation: skipped, -table names no table")
		return nil
	}
	s, err := schema.Load(*schemaPath)
	if err != nil {
		return err
	}
	all, _, err := table.Read(context.Background(), *path, s, table.ReadOptions{})
	if err != nil {
		return err
	}
	task, err := taskOf(s, *label, *positive, *drop)
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(1, 0)).Perm(all.Rows())
	cut := all.Rows() * 6 / 10
	train, holdout := all.Select(order[:cut]), all.Select(order[cut:])
	if *variance != "" {
		f, err := fitterOf(*variance, fitters)
		if err != nil {
			return err
		}
		return printVariance(train, f, accountant.Budget{Epsilon: *epsilon, Delta: *delta})
	}
	real, err := eval.TRTR(train, holdout, task)
	if err != nil {
		return err
	}
	fmt.Printf(
		"%d rows fitted, %d held out; epsilon %v, delta %v, %d runs; real-trained AUROC %.4f\n",
		train.Rows(), holdout.Rows(), *epsilon, *delta, *runs, real.AUROC)
	fmt.Printf("%-44s %-22s %-22s %-22s %-22s %s\n", "variant", "one-way error", "two-way error",
		"AUROC", "positives, %", "seconds")
	for _, name := range names {
		f, err := fitterOf(name, fitters)
		if err != nil {
			return err
		}
		var cells [5][]float64
		for range *runs {
			r, err := once(train, holdout, task, f, accountant.Budget{Epsilon: *epsilon,
				Delta: *delta})
			if err != nil {
				return err
			}
			for i := range cells {
				cells[i] = append(cells[i], r[i])
			}
		}
		fmt.Printf("%-44s %-22s %-22s %-22s %-22s %s\n", name, spread(cells[0], 4),
			spread(cells[1], 4), spread(cells[2], 4), spread(cells[4], 2), spread(cells[3], 1))
	}
	return nil
}

// fitterOf is a variant of the list, or a method with settings.
func fitterOf(name string, fitters map[string]func() (synth.Fitter, error)) (synth.Fitter, error) {
	if make, ok := fitters[name]; ok {
		return make()
	}
	words := strings.Fields(name)
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

// taskOf is the prediction task.
func taskOf(s *schema.Schema, label, positive, drop string) (eval.Task, error) {
	k := s.Index(label)
	if k < 0 {
		return eval.Task{}, fmt.Errorf("-label: the schema has no column %q", label)
	}
	code := slices.Index(s.Columns[k].Categories, positive)
	if code < 0 {
		return eval.Task{}, fmt.Errorf("-positive: column %q has no category %q", label, positive)
	}
	task := eval.Task{Label: label, Positive: uint16(code)}
	if drop != "" {
		task.Drop = strings.Split(drop, ",")
	}
	return task, nil
}

// once fits and scores one time: one-way error, two-way error, AUROC, seconds, per cent of
// positives. A synthetic table with one class only scores 0.5.
func once(train, holdout *table.Table, task eval.Task, f synth.Fitter,
	b accountant.Budget) (out [5]float64, err error) {
	start := time.Now()
	m, _, err := synth.Run(context.Background(), privacy.FromTable(train), f,
		synth.RunOptions{Budget: b, Tool: "ablation"})
	if err != nil {
		return out, err
	}
	var syn *table.Table
	if err := m.Sample(context.Background(), train.Rows(), rand.Uint64(),
		func(t *table.Table) error { syn = t; return nil }); err != nil {
		return out, err
	}
	out[3] = time.Since(start).Seconds()
	for i := range 2 {
		if out[i], err = eval.MarginalError(train, syn, i+1); err != nil {
			return out, err
		}
	}
	counts := make([]int64, syn.Schema().Sizes()[syn.Schema().Index(task.Label)])
	syn.CountTo(counts, []int{syn.Schema().Index(task.Label)})
	out[4] = 100 * float64(counts[task.Positive]) / float64(syn.Rows())
	p, err := eval.TSTR(syn, holdout, task)
	if errors.Is(err, eval.ErrOneClass) {
		out[2] = .5
		return out, nil
	}
	out[2] = p.AUROC
	return out, err
}

// spread is the mean of the values and, in brackets, the smallest and the largest.
func spread(x []float64, digits int) string {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, sum/float64(len(x)), digits, slices.Min(x),
		digits, slices.Max(x))
}
