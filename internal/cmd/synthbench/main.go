// Command synthbench prints the marginal error of a method on public tables, the numbers of the README.
//
//	go run ./internal/cmd/synthbench -discrete DIR [-tables adult,nltcs] [-method mst] [-epsilon .1,1,10] [-runs 3]
//
// DIR holds NAME.csv of integer codes and NAME-domain.json (column name → number of codes), the form the marginal literature uses.
// Each run draws fresh secret noise; error is the mean total variation distance of all two-way and three-way marginals
// between as many synthetic rows as real ones and the real rows. Without DIR it says so and does nothing.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
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
	flag.Parse()
	if *dir == "" {
		fmt.Println("synthbench: skipped, -discrete names no folder of tables")
		return nil
	}
	fitter, err := all.Fitter(*method)
	if err != nil {
		return err
	}
	fmt.Printf("%-8s %-6s %7s  %-22s %-22s %s\n", "table", "method", "epsilon", "two-way error", "three-way error", "seconds to fit and sample")
	for _, name := range strings.Split(*names, ",") {
		s, err := discreteSchema(filepath.Join(*dir, name+"-domain.json"))
		if err != nil {
			return err
		}
		real, _, err := table.Read(context.Background(), filepath.Join(*dir, name+".csv"), s, table.ReadOptions{})
		if err != nil {
			return err
		}
		for _, e := range strings.Split(*epsilons, ",") {
			epsilon, err := strconv.ParseFloat(e, 64)
			if err != nil {
				return fmt.Errorf("-epsilon: %q is not a number", e)
			}
			var two, three, seconds []float64
			for range *runs {
				r, err := once(real, fitter, accountant.Budget{Epsilon: epsilon, Delta: *delta})
				if err != nil {
					return err
				}
				two, three, seconds = append(two, r[0]), append(three, r[1]), append(seconds, r[2])
			}
			fmt.Printf("%-8s %-6s %7v  %-22s %-22s %s\n", name, *method, epsilon, spread(two, "%.4f"), spread(three, "%.4f"), spread(seconds, "%.2f"))
		}
	}
	return nil
}

// once fits and samples one time: two-way error, three-way error, seconds.
func once(real *table.Table, f synth.Fitter, b accountant.Budget) ([3]float64, error) {
	var out [3]float64
	start := time.Now()
	m, _, err := synth.Run(context.Background(), privacy.FromTable(real), f, synth.RunOptions{Budget: b, Tool: "synthbench"})
	if err != nil {
		return out, err
	}
	var syn *table.Table
	err = m.Sample(context.Background(), real.Rows(), uint64(start.UnixNano()), func(t *table.Table) error { syn = t; return nil })
	if err != nil {
		return out, err
	}
	out[2] = time.Since(start).Seconds()
	if out[0], err = eval.MarginalError(real, syn, 2); err != nil {
		return out, err
	}
	out[1], err = eval.MarginalError(real, syn, 3)
	return out, err
}

// spread is the mean of the values and, behind it, the smallest and the largest.
func spread(x []float64, format string) string {
	lo, hi, sum := x[0], x[0], 0.0
	for _, v := range x {
		lo, hi, sum = min(lo, v), max(hi, v), sum+v
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", sum/float64(len(x)), lo, hi)
}

// discreteSchema makes a schema from a domain file; the order of columns is that of the file.
func discreteSchema(path string) (*schema.Schema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &schema.Schema{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var size int
		if err := dec.Decode(&size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c := schema.Column{Name: fmt.Sprint(name), Kind: schema.Categorical}
		for i := range size {
			c.Categories = append(c.Categories, strconv.Itoa(i))
		}
		s.Columns = append(s.Columns, c)
	}
	return s, s.Validate()
}
