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
	s, err := configs.SchemaOf(a.Schema, a.Dataset)
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
	file, err := t.create("--json", a.json, configs.ReleaseMode)
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
	if a.json != configs.Standard {
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
func (a *audit) check(cmd *cobra.Command) ([]string, error) {
	switch {
	case typedNow(cmd, "method"):
		return nil, usagef("--method: METHOD is an operand of this verb")
	case !(a.confidence > 0 && a.confidence < 1):
		return nil, usagef("--confidence %v must be between 0 and 1", a.confidence)
	case a.tables == "all":
		return attack.Shapes(), nil
	}
	return []string{a.tables}, nil
}

func (out audited) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\nclaim\t%s\nneighbours\t%s\nconfidence\t%s of all that follows "+
		"together\n", out.Method, configs.BudgetText(out.Budget), out.Neighbours, percent(out.Confidence))
	for _, r := range out.Audits {
		out.found(w, r)
	}
}

// found writes the result of one attack.
func (out audited) found(w io.Writer, r attack.Result) {
	what, g := "guesses", r.Guessed
	switch out.Attack {
	case oneRun:
		fmt.Fprintf(w, "one run\t%d of %d guesses right, on %d canaries\n", g.Right, g.Made, g.Canaries)
	case ltuAttack:
		fmt.Fprintf(w, "rounds\t%d of %d guesses right; the claim allows %s\n", g.Right, g.Made,
			percent(g.Limit))
	case distanceAttack:
		fmt.Fprintf(w, "distance\t%d of %d pairs right: the nearer row was in\n", g.Right, g.Made)
	default:
		what = "runs"
		fmt.Fprintf(w, "tables\t%s: %d runs a side, %d of them to find out what to count\n", r.Tables,
			r.Runs, r.Pilot)
	}
	if g != nil {
		fmt.Fprintf(w, "  privacy\t%.3f, from %.3f to %.3f (1: the attacker guesses, 0: he knows)\n",
			g.Privacy, g.PrivacyLow, g.PrivacyHigh)
	}
	fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f; so many %s can show at most %.3f\n", r.Epsilon,
		what, r.Ceiling)
	if g == nil && out.Budget.Delta > 0 {
		fmt.Fprintf(w, "  if Gaussian\tepsilon ≥ %.3f, from μ ≥ %.3f\n", r.Gaussian, r.Mu)
	}
	if r.AUROC > 0 {
		fmt.Fprintf(w, "  attacker\tAUROC %.3f, finds %s at 1 %% false alarms\n", r.AUROC, percent(r.TPR))
	}
	if b := r.Broken; b != nil {
		fmt.Fprintf(w, "  account\texceeded: at epsilon %s it promises delta ≤ %.4g, the runs show at "+
			"least %.4g\n", configs.Short(b.Epsilon), b.Claimed, b.Shown)
	} else if g == nil {
		fmt.Fprintf(w, "  account\tnothing exceeds it\n")
	}
}

// verdict is errRefuted, with the reason, if the claim does not hold.
func (out audited) verdict() error {
	if !out.Refuted {
		return nil
	}
	if out.Epsilon > out.Budget.Epsilon {
		return fmt.Errorf("%w: %s spends epsilon %.3f at least, more than the %s it claims, at %s "+
			"confidence", errRefuted, out.Method, out.Epsilon, configs.Short(out.Budget.Epsilon),
			percent(out.Confidence))
	}
	var worst attack.Break // the point of the account that is exceeded most
	for _, r := range out.Audits {
		if b := r.Broken; b != nil && b.Shown-b.Claimed > worst.Shown-worst.Claimed {
			worst = *b
		}
	}
	return fmt.Errorf("%w: %s exceeds its account, which at epsilon %s promises delta ≤ %.4g where "+
		"the runs show %.4g at least, at %s confidence", errRefuted, out.Method,
		configs.Short(worst.Epsilon), worst.Claimed, worst.Shown, percent(out.Confidence))
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
	if !slices.Contains(synth.Names(), method) {
		return nil, usagef("METHOD %q is unknown; there is %s, and of the gate %s", method,
			strings.Join(synth.Names(), ", "), strings.Join(attack.GateNames(), ", "))
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
	shapes []string // of tables
	shown  *progress
}

func (a attacker) run(out *audited) error {
	rows := cmp.Or(a.rows, 500) // of the random tables of ltu, shadow and distance
	o := attack.Options{Runs: a.runs, Rows: rows, Canaries: a.canaries,
		Confidence: a.confidence, Progress: a.progress(0, 1)}
	switch a.attack {
	case manyRun:
		return a.manyRun(out, o)
	case oneRun:
		return out.add(attack.OneRun(a.ctx, a.fitter, a.schema, out.Adjacency, out.Budget, o))
	}
	if a.attack != ltuAttack { // the one half is in
		rows *= 2
	}
	t, err := attack.RandomTable(a.schema, rows)
	switch {
	case err != nil:
		return err
	case a.attack == ltuAttack:
		return out.add(attack.LTU(a.ctx, a.fitter, t, out.Budget, o))
	case a.attack == shadowAttack:
		return out.add(attack.Shadow(a.ctx, a.fitter, t, nil, out.Adjacency, out.Budget, o))
	}
	return out.add(attack.DistanceOf(a.ctx, a.fitter, t, out.Budget, a.confidence))
}

// manyRun audits on tables of each shape.
func (a attacker) manyRun(out *audited, o attack.Options) error {
	for i, shape := range a.shapes {
		m, pair, err := a.mechanism(out, shape)
		if err != nil {
			return err
		}
		o.Confidence = 1 - (1-a.confidence)/float64(len(a.shapes))
		o.Progress = a.progress(i, len(a.shapes))
		if err := out.add(attack.ManyRun(a.ctx, m, pair, o)); err != nil {
			return err
		}
	}
	return nil
}

// mechanism makes what is audited, and the tables to run it on.
func (a attacker) mechanism(
	out *audited, shape string,
) (attack.Mechanism, *attack.Pair, error) {
	if out.Method == attack.Collect {
		return respondent(a.schema, out.Budget.Epsilon)
	}
	if a.fitter == nil {
		return attack.Gate(out.Method, a.schema, out.Adjacency, out.Budget, shape)
	}
	return attack.Method(a.fitter, a.schema, out.Adjacency, out.Budget, shape, a.rows)
}

// respondent is an answer to a form of the schema.
func respondent(s *schema.Schema, epsilon float64) (attack.Mechanism, *attack.Pair, error) {
	form, err := analysis.NewForm(s, epsilon)
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
	return attack.Respondent(s, epsilon, answer)
}

// add takes the result of one more audit.
func (out *audited) add(r attack.Result, err error) error {
	out.Audits = append(out.Audits, r)
	out.Epsilon = max(out.Epsilon, r.Epsilon)
	out.Refuted = out.Refuted || r.Refuted
	return err
}

// progress is that of part i of n.
func (a attacker) progress(i, n int) func(done, runs int) {
	return func(done, runs int) {
		a.shown.report("attacking", (float64(i)+float64(done)/float64(runs))/float64(n))
	}
}
