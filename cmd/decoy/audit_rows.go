package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/stats"
	"github.com/decoy-dp/decoy/synth"
)

// trainMethod is the subject of decoy audit rows that decoy train makes.
const trainMethod = "train"

// auditRows are the flags of decoy audit rows.
type auditRows struct {
	jobFlags
	attack.Options
	training stats.Training
	report   string
	size     int // rows
}

func auditRowsCommand(t *terminal) *cobra.Command {
	a := &auditRows{jobFlags: newJob(),
		Options: attack.Options{Runs: 64, Canaries: 20, Confidence: .95}}
	a.training.By = stats.Descent
	return t.verb("audit rows", a.run, a.flags(), flags{"runs": &a.Runs, "canaries": &a.Canaries,
		"confidence": &a.Confidence, "rows": &a.size, "by": &a.training.By,
		"drop": (*names)(&a.training.Drop), "target": &a.training.Target,
		"report": &a.report, "seed": &a.Options.Seed})
}

func (a *auditRows) run(cmd *cobra.Command, t *terminal, args []string) error {
	a.Method, a.Input = args[0], strings.Join(args[1:], "")
	s, err := a.check(cmd)
	if err != nil {
		return err
	}
	page, err := t.create("--report", a.report, unprotectedMode)
	if err != nil {
		return err
	}
	rows, err := a.rows(cmd, t, s)
	if err != nil {
		return err
	}
	attacked, err := a.subject(cmd, rows)
	if err != nil {
		return err
	}
	shown := t.progress()
	a.Progress = func(done, runs int) {
		shown.report("fitting and attacking", float64(done)/float64(runs))
	}
	results, err := attack.Rows(cmd.Context(), attacked, rows, a.Options)
	if err != nil {
		return err
	}
	out := audited{Method: attacked.Name, Rows: rows.Rows(), Runs: a.Runs, Seed: a.Options.Seed,
		Adjacency: attacked.Adjacency, Confidence: a.Confidence,
		Neighbours: privacy.NeighboursOf(s, attacked.Adjacency).Units("").Words()}
	if a.Input != "" {
		out.Warning = notForRelease
	}
	if !math.IsInf(attacked.Budget.Epsilon, 1) {
		out.Budget = attacked.Budget
	}
	out.add(results...)
	out.conclude()
	err = t.deliver(page, ", which is not private: "+notForRelease, func(w io.Writer) error {
		return report.Attacked(w, attacked.Budget.Epsilon, attacked.Budget.Delta, curves(results), out)
	})
	return cmp.Or(err, t.print(out), out.verdict())
}

// conclude says what the attacker finds who finds most, at the largest share of false positives.
func (out *audited) conclude() {
	scored := slices.DeleteFunc(slices.Clone(out.Audits),
		func(r attack.Result) bool { return len(r.Found) == 0 })
	if len(scored) == 0 {
		return
	}
	share := func(r attack.Result) float64 { return r.Found[len(r.Found)-1].True.Share }
	best := slices.MaxFunc(scored,
		func(a, b attack.Result) int { return cmp.Compare(share(a), share(b)) })
	f := best.Found[len(best.Found)-1]
	found := f.True.BestOf(len(scored), out.Confidence)
	than := "Guessing finds"
	if found.Low <= f.At && f.At <= found.High {
		than = "That is about as many as guessing finds,"
	}
	out.Conclusion = fmt.Sprintf("The best attacker (%s) finds %s of the rows that were in (%s to "+
		"%s), and takes %d of %d rows that were out to be in. %s %s.", best.Attack, percent(found.Share),
		percent(found.Low), percent(found.High), f.False.Count, f.False.Of, than, percent(f.At))
	if out.Budget.Epsilon > 0 {
		out.Conclusion += fmt.Sprintf(" The claim allows %s: by the bounds on epsilon it is %srefuted.",
			percent(f.Limit), map[bool]string{false: "not "}[out.Refuted])
	}
}

const notForRelease = "computed from the rows without noise, and not to be released; keep it as " +
	"safe as the table"

// curves are the ROC curves of attackers.
func curves(results []attack.Result) (out []report.Curve) {
	for _, r := range results {
		if r.Curve != nil {
			out = append(out, report.Curve{Name: r.Attack, AUROC: r.AUROC, Points: r.Curve})
		}
	}
	return out
}

// check refuses what cannot work before a row is read.
func (a *auditRows) check(cmd *cobra.Command) (*schema.Schema, error) {
	s, err := configs.SchemaOf(a.Schema, a.Dataset)
	if err != nil {
		return nil, err
	}
	method, plain := slices.Contains(synth.Names(), a.Method), slices.Contains(attack.Plain, a.Method)
	codecs, err := s.Codecs()
	at, predicts := s.Index(a.training.Target), !method && a.Method != attack.Bootstrap
	switch {
	case err != nil:
	case !method && !plain && a.Method != trainMethod:
		err = usagef("METHOD %q is unknown; there is %s, %s and, without privacy, %s%s", a.Method,
			strings.Join(synth.Names(), ", "), trainMethod, strings.Join(attack.Plain, ", "),
			spelling.Hint(a.Method, slices.Concat(synth.Names(), attack.Plain, []string{trainMethod})))
	case a.training.By == stats.PATE:
		err = usagef("--by %s: give descent, output or objective", a.training.By)
	case !(a.Confidence > 0 && a.Confidence < 1):
		err = usagef("--confidence %v must be between 0 and 1", a.Confidence)
	case s.Unit != "":
		err = usagef("the schema has the id column %q, and rows are attacked one by one: leave unit "+
			"out of a copy of the schema", s.Unit)
	case a.report == configs.Standard:
		err = usagef("--report -: it needs a file")
	case plain == cmd.Flag("epsilon").Changed:
		err = usagef("--epsilon: %s", map[bool]string{true: a.Method + " has no privacy",
			false: "it is required for " + a.Method}[plain])
	case predicts && a.training.Target == "":
		err = usagef("--target is required: the column that %s predicts", a.Method)
	case predicts && at < 0:
		err = usagef("--target: the schema has no column %q to predict%s", a.training.Target,
			cmp.Or(s.Hint(a.training.Target), "; there are "+quoted(s.Names())))
	case predicts && !stats.Classes(codecs[at]):
		err = usagef("--target: column %q is a number, and a classifier predicts categories",
			a.training.Target)
	case a.Method == trainMethod:
		err = a.checkPrivate()
	}
	return s, err
}

// subject is what METHOD names.
func (a *auditRows) subject(cmd *cobra.Command, t *table.Table) (attack.Subject, error) {
	s := t.Schema()
	switch {
	case a.Method == trainMethod:
		return a.trained(s)
	case !slices.Contains(attack.Plain, a.Method):
		f, err := a.method(cmd)
		if err != nil {
			return attack.Subject{}, err
		}
		return attack.Synthetic(f, s, a.Relation(), a.Budget())
	}
	task := eval.Task{Label: a.training.Target, Drop: a.training.Drop}
	if at := s.Index(task.Label); at >= 0 { // the rarest class that the rows have is positive
		counts := t.Counts(at)
		for code, n := range counts {
			if n > 0 && (counts[task.Positive] == 0 || n < counts[task.Positive]) {
				task.Positive = uint16(code)
			}
		}
	}
	return attack.PlainSubject(a.Method, task), nil
}

// trained is a classifier of decoy train.
func (a *auditRows) trained(s *schema.Schema) (attack.Subject, error) {
	codecs, err := s.Codecs()
	o := privacy.Options{Budget: a.Budget(), Adjacency: a.Relation(), Tool: tool()}
	fit := func(ctx context.Context, t *table.Table, _ *rand.Rand) (attack.Signal, error) {
		c, _, err := stats.Train(ctx, privacy.FromTable(t), a.training,
			stats.Run[*stats.Classifier]{Options: o})
		if err != nil {
			return nil, err
		}
		at := s.Index(a.training.Target)
		return func(t *table.Table) ([]float64, error) {
			odds, err := make([]float64, t.Rows()), error(nil)
			p, err := c.Probabilities(t)
			for i, row := range p {
				own := slices.Index(c.Classes, codecs[at].Label(t.Column(at).At(i)))
				if own >= 0 { // else it is missing
					odds[i] = math.Log((row[own] + 1e-15) / (1 - row[own] + 1e-15))
				}
			}
			return odds, err
		}, nil
	}
	return attack.Subject{Name: trainMethod + " --by " + a.training.By, Budget: o.Budget,
		Adjacency:   privacy.NeighboursOf(s, o.Adjacency).Adjacency,
		Conditional: true, Fit: fit}, err
}

// rows are those of the table or, without one, random ones.
func (a *auditRows) rows(cmd *cobra.Command, t *terminal, s *schema.Schema) (*table.Table, error) {
	if a.Input == "" {
		return attack.RandomTable(s, cmp.Or(a.size, randomRows), a.Options.Seed)
	}
	if err := checkTable("TABLE", a.Input); err != nil {
		return nil, err
	}
	out, err := reader{cmd.Context(), t, nil}.codes("TABLE", a.Input, s)
	switch {
	case err != nil || a.size == 0:
		return out, err
	case a.size > out.Rows():
		return nil, usagef("--rows %d: the table has %d", a.size, out.Rows())
	}
	u := rand.New(rand.NewPCG(a.Options.Seed, 1))
	return out.Select(u.Perm(out.Rows())[:a.size]), nil
}

// randomRows is how many rows a random table has where --rows does not say it.
const randomRows = 500
