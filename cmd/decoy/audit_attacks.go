package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
)

// The attacks of --attack.
const (
	manyRun        = "many-run"
	oneRun         = "one-run"
	ltuAttack      = "ltu"
	shadowAttack   = "shadow"
	distanceAttack = "distance"
)

var attackNames = []string{manyRun, oneRun, ltuAttack, shadowAttack, distanceAttack}

// fitter is the method that METHOD names, nil for a mechanism of the gate.
func (a *audit) fitter(cmd *cobra.Command, method string) (synth.Fitter, error) {
	if slices.Contains(attack.GateNames(), method) {
		if a.attack != manyRun {
			return nil, usagef("--attack %s is for methods; %s is a mechanism of the gate", a.attack,
				method)
		}
		return nil, nil
	}
	if !slices.Contains(all.Names(), method) {
		return nil, usagef("METHOD %q is unknown; there is %s, and of the gate %s", method,
			strings.Join(all.Names(), ", "), strings.Join(attack.GateNames(), ", "))
	}
	a.Method = method
	return a.method(cmd)
}

// attacker runs the attack of --attack.
type attacker struct {
	*audit
	ctx    context.Context
	fitter synth.Fitter // nil for a mechanism of the gate
	schema *schema.Schema
	shapes []attack.Shape
	shown  *progress
}

// defaultRows are the rows of the random tables of ltu, shadow and distance.
const defaultRows = 500

func (a attacker) run(out *audited) error {
	rows := cmp.Or(a.rows, defaultRows)
	switch a.attack {
	case oneRun:
		r, err := attack.OneRun(a.ctx, a.fitter, a.schema, out.Adjacency, out.Budget,
			attack.OneRunOptions{Canaries: a.canaries, Confidence: a.confidence})
		out.OneRun, out.Epsilon, out.Refuted = &r, r.Epsilon, r.Refuted
		return err
	case ltuAttack:
		t, err := attack.RandomTable(a.schema, rows)
		if err != nil {
			return err
		}
		r, err := attack.LTU(a.ctx, a.fitter, t, out.Budget,
			attack.Options{Runs: a.runs, Confidence: a.confidence, Progress: a.progress(0, 1)})
		out.Rounds, out.Epsilon, out.Refuted = &r, r.Epsilon, r.Refuted
		return err
	case distanceAttack:
		t, err := attack.RandomTable(a.schema, 2*rows)
		if err != nil {
			return err
		}
		r, err := attack.DistanceOf(a.ctx, a.fitter, t, out.Budget, a.confidence)
		out.Distance, out.Epsilon, out.Refuted = &r, r.Epsilon, r.Refuted
		return err
	case shadowAttack:
		return a.shadow(out, rows)
	}
	for i, shape := range a.shapes {
		m, pair, err := a.mechanism(out, shape)
		if err != nil {
			return err
		}
		r, err := attack.ManyRun(a.ctx, m, pair, attack.Options{
			Runs: a.runs, Confidence: 1 - (1-a.confidence)/float64(len(a.shapes)),
			Progress: a.progress(i, len(a.shapes)),
		})
		if err != nil {
			return err
		}
		out.add(r)
	}
	return nil
}

// mechanism makes what is audited, and the tables to run it on.
func (a attacker) mechanism(
	out *audited, shape attack.Shape,
) (attack.Mechanism, *attack.Pair, error) {
	if a.fitter == nil {
		return attack.Gate(out.Method, a.schema, out.Adjacency, out.Budget, shape)
	}
	return attack.Method(a.fitter, a.schema, out.Adjacency, out.Budget, shape, a.rows)
}

// shadow attacks the row with the last code in every column, among random ones.
func (a attacker) shadow(out *audited, rows int) error {
	reference, err := attack.RandomTable(a.schema, 2*rows)
	if err != nil {
		return err
	}
	target := make([]uint16, len(a.schema.Columns))
	for i, n := range a.schema.Sizes() {
		target[i] = uint16(n - 1)
	}
	r, err := attack.Shadow(a.ctx, a.fitter, reference, target, out.Adjacency, out.Budget,
		attack.ShadowOptions{
			Options: attack.Options{Runs: a.runs, Confidence: a.confidence, Progress: a.progress(0, 1)},
			Rows:    rows,
		})
	if err != nil {
		return err
	}
	out.add(r)
	return nil
}

// add takes the result of one more audit.
func (out *audited) add(r attack.Result) {
	out.Audits = append(out.Audits, r)
	out.Epsilon = max(out.Epsilon, r.Epsilon)
	out.Refuted = out.Refuted || r.Refuted
}

// progress is that of part i of n.
func (a attacker) progress(i, n int) func(done, runs int) {
	return func(done, runs int) {
		a.shown.report("attacking", (float64(i)+float64(done)/float64(runs))/float64(n))
	}
}
