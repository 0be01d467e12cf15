package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/release"
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
	m, err := openModel(args[0])
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
			q, u = make([][]float64, len(found)), make([][]float64, len(found))
			for _, e := range found {
				names = append(names, e.name)
			}
		}
		if len(found) != len(names) {
			return fmt.Errorf("table %d: the program printed %d estimates, and %d of the first table",
				i+1, len(found), len(names))
		}
		for k, e := range found {
			if e.name != names[k] {
				return fmt.Errorf("table %d: estimate %d is %q, and %q of the first table", i+1, k+1,
					e.name, names[k])
			}
			q[k], u[k] = append(q[k], e.value), append(u[k], e.variance)
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

// estimate is a line of a program.
type estimate struct {
	name            string
	value, variance float64
}

// once runs the program on one table.
func (a *analyze) once(
	ctx context.Context, m *release.Model, rows int, seed uint64,
) ([]estimate, error) {
	var in, out, said bytes.Buffer
	how := drawn{Rows: rows, Seed: seed}
	if err := how.draw(ctx, &in, m, func(float64) {}); err != nil {
		return nil, err
	}
	program := exec.CommandContext(ctx, "sh", "-c", a.program)
	program.Stdin, program.Stdout, program.Stderr = &in, &out, &said
	if err := program.Run(); err != nil {
		text, _ := io.ReadAll(io.LimitReader(&said, 500))
		return nil, fmt.Errorf("the program failed: %w %s", err, spelling.Visible(string(text)))
	}
	var found []estimate
	for line := range strings.Lines(out.String()) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := estimate{name: words[0]}
		var bad, worse error
		if len(words) == 3 {
			e.value, bad = strconv.ParseFloat(words[1], 64)
			e.variance, worse = strconv.ParseFloat(words[2], 64)
		}
		if len(words) != 3 || bad != nil || worse != nil || !(e.variance >= 0) ||
			math.IsInf(e.variance, 0) || math.IsInf(e.value, 0) || math.IsNaN(e.value) {
			return nil, fmt.Errorf("the program printed %q, want NAME ESTIMATE VARIANCE",
				strings.TrimSpace(line))
		}
		found = append(found, e)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the program printed no estimate")
	}
	return found, nil
}
