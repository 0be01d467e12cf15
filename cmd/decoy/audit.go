package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// errRefuted is a claim that an audit disproved.
var errRefuted = errors.New("the claim is refuted")

// audit are the flags of decoy audit.
type audit struct {
	jobFlags
	attack.Options
	attack, tables string
}

func auditCommand(t *terminal) *cobra.Command {
	a := &audit{jobFlags: newJob(), attack: manyRun, tables: "all",
		Options: attack.Options{Runs: 400, Canaries: 1000, Confidence: .95}}
	cmd := t.verb("audit", a.run, a.flags(), flags{"runs": &a.Runs, "attack": &a.attack,
		"tables": &a.tables, "rows": &a.Options.Rows, "canaries": &a.Canaries,
		"confidence": &a.Confidence})
	cmd.Flags().MarkHidden("method") // is the operand
	return cmd
}

// audited is the result of all audits of a run of the verb, as JSON.
type audited struct {
	Method     string               `json:"method"`
	Attack     string               `json:"attack"`
	Budget     accountant.Budget    `json:"budget"`
	Adjacency  accountant.Adjacency `json:"adjacency"`
	Neighbours string               `json:"neighbours"`
	Confidence float64              `json:"confidence"`
	Epsilon    float64              `json:"epsilon_lower"`
	Refuted    bool                 `json:"refuted"`
	Audits     []attack.Result      `json:"audits"`
}

func (a *audit) run(cmd *cobra.Command, t *terminal, args []string) error {
	switch {
	case typedNow(cmd, "method"):
		return usagef("--method: METHOD is an operand of this verb")
	case !(a.Confidence > 0 && a.Confidence < 1):
		return usagef("--confidence %v must be between 0 and 1", a.Confidence)
	}
	if err := a.checkBudget(); err != nil {
		return err
	}
	a.Method = args[0]
	fitter, err := a.fitter(cmd)
	if err != nil {
		return err
	}
	s, err := configs.SchemaOf(a.Schema, a.Dataset)
	if err != nil {
		return err
	}
	out := audited{Method: a.Method, Attack: a.attack, Adjacency: a.Relation(),
		Confidence: a.Confidence}
	if a.attack == ltuAttack || a.attack == distanceAttack {
		out.Adjacency = accountant.ReplaceOne // the only relation in which it makes sense
	}
	shapes := attack.Shapes()
	if a.tables != "all" || a.attack != manyRun { // the other attacks have random tables
		shapes = []string{a.tables}
	}
	if a.Method == attack.Collect { // a local guarantee, which is pure, of one row: one pair of tables
		for _, name := range []string{"delta", "adjacency", "tables"} {
			if cmd.Flags().Lookup(name).Changed {
				return usagef("--%s is not for collect: an answer is audited under replace-one with delta 0, "+
					"on one pair of tables", name)
			}
		}
		out.Adjacency, a.Delta, shapes = accountant.ReplaceOne, 0, shapes[:1]
	}
	out.Budget = a.Budget()
	out.Neighbours = privacy.NeighboursOf(s, out.Adjacency).Units(s.Unit).Words()
	shown := t.progress()
	n := float64(len(shapes))
	a.Options.Confidence = 1 - (1-a.Confidence)/n
	for i, shape := range shapes {
		a.Progress = func(done, runs int) {
			shown.report("attacking", (float64(i)+float64(done)/float64(runs))/n)
		}
		r, err := a.once(cmd.Context(), fitter, s, &out, shape)
		if err != nil {
			return err
		}
		out.Audits = append(out.Audits, r)
		out.Epsilon, out.Refuted = max(out.Epsilon, r.Epsilon), out.Refuted || r.Refuted
	}
	return cmp.Or(t.print(out), out.verdict())
}

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
func (a *audit) fitter(cmd *cobra.Command) (synth.Fitter, error) {
	switch gate := slices.Contains(attack.GateNames(), a.Method); {
	case gate && a.attack != manyRun:
		return nil, usagef("--attack %s is for methods; %s is a mechanism of the gate", a.attack,
			a.Method)
	case gate:
		return nil, nil
	case !slices.Contains(synth.Names(), a.Method):
		return nil, usagef("METHOD %q is unknown; there is %s, and of the gate %s", a.Method,
			strings.Join(synth.Names(), ", "), strings.Join(attack.GateNames(), ", "))
	}
	return a.method(cmd)
}

// once runs the attack of --attack, on tables of a shape.
func (a *audit) once(
	ctx context.Context, f synth.Fitter, s *schema.Schema, out *audited, shape string,
) (attack.Result, error) {
	o := a.Options
	switch a.attack {
	case manyRun:
		m, pair, err := a.mechanism(f, s, out, shape)
		if err != nil {
			return attack.Result{}, err
		}
		return attack.ManyRun(ctx, m, pair, o)
	case oneRun:
		o.Rows = cmp.Or(o.Rows, randomRows)
		return attack.OneRun(ctx, f, s, out.Adjacency, out.Budget, o)
	}
	rows := cmp.Or(o.Rows, randomRows)
	o.Rows = rows
	if a.attack != ltuAttack { // the one half is in
		rows *= 2
	}
	t, err := attack.RandomTable(s, rows)
	switch {
	case err != nil:
		return attack.Result{}, err
	case a.attack == ltuAttack:
		return attack.LTU(ctx, f, t, out.Budget, o)
	case a.attack == shadowAttack:
		return attack.Shadow(ctx, f, t, nil, out.Adjacency, out.Budget, o)
	}
	return attack.DistanceOf(ctx, f, t, out.Budget, a.Confidence)
}

// randomRows is how many rows a random table has where --rows does not say it.
const randomRows = 500

// mechanism makes what is audited, and the tables to run it on.
func (a *audit) mechanism(
	f synth.Fitter, s *schema.Schema, out *audited, shape string,
) (attack.Mechanism, *attack.Pair, error) {
	switch {
	case f != nil:
		return attack.Method(f, s, out.Adjacency, out.Budget, shape, a.Options.Rows)
	case a.Method != attack.Collect:
		return attack.Gate(a.Method, s, out.Adjacency, out.Budget, shape)
	}
	form, err := analysis.NewForm(s, a.Epsilon)
	if err != nil {
		return attack.Mechanism{}, nil, err
	}
	answer := func(ctx context.Context, t *table.Table) (named []int, cells int, err error) {
		a, _, err := form.Answer(ctx, privacy.FromTable(t), analysis.Run[analysis.Answer]{})
		if err != nil {
			return nil, 0, err
		}
		cells, _, _ = a.Odds()
		return a.Named, cells, nil
	}
	return attack.Respondent(s, a.Epsilon, answer)
}

// verdict is errRefuted, with the reason, if the claim does not hold.
func (out audited) verdict() error {
	if !out.Refuted {
		return nil
	}
	return fmt.Errorf("%w: %s spends epsilon %.3f at least of the %s it claims, or more delta at "+
		"some epsilon, at %s confidence", errRefuted, out.Method, out.Epsilon,
		configs.Short(out.Budget.Epsilon), percent(out.Confidence))
}

// percent is a share for people.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }
