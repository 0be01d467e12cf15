package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
)

type analyze struct {
	program    string
	replicates int
	rows       int
	seed       uint64
}

func analyzeCommand(t *terminal) *cobra.Command {
	a := &analyze{replicates: 20}
	return t.verb("analyze", a.run, flags{"program": &a.program, "replicates": &a.replicates,
		"rows": &a.rows, "seed": &a.seed})
}

// analyzed is one estimate of a program.
type analyzed struct {
	Name          string     `json:"name"`
	Estimate      float64    `json:"estimate"`
	StandardError float64    `json:"standard_error"`
	Interval      [2]float64 `json:"interval_95"`
}

func (a *analyze) run(cmd *cobra.Command, t *terminal, args []string) error {
	m, err := openTable(args[0])
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	n := configs.DrawnRows(a.rows, m.Rows, m.Claim.Epsilon, t.say)
	var names []string
	var q, u [][]float64 // of each estimate, of each table
	shown := t.progress()
	err = m.Replicates(cmd.Context(), a.replicates, a.seed, func(i int, r *release.Model) error {
		shown.report("analyzing tables", float64(i)/float64(a.replicates))
		found, err := a.once(cmd.Context(), r, n, a.seed+uint64(i))
		if err != nil {
			return fmt.Errorf("table %d: %w", i+1, err)
		}
		if i == 0 {
			names = found.names
			q, u = make([][]float64, len(names)), make([][]float64, len(names))
		}
		if !slices.Equal(found.names, names) {
			return fmt.Errorf("table %d: the program printed the estimates %q, and %q of the first table",
				i+1, found.names, names)
		}
		for k := range names {
			q[k], u[k] = append(q[k], found.values[k]), append(u[k], found.variances[k])
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.say("%d tables of %d rows (seed %d)", a.replicates, n, a.seed)
	var out []analyzed
	for k, name := range names {
		mean, variance, freedom := eval.Combine(q[k], u[k], float64(n), m.Rows)
		factor := distuv.Normal{Sigma: 1}.Quantile(.975)
		if !math.IsInf(freedom, 1) {
			factor = distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(.975)
		}
		e := math.Sqrt(variance)
		out = append(out, analyzed{name, mean, e, [2]float64{mean - factor*e, mean + factor*e}})
	}
	return t.print(listing[analyzed]{out, "NAME\tESTIMATE\tSTANDARD ERROR\tFROM\tTO",
		func(a analyzed) string {
			return row(a.Name, configs.Short(a.Estimate), configs.Short(a.StandardError),
				configs.Short(a.Interval[0]), configs.Short(a.Interval[1]))
		}})
}

// programLines are the lines of a program.
type programLines struct {
	names             []string
	values, variances []float64
}

// once runs the program on one table.
func (a *analyze) once(
	ctx context.Context, m *release.Model, rows int, seed uint64,
) (found programLines, err error) {
	var in, out, said bytes.Buffer
	how := drawn{Rows: rows, Seed: seed}
	err = how.draw(ctx, []io.Writer{&in}, []string{configs.Standard}, m, func(float64) {})
	if err != nil {
		return found, err
	}
	program := exec.CommandContext(ctx, "sh", "-c", a.program)
	program.Stdin, program.Stdout, program.Stderr = &in, &out, &said
	if err := program.Run(); err != nil {
		text, _ := io.ReadAll(io.LimitReader(&said, 500))
		return found, fmt.Errorf("the program failed: %w %s", err, spelling.Visible(string(text)))
	}
	for line := range strings.Lines(out.String()) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var numbers [2]float64
		ok := len(words) == 3
		for i := range numbers {
			if ok {
				numbers[i], err = strconv.ParseFloat(words[1+i], 64)
				ok = err == nil && !math.IsInf(numbers[i], 0) && !math.IsNaN(numbers[i])
			}
		}
		if !ok || numbers[1] < 0 {
			return found, fmt.Errorf("the program printed %q, want NAME ESTIMATE VARIANCE",
				strings.TrimSpace(line))
		}
		found.names = append(found.names, words[0])
		found.values = append(found.values, numbers[0])
		found.variances = append(found.variances, numbers[1])
	}
	if len(found.names) == 0 {
		return found, fmt.Errorf("the program printed no estimate")
	}
	return found, nil
}
