package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/synth"
)

// Runner carries jobs out: it opens the account, goes on with what an earlier process has left,
// fits, and makes the outputs durable, in this order. decoy generate and fit are one job, decoy
// batch is many, of each of which a folder keeps what is known: see [Record].
type Runner struct {
	Tool   string    // program and version
	Day    time.Time // the batch was begun: a ledger must not tell how long the jobs before took
	Force  bool      // replace outputs that are of others
	State  string    // the folder of a batch, made by Open; "" of one job
	Resume bool      // of one job: go on with the run that was begun. A batch does so unasked
	Stdout io.Writer
	Say    func(format string, args ...any) // talk; nil: nobody listens
	// tells what is to be said of what a job has made, from its release alone, when the model is there
	// and once more at the end; what it returns is kept in the record. nil: nothing
	Tell func(*Task, Made) []string
	// is called when all is checked and nothing is spent. nil: nothing
	Last func() error
	// is told what the fit is expected to need. nil: nobody
	Expect func(synth.Forecast)
}

// Made is what the run of a job has made: a schema that it bought, the model and what was forecast
// of its fit, and what it paid from; at the end columns of the file, by number, that the schema
// does not name.
type Made struct {
	Account  *Account
	Bought   *infer.Inferred
	Model    *release.Model
	Forecast synth.Forecast
	Ignored  []int
}

// unsaid is talk that nobody hears.
func unsaid(string, ...any) {}

// job is a job under way.
type job struct {
	*Runner
	*Task
	account  *Account
	record   *Record
	progress synth.Progress
	made     Made

	bought, model *Target // the files in the making: each appears when it is complete; nil for none
	tables        []*Target
	files         []*Target // all of them
}

// Run carries out a job of a verb, by which its journal is named: generate, of which a batch is
// many, or fit. What becomes of it is noted in r, which is empty for a job that is of no batch.
func (w *Runner) Run(
	ctx context.Context, verb string, t *Task, r *Record, progress synth.Progress,
) (err error) {
	j := &job{Runner: w, Task: t, record: r, progress: progress, account: &Account{
		Ledger: t.Ledger, Inputs: t.Inputs, Named: t.Job.Ledger != "", Resume: w.Resume,
		Unasked: w.State != "", Tool: w.Tool, Stdout: w.Stdout, Say: w.Say}}
	if w.Say == nil {
		j.account.Say = unsaid
	}
	results, _ := t.Files()
	rows, missing := t.table(ctx)
	if missing != nil && w.State == "" {
		return missing
	}
	if err := j.account.Begin(verb, results...); err != nil {
		return err
	}
	run, kept := j.account.run, (*release.Model)(nil)
	if run == "" && w.State != "" {
		if run, kept, err = j.begun(); err != nil {
			return err
		}
	}
	defer j.abort()
	if err := j.create(); err != nil {
		return err
	}
	if j.made.Model = kept; kept != nil { // by a run that is done
		err = j.deliver(ctx, kept)
	} else {
		r.Run = run
		err = j.fit(ctx, rows, missing)
	}
	if err == nil && t.Evaluate != nil {
		err = j.evaluate(ctx)
	}
	return err
}

// fit reserves the budget, reads, fits and delivers.
func (j *job) fit(ctx context.Context, rows *privacy.Rows, missing error) (err error) {
	if err = missing; err == nil && j.Last != nil {
		err = j.Last()
	}
	begun := false
	if err == nil {
		j.record.Warnings = nil
		o := synth.RunOptions{Options: j.account.Options(j.Job), Chosen: j.Chosen(),
			Progress: j.progress, Forecast: func(f synth.Forecast) {
				if j.made.Forecast = f; j.Expect != nil {
					j.Expect(f)
				}
			},
			Deliver: func(m *release.Model) error {
				j.made.Account, j.made.Model = j.account, m
				if err := j.tell(j.made); err != nil {
					return err
				}
				if j.State != "" {
					if err := j.keep(m); err != nil {
						return err
					}
				}
				return j.deliver(ctx, m)
			}}
		o.Run, o.Day = j.record.Run, j.Day
		var ignored []int
		begun, ignored, err = j.Task.fit(ctx, rows, o, &j.made.Bought)
		if told := j.tell(Made{Ignored: ignored}); err == nil {
			err = told
		}
	}
	if err != nil {
		return j.account.Explain(err, begun)
	}
	return nil
}

// tell tells of what was made. The record outlives the process.
func (j *job) tell(made Made) error {
	if j.Tell == nil {
		return nil
	}
	j.record.Warnings = append(j.record.Warnings, j.Tell(j.Task, made)...)
	if j.State == "" {
		return nil
	}
	return j.write(*j.record)
}

// deliver makes the outputs of a model durable.
func (j *job) deliver(ctx context.Context, m *release.Model) error {
	if j.Bought != "" {
		if err := j.deliverSchema(m); err != nil {
			return err
		}
	}
	if err := j.model.Complete(m.Write); err != nil {
		return err
	}
	if j.model != nil {
		j.account.Say("wrote %s", j.Model)
	}
	if len(j.tables) == 0 {
		return nil
	}
	j.record.Rows = DrawnRows(j.Rows, m.Rows, m.Claim.Epsilon, j.account.Say)
	return SampleTables(ctx, j.tables, nil, m, j.record.Rows, cmp.Or(j.Seed, SeedOf(m)),
		j.account.Say, func(done float64) { j.progress.Report("writing rows", done) })
}

