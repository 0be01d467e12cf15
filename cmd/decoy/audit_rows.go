package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/attack"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// trainMethod is the subject of decoy audit rows that decoy train makes.
const trainMethod = "train"

// auditRows are the flags of decoy audit rows.
type auditRows struct {
	jobFlags
	attack.Options
	training     analysis.Training
	fits, report string
	size         int // rows
}

func auditRowsCommand(t *terminal) *cobra.Command {
	a := &auditRows{jobFlags: newJob(),
		Options: attack.Options{Runs: 64, Canaries: 20, Confidence: .95}}
	a.training.By = analysis.Descent
	return t.verb("audit rows", a.run, a.flags(), flags{"runs": &a.Runs, "canaries": &a.Canaries,
		"confidence": &a.Confidence, "rows": &a.size, "by": &a.training.By,
		"drop": (*names)(&a.training.Drop), "target": &a.training.Target,
		"fits": &a.fits, "report": &a.report, "seed": &a.Options.Seed})
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
	defer page.Abort()
	fits, err := a.earlier(cmd)
	if err != nil {
		return err
	}
	rows, err := a.rows(cmd, t, s)
	if err != nil {
		return err
	}
	attacked, err := a.subject(cmd, rows)
	if err = cmp.Or(err, a.keep(t, fits, a.identity(rows))); err != nil {
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
	err = t.deliver(page, ", which is not private: "+notForRelease, func(w io.Writer) error {
		return report.Attacked(w, attacked.Budget.Epsilon, attacked.Budget.Delta, curves(results), out)
	})
	return cmp.Or(err, t.print(out), out.verdict())
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
	at := s.Index(a.training.Target)
	switch {
	case !method && !plain && a.Method != trainMethod:
		err = usagef("METHOD %q is unknown; there is %s, %s and, without privacy, %s", a.Method,
			strings.Join(synth.Names(), ", "), trainMethod, strings.Join(attack.Plain, ", "))
	case !(a.Confidence > 0 && a.Confidence < 1):
		err = usagef("--confidence %v must be between 0 and 1", a.Confidence)
	case s.Unit != "":
		err = usagef("the schema has the id column %q, and rows are attacked one by one: leave unit "+
			"out of a copy of the schema", s.Unit)
	case a.report == configs.Standard || a.fits == configs.Standard:
		err = usagef("--report or --fits -: it needs a file")
	case plain == cmd.Flag("epsilon").Changed:
		err = usagef("--epsilon: %s", map[bool]string{true: a.Method + " has no privacy",
			false: "it is required for " + a.Method}[plain])
	case !method && a.Method != attack.Bootstrap && at < 0:
		err = usagef("--target: the schema has no column %q to predict%s", a.training.Target,
			s.Hint(a.training.Target))
	case !method && a.Method != attack.Bootstrap && s.Columns[at].Kind.Ordered():
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
		counts := make([]int64, s.Sizes()[at])
		t.CountTo(counts, []int{at})
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
		c, _, err := analysis.Train(ctx, privacy.FromTable(t), a.training,
			analysis.Run[*analysis.Classifier]{Options: o})
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

// identity is a hash of all that decides what a fit is.
func (a *auditRows) identity(t *table.Table) string {
	h := sha256.New()
	fmt.Fprintln(h, tool(), a.Method, a.Settings, a.Job.Budget(), a.Relation(), a.training, a.Runs,
		a.Canaries, t.Schema().Fingerprint())
	for c := range t.Schema().Columns {
		fmt.Fprintln(h, t.Column(c))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fitsFile is the file of --fits, which is written anew whenever a fit is made.
type fitsFile struct {
	Format   int          `json:"decoy_fits"`
	Warning  string       `json:"not_private"`
	Seed     uint64       `json:"seed"`
	Identity string       `json:"identity"`
	Fits     []attack.Fit `json:"fits"`
}

// earlier reads the fits of an earlier run, and takes over their seed unless one is given.
func (a *auditRows) earlier(cmd *cobra.Command) (f fitsFile, err error) {
	text, err := os.ReadFile(a.fits)
	if a.fits == "" || errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("--fits: %w", configs.Bare(a.fits, err))
	}
	if json.Unmarshal(text, &f) != nil || f.Format != 1 {
		return f, usagef("--fits %s is not a file of fits", a.fits)
	}
	if !cmd.Flag("seed").Changed {
		a.Options.Seed = f.Seed
	}
	return f, nil
}

// keep begins with the fits of an earlier run of the same attack, and keeps the next.
func (a *auditRows) keep(t *terminal, f fitsFile, identity string) error {
	if a.fits == "" {
		return nil
	}
	if f.Format == 1 && (f.Seed != a.Options.Seed || f.Identity != identity) {
		return usagef("--fits %s is of another attack: of other rows, flags or seed, or by another "+
			"version", a.fits)
	}
	a.Earlier = f.Fits
	f.Format, f.Warning, f.Seed, f.Identity = 1, notForRelease, a.Options.Seed, identity
	var mu sync.Mutex
	a.Keep = func(fit attack.Fit) error {
		mu.Lock()
		defer mu.Unlock()
		f.Fits = append(f.Fits, fit)
		o, err := configs.Create("--fits", a.fits, t.stdout, unprotectedMode, true)
		if err != nil {
			return err
		}
		defer o.Abort()
		return o.Complete(func(w io.Writer) error { return json.NewEncoder(w).Encode(f) })
	}
	return nil
}
