// Command bench prints the figures of the README and of docs:
//
//	go run ./internal/cmd/bench methods -discrete DIR [-tables adult,nltcs]
//	go run ./internal/cmd/bench methods -table adult.csv -schema adult.yaml -label income \
//	    -positive '>50K' [-variants 'mst,aim target=income'] [-certificates 'wgan post_steps=1']
//	go run ./internal/cmd/bench train -table adult.csv -schema adult.yaml -label income
//	go run ./internal/cmd/bench methods -simulated parity,mixture,tails -epsilon 1,10
//	go run ./internal/cmd/bench queries [-only mwem,forms,answers,smalldb]
//	go run ./internal/cmd/bench schemas -tables DIR [-runs 60]
//	go run ./internal/cmd/bench bins -tables DIR [-variants mst,aim] [-columns]
//	go run ./internal/cmd/bench bought -tables DIR [-names adult,bank] [-runs 3]
//	go run ./internal/cmd/bench newcomer -tables DIR [-decoy PROGRAM]
//	go run ./internal/cmd/bench constraints [-rows 1000000]
//	go run ./internal/cmd/bench join -table adult.csv -schema adult.yaml [-by education]
//	go run ./internal/cmd/bench collect -table adult.csv -schema adult.yaml -rows 10000 -epsilon 2
//	go run ./internal/cmd/bench intervals [-variant mst] [-rows 10000] [-epsilon 1]
//	go run ./internal/cmd/bench peers -discrete DIR NAME=COMMAND...
//	go run ./internal/cmd/bench timed [-runs 5] COMMAND ARGUMENTS...
//
// methods is the error of methods on public tables, and what a prediction trained on their rows is
// worth; train how well private classifiers predict; queries the time and error of answers to
// workloads on tables drawn here; schemas how good schemas are that are bought of public tables;
// bought what a run that buys its schema loses by it; newcomer what somebody needs who has nothing
// but tables;
// bins what bins of numbers cost in error, public and bought;
// constraints whether methods keep those of a schema, and what it costs; join how good a model is
// that several parties' models are joined to; collect how good one of randomised answers is;
// intervals how often confidence intervals hold the truth; peers how good the tables of other
// programs are; timed the time and memory of a command.
// Noise is secret and fresh in each run.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

func main() {
	verbs := map[string]func([]string){
		"bought": oneCommand, "newcomer": newcomer,
		"bins": binned, "methods": methods, "queries": queries, "schemas": schemas,
		"constraints": constraints, "join": join, "collect": collected, "peers": peers,
		"intervals": intervals, "timed": timed, "train": trained,
	}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: the first argument is bins, bought, methods, "+
			"newcomer, train, queries, schemas, constraints, join, collect, peers, intervals or timed")
		os.Exit(2)
	}
	verbs[os.Args[1]](os.Args[2:])
}

// check ends the program: a figure cannot be computed.
func check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// must is a value that could be computed.
func must[T any](x T, err error) T {
	check(err)
	return x
}

// budgetOf adds -epsilon; delta is 1e-9.
func budgetOf(f *flag.FlagSet) *accountant.Budget {
	b := &accountant.Budget{Delta: 1e-9}
	f.Float64Var(&b.Epsilon, "epsilon", 1, "budget of each run; delta is 1e-9")
	return b
}

// runsOf adds -runs.
func runsOf(f *flag.FlagSet, usual int) *int { return f.Int("runs", usual, "runs of each line") }

// fitted is the model of a table.
func fitted(t *table.Table, f synth.Fitter, b accountant.Budget) *release.Model {
	m, _, err := synth.Run(context.Background(), privacy.FromTable(t), f,
		synth.RunOptions{Options: privacy.Options{Budget: b, Tool: "bench"}})
	check(err)
	return m
}

// drawnFrom is a table of n rows of a model.
func drawnFrom(m *release.Model, n int) (out *table.Table) {
	check(m.Sample(context.Background(), n, rand.Uint64(), func(t *table.Table) error {
		out = t
		return nil
	}))
	return out
}
