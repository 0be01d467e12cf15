package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
)

// errRefuted is a claim that an audit disproved.
var errRefuted = errors.New("the claim is refuted")

// audit are the flags of decoy audit.
type audit struct {
	jobFlags
	attack, tables string
	runs, rows     int
	canaries       int
	confidence     float64
	json           string
}

func auditCommand(t *terminal) *cobra.Command {
	a := &audit{jobFlags: newJob(), runs: 400, attack: manyRun, tables: "all", canaries: 1000,
		confidence: .95}
	cmd := t.verb("audit", a.run, a.flags(), flags{"runs": &a.runs, "attack": &a.attack,
		"tables": &a.tables, "rows": &a.rows, "canaries": &a.canaries, "confidence": &a.confidence,
		"json": &a.json})
	cmd.Flags().MarkHidden("method") // is the operand
	return cmd
}

func shapeNames() (names []string) {
	for _, s := range attack.Shapes() {
		names = append(names, string(s))
	}
	return names
}

// audited is the result of all audits of a run of the verb, as JSON.
type audited struct {
	Method     string                 `json:"method"`
	Attack     string                 `json:"attack"`
	Budget     accountant.Budget      `json:"budget"`
	Adjacency  accountant.Adjacency   `json:"adjacency"`
	Neighbours string                 `json:"neighbours"`
	Confidence float64                `json:"confidence"`
	Epsilon    float64                `json:"epsilon_lower"`
	Refuted    bool                   `json:"refuted"`
	Audits     []attack.Result        `json:"audits,omitempty"`   // of many-run and shadow
	OneRun     *attack.OneRunResult   `json:"one_run,omitempty"`  // of one-run
	Rounds     *attack.Accuracy       `json:"rounds,omitempty"`   // of ltu
	Distance   *attack.DistanceResult `json:"distance,omitempty"` // of distance
}

