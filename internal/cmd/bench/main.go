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
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth/all"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "methods" {
		fmt.Fprintln(os.Stderr, "bench: the first argument is methods")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("methods", flag.ExitOnError)
	var src tables
	src.flags(flags)
	variants := flags.String("variants", all.Auto, "methods, each with its settings")
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
