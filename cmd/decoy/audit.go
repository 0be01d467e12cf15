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

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth"
)

// errRefuted is a claim that an audit disproved.
var errRefuted = errors.New("the claim is refuted")

// audit are the flags of decoy audit.
type audit struct {
	jobFlags
	attack.Options
	tables string
	size   int // rows of the tables
}

func auditCommand(t *terminal) *cobra.Command {
	a := &audit{jobFlags: newJob(), tables: "all",
		Options: attack.Options{Runs: 400, Confidence: .95}}
	cmd := t.verb("audit", a.run, a.flags(), flags{"runs": &a.Runs, "tables": &a.tables,
		"rows": &a.size, "confidence": &a.Confidence})
	cmd.Flags().MarkHidden("method") // is the operand
	cmd.AddCommand(auditRowsCommand(t))
	counted, known := cmd.Args, slices.Concat(synth.Names(), attack.GateNames())
	cmd.Args = func(cmd *cobra.Command, args []string) error { // of a mistyped verb before all else
		if len(args) == 1 && !slices.Contains(known, args[0]) {
			return usagef("METHOD %q is unknown; there is %s, and of the gate %s%s", args[0],
				strings.Join(synth.Names(), ", "), strings.Join(attack.GateNames(), ", "),
				spelling.Hint(args[0], append(known, "rows")))
		}
		return counted(cmd, args)
	}
	return cmd
}

// audited is the result of all audits of a run of a verb, as JSON.
type audited struct {
	Warning    string               `json:"not_private,omitempty"` // of attacks on rows of a table
	Conclusion string               `json:"conclusion,omitempty"`  // of attacks on rows
	Method     string               `json:"method"`
	Rows       int                  `json:"rows,omitempty"` // that were attacked
	Runs       int                  `json:"fits,omitempty"`
	Seed       uint64               `json:"seed,omitempty"`
	Budget     accountant.Budget    `json:"budget,omitzero"` // none is claimed without one
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
	s, err := configs.SchemaOf(a.Schema, a.Dataset)
	var fitter synth.Fitter // nil for a mechanism of the gate
	if err == nil && slices.Contains(synth.Names(), a.Method) {
		fitter, err = a.method(cmd)
	}
	if err != nil {
		return err
	}
	out := audited{Method: a.Method, Adjacency: a.Relation(), Confidence: a.Confidence}
	shapes := attack.Shapes()
	if a.tables != "all" {
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
		m, pair, err := a.mechanism(fitter, s, &out, shape)
		if err != nil {
			return err
		}
		r, err := attack.ManyRun(cmd.Context(), m, pair, a.Options)
		if err != nil {
			return err
		}
		out.add(r)
	}
	return cmp.Or(t.print(out), out.verdict())
}

// add takes in results.
func (out *audited) add(results ...attack.Result) {
	for _, r := range results {
		for len(r.Found) > 0 && r.Found[0].At*float64(r.Found[0].False.Of) < 1 { // less than one
			r.Found = r.Found[1:]
		}
		out.Audits = append(out.Audits, r)
		out.Epsilon, out.Refuted = max(out.Epsilon, r.Epsilon), out.Refuted || r.Refuted
	}
}

// mechanism makes what is audited, and the tables to run it on.
func (a *audit) mechanism(
	f synth.Fitter, s *schema.Schema, out *audited, shape string,
) (attack.Mechanism, *attack.Pair, error) {
	switch {
	case f != nil:
		return attack.Method(f, s, out.Adjacency, out.Budget, shape, a.size)
	case a.Method != attack.Collect:
		return attack.Gate(a.Method, s, out.Adjacency, out.Budget, shape)
	}
	form, err := stats.NewForm(s, a.Epsilon)
	if err != nil {
		return attack.Mechanism{}, nil, err
	}
	answer := func(ctx context.Context, t *table.Table) (named []int, cells int, err error) {
		a, _, err := form.Answer(ctx, privacy.FromTable(t), stats.Run[stats.Answer]{})
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
