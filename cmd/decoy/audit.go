package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth/all"
)

// errRefuted is a claim that an audit disproved.
var errRefuted = errors.New("the claim is refuted")

// audit are the flags of decoy audit.
type audit struct {
	budgetFlags
	schema, dataset string
	tables          string
	runs, rows      int
	confidence      float64
	json            string
}

func auditCommand(t *terminal) *cobra.Command {
	a := &audit{}
	cmd := manual{
		operands: "METHOD  synthesis method (" + strings.Join(all.Names(), ", ") + "),\n" +
			"        or one mechanism of the gate by itself (" + strings.Join(attack.GateNames(), ", ") + ")",
		session: `
$ decoy audit counts --dataset icu-severity --epsilon 4 --runs 1000
$ decoy audit mst --dataset icu-severity --epsilon 8 --runs 20 --tables balanced --json audit.json
`}.document(&cobra.Command{
		Use:   "audit METHOD --schema S|--dataset NAME --epsilon E [flags]",
		Short: "try to refute a method's guarantee by running it many times on worst-case tables",
		Long: `Run a method many times on neighbouring tables, made from the schema to be as easy to tell apart as possible, and bound from
below how much of epsilon it spends. It reads no data and spends no budget: the schema's columns are all it takes from you.

A bound above the claim refutes it at the stated confidence, and the exit status is 1. A bound below it proves nothing: it cannot
exceed what so many runs can show. The account behind the claim promises more than one epsilon: a point of its whole curve that the
runs exceed refutes it too. Audit at a large epsilon (8 or more) to test code, since the same code then shows the most.`,
		Args: operands("METHOD"),
	})
	a.budgetFlags.add(cmd)
	addSchema(cmd, &a.schema, &a.dataset)
	f := cmd.Flags()
	f.MarkHidden("method") // is the operand
	f.IntVar(&a.runs, "runs", 400, fmt.Sprintf("runs `N` on each of two tables, at least %d", attack.MinRuns))
	f.StringVar(&a.tables, "tables", "all", "worst-case tables `T`: "+strings.Join(shapeNames(), ", ")+", or all, which are audited one after the other")
	f.IntVar(&a.rows, "rows", 0, "rows `N` of these tables (default chosen from the planned noise)")
	f.Float64Var(&a.confidence, "confidence", .95, "confidence `C` of all bounds together")
	f.StringVar(&a.json, "json", "", "write the whole result to `FILE`, - for standard output")
	f.SetAnnotation("json", typedKey, []string{}) // a switch in other verbs
	f.SetAnnotation("rows", typedKey, []string{}) // of the synthetic table in other verbs
	complete(cmd, "tables", append(shapeNames(), "all")...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.run(cmd, t, args[0]) }
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
	Method     string               `json:"method"`
	Budget     accountant.Budget    `json:"budget"`
	Adjacency  accountant.Adjacency `json:"adjacency"`
	Neighbours string               `json:"neighbours"`
	Confidence float64              `json:"confidence"`
	Epsilon    float64              `json:"epsilon_lower"`
	Refuted    bool                 `json:"refuted"`
	Audits     []attack.Result      `json:"audits"`
}

func (a *audit) run(cmd *cobra.Command, t *terminal, method string) error {
	shapes, err := a.check(cmd)
	if err != nil {
		return err
	}
	budget, err := a.budget(cmd)
	if err != nil {
		return err
	}
	adjacency, err := parseAdjacency(a.adjacency)
	if err != nil {
		return err
	}
	mechanism, err := a.mechanism(cmd, method)
	if err != nil {
		return err
	}
	s, err := publicSchema(a.schema, a.dataset)
	if err != nil {
		return err
	}
	out := audited{Method: method, Budget: budget, Adjacency: adjacency, Neighbours: privacy.NeighboursOf(s, adjacency).String(), Confidence: a.confidence}
	file, err := a.open()
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Abort()
	}
	shown := t.progress()
	for i, shape := range shapes {
		m, pair, err := mechanism(s, adjacency, budget, shape)
		if err != nil {
			return err
		}
		r, err := attack.ManyRun(cmd.Context(), m, pair, attack.Options{
			Runs: a.runs, Confidence: 1 - (1-a.confidence)/float64(len(shapes)),
			Progress: func(done, runs int) {
				shown.report("running "+method, (float64(i)+float64(done)/float64(runs))/float64(len(shapes)))
			},
		})
		if err != nil {
			return err
		}
		out.Audits = append(out.Audits, r)
		out.Epsilon = max(out.Epsilon, r.Epsilon)
		out.Refuted = out.Refuted || r.Refuted
	}
	shown.finish()
	if err := a.write(t, out, file); err != nil {
		return err
	}
	return out.verdict()
}

// check validates the audit's own flags.
func (a *audit) check(cmd *cobra.Command) ([]attack.Shape, error) {
	if rankOf(cmd, "method") == fromCommandLine {
		return nil, usagef("--method: METHOD is an operand of this verb")
	}
	switch {
	case a.runs < attack.MinRuns:
		return nil, usagef("--runs %d must be at least %d", a.runs, attack.MinRuns)
	case !(a.confidence > 0 && a.confidence < 1):
		return nil, usagef("--confidence %v must be between 0 and 1", a.confidence)
	case a.rows < 0 || a.rows > 1e7:
		return nil, usagef("--rows %d must be from 1 to 10000000", a.rows)
	}
	if a.tables == "all" {
		return attack.Shapes(), nil
	}
	if !slices.Contains(shapeNames(), a.tables) {
		return nil, usagef("--tables %q must be %s or all", a.tables, strings.Join(shapeNames(), ", "))
	}
	return []attack.Shape{attack.Shape(a.tables)}, nil
}

// setup makes the mechanism to audit, and the tables to run it on.
type setup func(*schema.Schema, accountant.Adjacency, accountant.Budget, attack.Shape) (attack.Mechanism, *attack.Pair, error)

// mechanism finds what METHOD names.
func (a *audit) mechanism(cmd *cobra.Command, method string) (setup, error) {
	if slices.Contains(attack.GateNames(), method) {
		return func(s *schema.Schema, adj accountant.Adjacency, b accountant.Budget, shape attack.Shape) (attack.Mechanism, *attack.Pair, error) {
			return attack.Gate(method, s, adj, b, shape)
		}, nil
	}
	if !slices.Contains(all.Names(), method) {
		return nil, usagef("METHOD %q is unknown; there is %s, and of the gate %s", method, strings.Join(all.Names(), ", "), strings.Join(attack.GateNames(), ", "))
	}
	a.method = method
	f, err := a.fitter(cmd)
	if err != nil {
		return nil, err
	}
	return func(s *schema.Schema, adj accountant.Adjacency, b accountant.Budget, shape attack.Shape) (attack.Mechanism, *attack.Pair, error) {
		return attack.Method(f, s, adj, b, shape, a.rows)
	}, nil
}

// open starts the file of --json; nil for none and for standard output.
func (a *audit) open() (*atomicfile.File, error) {
	if a.json == "" || a.json == standard {
		return nil, nil
	}
	f, err := atomicfile.Create(a.json, releaseMode)
	if err != nil {
		return nil, fmt.Errorf("--json %w", err)
	}
	return f, nil
}

func (a *audit) write(t *terminal, out audited, file *atomicfile.File) error {
	if a.json == standard {
		return printJSON(t, out)
	}
	out.print(t)
	if file == nil {
		return nil
	}
	enc := json.NewEncoder(file)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	if err := file.Commit(); err != nil {
		return err
	}
	t.say("wrote %s", a.json)
	return nil
}

func (out audited) print(t *terminal) {
	w := t.table()
	fmt.Fprintf(w, "method\t%s\n", out.Method)
	fmt.Fprintf(w, "claim\t%s\n", budgetText(out.Budget))
	fmt.Fprintf(w, "neighbours\t%s\n", out.Neighbours)
	fmt.Fprintf(w, "confidence\t%s of all that follows together\n", percent(out.Confidence))
	for _, r := range out.Audits {
		fmt.Fprintf(w, "tables\t%s: %d runs a side, %d of them to find out what to count\n", r.Tables, r.Runs, r.Pilot)
		fmt.Fprintf(w, "  lower bound\tepsilon ≥ %.3f; so many runs can show at most %.3f\n", r.Epsilon, r.Ceiling)
		if out.Budget.Delta > 0 {
			fmt.Fprintf(w, "  if Gaussian\tepsilon ≥ %.3f, from μ ≥ %.3f\n", r.Gaussian, r.Mu)
		}
		fmt.Fprintf(w, "  attacker\tAUROC %.3f, %s right at 1 %% false alarms\n", r.AUROC, percent(r.TPR))
		if r.Broken == nil {
			fmt.Fprintf(w, "  account\tnothing exceeds it\n")
		} else {
			fmt.Fprintf(w, "  account\texceeded: at epsilon %s it promises delta ≤ %.4g, the runs show at least %.4g\n", short(r.Broken.Epsilon), r.Broken.Claimed, r.Broken.Shown)
		}
	}
	w.Flush()
}

// verdict is errRefuted, with the reason, if the claim does not hold.
func (out audited) verdict() error {
	if !out.Refuted {
		return nil
	}
	if out.Epsilon > out.Budget.Epsilon {
		return fmt.Errorf("%w: %s spends epsilon %.3f at least, more than the %s it claims, at %s confidence", errRefuted, out.Method, out.Epsilon, short(out.Budget.Epsilon), percent(out.Confidence))
	}
	return fmt.Errorf("%w: %s exceeds what its account promises, at %s confidence", errRefuted, out.Method, percent(out.Confidence))
}

// percent is a share for people.
func percent(share float64) string { return short(100*share) + " %" }