// deliverSchema writes the schema that was bought: now, or in an earlier run if it is gone, as the
// output is.
func (j *job) deliverSchema(m *release.Model) (err error) {
	yaml := []byte(m.SchemaYAML)
	switch {
	case j.made.Bought == nil && isFile(j.Bought):
		return nil
	case j.made.Bought != nil:
		yaml, err = j.made.Bought.YAML()
	}
	if err == nil {
		err = j.bought.Text(yaml)
	}
	if err == nil {
		j.account.Say("wrote %s", j.Bought)
	}
	return err
}

// abort leaves no trace of outputs that were not completed.
func (j *job) abort() {
	for _, t := range j.files {
		t.Abort()
	}
}

// errLost is the end of a job whose budget is spent and whose run cannot be continued.
var errLost = errors.New("its budget is spent, and its run cannot be continued")

// errSpent is added to the reason of a job that has failed after its reservation.
var errSpent = errors.New("its budget is spent, and a job that failed is not run again")

// begun finds out from the ledger how far earlier processes have come with a job of a batch, unless
// its run goes on: the name of the run, and the model of one that is done. What is not in the
// ledger was not paid; what is, is never paid again.
func (j *job) begun() (run string, kept *release.Model, err error) {
	t, r := j.Task, j.record
	run = cmp.Or(r.Run, t.run)
	if t.Ledger == nil {
		kept, err = j.kept("")
		return run, kept, err
	}
	runs := j.account.before.Runs()
	at := slices.IndexFunc(runs, func(s ledger.Summary) bool { return s.Run == run })
	if at < 0 {
		return run, nil, nil
	}
	status := runs[at].Status
	if status == ledger.StatusDone {
		kept, err = j.kept(run)
	}
	switch {
	case err != nil || kept != nil:
		return run, kept, err
	case r.Status == Failed && r.Rows == 0: // it would fail again, and spend again
		return run, nil, fmt.Errorf("%s: %w", strings.TrimSuffix(r.Error, ": "+errSpent.Error()),
			errSpent)
	}
	if status == ledger.StatusDone {
		status += ", and its model is not here,"
	}
	return run, nil, fmt.Errorf("run %s is %s in %s: %w; under another name the job would pay again",
		run, status, t.Ledger.Path(), errLost)
}

// kept is the model of a run that is done: of the batch, or the job's own output; nil: it is gone.
// Without an account every model of the batch is the job's.
func (j *job) kept(run string) (*release.Model, error) {
	m, err := release.Open(j.path(j.Identity, ".model"))
	if errors.Is(err, fs.ErrNotExist) && run != "" && hasRun(j.Model, run) {
		if m, err = release.Open(j.Model); err == nil { // others may take the schema from it
			err = j.keep(m)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// keep keeps the model in the state: from it an output that moves is drawn again, at no cost.
func (j *job) keep(m *release.Model) error {
	f, err := Create("the model", j.path(j.Identity, ".model"), nil, ReleaseMode, true)
	if err != nil {
		return err
	}
	defer f.Abort()
	return f.Complete(m.Write)
}

// replaces reports whether an output that is there may be replaced whatever it holds.
func (j *job) replaces(path string) bool {
	return j.Force || j.State != "" && slices.Contains(j.record.Outputs, j.seen(path))
}

// create starts the outputs, before anything is spent on them. One that is there is replaced if it
// may be, or if it is what the run that goes on has made, and makes again.
func (j *job) create() (err error) {
	may := func(path string) bool { return j.replaces(path) || j.account.run != "" }
	j.tables, err = createTables(j.outName(), j.OutDir, j.outs, j.Stdout, may,
		table.WriterOptions{Safe: j.SpreadsheetSafe})
	if err == nil && j.Bought != "" {
		j.bought, err = Create(j.boughtName(), j.Bought, nil, ReleaseMode, may(j.Bought))
	}
	if err == nil && j.Model != "" {
		j.model, err = Create(j.name("model"), j.Model, nil, ReleaseMode, may(j.Model))
	}
	j.files = append([]*Target{j.bought, j.model}, j.tables...)
	for _, t := range j.files {
		if t.IsFile() && !j.replaces(t.path) {
			t.file.Itself()
		}
	}
	if err == nil && j.State != "" {
		err = j.claim()
	}
	return err
}

// hasRun reports whether a file is a model of the run.
func hasRun(path, run string) bool {
	if IsStandard(path) {
		return false
	}
	m, err := release.Open(path)
	return err == nil && slices.ContainsFunc(m.Ledger, func(e ledger.Entry) bool {
		return e.Run == run
	})
}

// statusOf is the state of a job that ended with err.
func statusOf(err error) string {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, errElsewhere):
		return Elsewhere
	case errors.Is(err, errUnbought):
		return Waiting
	case errors.Is(err, errLost), errors.Is(err, privacy.ErrRun), errors.Is(err, privacy.ErrResume):
		return Interrupted
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, accountant.ErrBudget):
		return Refused
	}
	return Failed
}

// fit is [synth.Run] of the job. begun tells of a session: the budget is spent. ignored are columns
// of the file, by number, that the schema does not name; bought is a schema that was bought, before
// the model is delivered.
func (t *Task) fit(
	ctx context.Context, rows *privacy.Rows, o synth.RunOptions, bought **infer.Inferred,
) (begun bool, ignored []int, err error) {
	if p := t.Purchase; p != nil {
		_, s, err := synth.RunBought(ctx, p.Table, synth.Purchase{Plan: p.Plan.Composition(),
			Buy: func(s *text.Session, progress func(float64)) (_ synth.Bought, err error) {
				*bought, err = p.Plan.Buy(ctx, s, p.Want, progress)
				return *bought, err
			}}, t.Fitter.(synth.Continuer), o)
		return s != nil, nil, err
	}
	_, s, err := synth.Run(ctx, rows, t.Fitter, o)
	if err == nil {
		ignored = s.Report().Ignored
	}
	return s != nil, ignored, err
}