func (a *audit) run(cmd *cobra.Command, t *terminal, args []string) error {
	method := args[0]
	shapes, err := a.check(cmd)
	if err != nil {
		return err
	}
	if err := a.checkBudget(); err != nil {
		return err
	}
	adjacency := a.Relation()
	fitter, err := a.fitter(cmd, method)
	if err != nil {
		return err
	}
	s, err := job.SchemaOf(a.Schema, a.Dataset)
	if err != nil {
		return err
	}
	if a.attack == ltuAttack || a.attack == distanceAttack {
		adjacency = accountant.ReplaceOne // the only relation in which it makes sense
	}
	if method == attack.Collect { // a local guarantee, which is pure, of one row: one pair of tables
		for _, name := range []string{"delta", "adjacency", "tables"} {
			if cmd.Flags().Lookup(name).Changed {
				return usagef("--%s is not for collect: an answer is audited under replace-one with delta 0, "+
					"on one pair of tables", name)
			}
		}
		adjacency, a.Delta, shapes = accountant.ReplaceOne, 0, shapes[:1]
	}
	file, err := t.create("--json", a.json, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer file.Abort()
	shown := t.progress()
	out := audited{Method: method, Attack: a.attack, Budget: a.Budget(), Adjacency: adjacency,
		Neighbours: privacy.NeighboursOf(s, adjacency).Units(s.Unit).Words(), Confidence: a.confidence}
	err = attacker{audit: a, ctx: cmd.Context(), fitter: fitter, schema: s, shapes: shapes,
		shown: shown}.run(&out)
	if err != nil {
		return err
	}
	if a.json != job.Standard {
		if err := t.print(out); err != nil {
			return err
		}
	}
	if err := t.deliver(file, "", func(w io.Writer) error { return encode(w, out) }); err != nil {
		return err
	}
	return out.verdict()
}

// check validates the audit's own flags.
func (a *audit) check(cmd *cobra.Command) ([]attack.Shape, error) {
	switch {
	case typedNow(cmd, "method"):
		return nil, usagef("--method: METHOD is an operand of this verb")
	case !(a.confidence > 0 && a.confidence < 1):
		return nil, usagef("--confidence %v must be between 0 and 1", a.confidence)
	case a.tables == "all":
		return attack.Shapes(), nil
	}
	return []attack.Shape{attack.Shape(a.tables)}, nil
}

func (out audited) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\n", out.Method)
	fmt.Fprintf(w, "claim\t%s\n", job.BudgetText(out.Budget))
	fmt.Fprintf(w, "neighbours\t%s\n", out.Neighbours)
	fmt.Fprintf(w, "confidence\t%s of all that follows together\n", percent(out.Confidence))
	for _, r := range out.Audits {
		fmt.Fprintf(w, "tables\t%s: %d runs a side, %d of them to find out what to count\n", r.Tables,
			r.Runs, r.Pilot)
		fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f; so many runs can show at most %.3f\n", r.Epsilon,
			r.Ceiling)
		if out.Budget.Delta > 0 {
			fmt.Fprintf(w, "  if Gaussian\tepsilon ≥ %.3f, from μ ≥ %.3f\n", r.Gaussian, r.Mu)
		}
		fmt.Fprintf(w, "  attacker\tAUROC %.3f, finds %s at 1 %% false alarms\n", r.AUROC, percent(r.TPR))
		if r.Broken == nil {
			fmt.Fprintf(w, "  account\tnothing exceeds it\n")
		} else {
			fmt.Fprintf(w, "  account\texceeded: at epsilon %s it promises delta ≤ %.4g, the runs show at "+
				"least %.4g\n", job.Short(r.Broken.Epsilon), r.Broken.Claimed, r.Broken.Shown)
		}
	}
	if r := out.OneRun; r != nil {
		fmt.Fprintf(w, "one run\t%d of %d guesses right, on %d canaries\n", r.Right, r.Guesses,
			r.Canaries)
		fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f; so many guesses can show at most %.3f\n",
			r.Epsilon, r.Ceiling)
	}
	if r := out.Rounds; r != nil {
		fmt.Fprintf(w, "rounds\t%d of %d guesses right; the claim allows %s\n", r.Right, r.Rounds,
			percent(r.Limit))
		fmt.Fprintf(w, "  privacy\t%.3f, from %.3f to %.3f (1: the attacker guesses, 0: he knows)\n",
			r.Privacy, r.PrivacyLow, r.PrivacyHigh)
		fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f\n", r.Epsilon)
	}
	if r := out.Distance; r != nil {
		fmt.Fprintf(w, "distance\t%d of %d pairs right: the nearer row was in\n", r.Accuracy.Right,
			r.Accuracy.Rounds)
		fmt.Fprintf(w, "  attacker\tAUROC %.3f, finds %s at 1 %% false alarms\n", r.AUROC, percent(r.TPR))
		fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f\n", r.Epsilon)
	}
}

// verdict is errRefuted, with the reason, if the claim does not hold.
func (out audited) verdict() error {
	if !out.Refuted {
		return nil
	}
	if out.Epsilon > out.Budget.Epsilon {
		return fmt.Errorf("%w: %s spends epsilon %.3f at least, more than the %s it claims, at %s "+
			"confidence", errRefuted, out.Method, out.Epsilon, job.Short(out.Budget.Epsilon),
			percent(out.Confidence))
	}
	worst := out.worst()
	return fmt.Errorf("%w: %s exceeds its account, which at epsilon %s promises delta ≤ %.4g where "+
		"the runs show %.4g at least, at %s confidence", errRefuted, out.Method,
		job.Short(worst.Epsilon), worst.Claimed, worst.Shown, percent(out.Confidence))
}

// worst is the point of the account that is exceeded most.
func (out audited) worst() (worst attack.Break) {
	for _, r := range out.Audits {
		if b := r.Broken; b != nil && b.Shown-b.Claimed > worst.Shown-worst.Claimed {
			worst = *b
		}
	}
	return worst
}

// percent is a share for people.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }

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
