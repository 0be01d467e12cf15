package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// errInterrupted is the end of a job whose budget is spent and whose run cannot be continued.
var errInterrupted = errors.New("its budget is spent, and its run cannot be continued")

// batchJob is a checked job: nothing private has been read.
type batchJob struct {
	configs.Job
	schema   *schema.Schema
	fitter   synth.Fitter
	plan     synth.Plan   // nil if this process does not run the job
	ledger   *ledger.File // nil for an embedded example
	identity string
}

// checkJob checks all that can be checked without the rows; with plan, that the method can do it.
func checkJob(batch string, j configs.Job, plan bool) (*batchJob, error) {
	b := &batchJob{Job: j}
	var err error
	if b.schema, err = publicSchema(j.Schema, j.Dataset); err != nil {
		return nil, err
	}
	if b.fitter, err = j.Fitter(); err != nil {
		return nil, err
	}
	if _, err := formatOf("out", j.Out); err != nil {
		return nil, err
	}
	if j.Input != "" {
		if _, err := formatOf("input", j.Input); err != nil {
			return nil, err
		}
		path, err := ledgerOf(j.Ledger, j.Input)
		if err != nil {
			return nil, err
		}
		b.ledger = ledger.NewFile(path)
	}
	// The identity is that of the file: jobs keep theirs from before they were lenient.
	b.identity = j.Identity(batch, b.schema.Fingerprint())
	if j.Input != "" && !j.Strict {
		b.schema.Lenient = true // how a job ends must not tell of rows: others see it
	}
	if plan {
		b.plan, err = synth.WithBins(b.fitter, b.schema).Plan(b.schema,
			privacy.NeighboursOf(b.schema, j.Neighbours()), j.Budget())
	}
	return b, err
}

// needs is what the job is expected to need, from what is public: the plan, and the rows that the
// job says. The size of a private file is private, and neither shown nor asked.
func (b *batchJob) needs() needs {
	n := needsOf(b.plan, b.schema, b.Rows)
	n.MemoryBytes -= baseBytes // of the process, which the jobs share
	return n
}

// files are the files that the job writes and those that it reads.
func (b *batchJob) files() (written, read []place) {
	of := func(key, path string) place { return place{b.Name + "'s " + key, path} }
	written = []place{of("out", b.Out), of("model", b.Model)}
	read = []place{of("input", b.Input), of("schema", b.Schema)}
	if b.ledger != nil {
		read = append(read, of("ledger", b.ledger.Path())) // written too, by all jobs of its table
	}
	if b.Evaluate != nil {
		read = append(read, of("holdout", b.Evaluate.Holdout))
	}
	return written, read
}

// sampling names what the output holds and where it goes: as long as it stays the same, an output
// that is there is done.
func (b *batchJob) sampling() string {
	return fmt.Sprintf("%d rows, seed %d, to %s %s", b.Rows, b.seed(), b.Out, b.Model)
}

// seed is the job's seed, or one from its identity.
func (b *batchJob) seed() uint64 {
	if b.Seed != 0 {
		return b.Seed
	}
	id, _ := hex.DecodeString(b.identity[:16])
	return binary.BigEndian.Uint64(id)
}

// worker carries out jobs.
type worker struct {
	journal journal
	// the batch was begun: what a job's ledger says must not tell how long the jobs before it took
	day   time.Time
	rerun bool // spend the budget of an interrupted job again
	force bool // replace outputs that are not of the batch
}

// do carries a job out, from whatever an earlier process left, and returns its record. It never
// panics.
func (w *worker) do(ctx context.Context, b *batchJob, report synth.Progress) (r record) {
	unlock, err := w.journal.lock(ctx, b.identity)
	if err != nil {
		return record{Job: b.Name, Identity: b.identity, Status: statusOf(err), Error: err.Error()}
	}
	defer unlock()
	r = w.journal.read(b.identity)
	r.Job = b.Name
	if r.Status == jobDone && r.Sampling == b.sampling() && isFile(b.Out) &&
		(b.Evaluate == nil || isFile(w.journal.path(b.identity, ".metrics.json"))) {
		r.earlier = true
		return r
	}
	if err := w.journal.claim(b, &r, w.force); err != nil {
		r.Status, r.Error = jobFailed, err.Error()
		return r
	}
	err = w.guarded(ctx, b, &r, report)
	r.Status, r.Error, r.Sampling = statusOf(err), "", b.sampling()
	if err != nil {
		r.Error = err.Error()
	}
	if err := w.journal.write(r); err != nil && r.Error == "" {
		r.Status, r.Error = jobFailed, err.Error()
	}
	return r
}

// guarded turns a panic of one job into its failure.
func (w *worker) guarded(ctx context.Context, b *batchJob, r *record,
	report synth.Progress) (err error) {
	defer func() {
		if p := recover(); p != nil {
			// its text may hold anything
			err = fmt.Errorf("a defect of the program (%T); 'decoy generate' with the same job shows where",
				p)
		}
	}()
	if b.Evaluate != nil { // before anything is spent
		if err := readable(b.Evaluate.Holdout); err != nil {
			return err
		}
	}
	m, err := w.model(ctx, b, r, report)
	if err != nil {
		return err
	}
	if b.Model != "" {
		if err := copyModel(b.Model, m); err != nil {
			return err
		}
	}
	if r.Rows, err = b.sample(ctx, m, report); err != nil {
		return err
	}
	if b.Evaluate == nil {
		return nil
	}
	report.Report("evaluating", .99)
	return w.evaluate(ctx, b)
}

// model is the fitted model: of an earlier process if there is one, else of an earlier process's
// run that is continued, else of a new run.
func (w *worker) model(ctx context.Context, b *batchJob, r *record,
	report synth.Progress) (*release.Model, error) {
	path := w.journal.path(b.identity, ".model")
	o := synth.RunOptions{
		Budget: b.Budget(), Adjacency: b.Neighbours(), Ledger: b.ledger, Tool: tool(), Progress: report,
		Day:     w.day,
		Deliver: func(m *release.Model) error { return copyModel(path, m) },
	}
	if b.ledger != nil {
		o.Journal = w.journal.path(b.identity, ".journal")
	}
	var err error
	if r.Attempt, o.Resume, err = w.attempt(b); err != nil {
		return nil, err
	}
	if !o.Resume { // a run that is not done is brought to its end even if its model is there
		if m, err := release.Open(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	o.Run = configs.Run(b.identity, r.Attempt)
	r.Run = o.Run
	rows, err := b.rows()
	if err != nil {
		return nil, err
	}
	m, _, err := synth.Run(ctx, rows, b.fitter, o)
	if o.Resume && errors.Is(err, privacy.ErrResume) {
		if !w.rerun {
			return nil, fmt.Errorf("run %s: %w (%v)", o.Run, errInterrupted, err)
		}
		r.Attempt, o.Resume = r.Attempt+1, false
		o.Run = configs.Run(b.identity, r.Attempt)
		r.Run = o.Run
		disk.Remove(o.Journal)
		m, _, err = synth.Run(ctx, rows, b.fitter, o)
	}
	return m, err
}

// attempt finds out from the ledger how far earlier processes have come: the number of the attempt
// to make now, and whether it continues the run of that number. What is not in the ledger was not
// paid; what is, is never paid again under its name.
func (w *worker) attempt(b *batchJob) (number int, resume bool, err error) {
	if b.ledger == nil {
		return 1, false, nil
	}
	l, err := b.ledger.Read()
	if err != nil {
		return 0, false, err
	}
	status, charged := map[string]string{}, map[string]bool{}
	for _, run := range l.Runs() {
		status[run.Run], charged[run.Run] = run.Status, run.Counts()
	}
	unfinished, err := privacy.Unfinished(w.journal.path(b.identity, ".journal"), b.ledger)
	if err != nil && !errors.Is(err, privacy.ErrResume) {
		return 0, false, err
	}
	for number = 1; ; number++ {
		run := configs.Run(b.identity, number)
		switch found, there := status[run]; {
		case !there:
			return number, false, nil
		case found == ledger.StatusVoid && !charged[run]:
			continue // nothing was spent
		case found == ledger.StatusUnfinished && unfinished.Run == run:
			return number, true, nil
		case found == ledger.StatusDone && isFile(w.journal.path(b.identity, ".model")):
			return number, false, nil
		}
		if status[run] == ledger.StatusFailed { // it would fail again, and spend again
			return 0, false, fmt.Errorf("run %s has failed before, and its budget is spent: %w; change "+
				"the job, or give the batch another name", run, errInterrupted)
		}
		if _, later := status[configs.Run(b.identity, number+1)]; !later && !w.rerun {
			return 0, false, fmt.Errorf("run %s is %s in %s: %w; --on-interrupted rerun spends it again",
				run, status[run], b.ledger.Path(), errInterrupted)
		}
	}
}

// pays says whether the job would spend anything now.
func (w *worker) pays(b *batchJob) bool {
	if isFile(w.journal.path(b.identity, ".model")) {
		return false
	}
	_, resume, err := w.attempt(b)
	return err == nil && !resume
}

// rows names the private table.
func (b *batchJob) rows() (*privacy.Rows, error) {
	if b.Dataset != "" {
		d, err := datasets.Get(b.Dataset)
		if err != nil {
			return nil, err
		}
		t, err := d.Table()
		if err != nil {
			return nil, err
		}
		return privacy.FromTable(t), nil
	}
	if err := readable(b.Input); err != nil {
		return nil, err
	}
	return privacy.File(b.Input, b.schema), nil
}

// sample writes the output and returns its number of rows.
func (b *batchJob) sample(ctx context.Context, m *release.Model,
	report synth.Progress) (int, error) {
	if err := disk.MkdirAll(filepath.Dir(b.Out), 0o777); err != nil {
		return 0, bare(b.Out, err)
	}
	out, err := openOutput(&terminal{stdout: io.Discard, force: true}, b.Out)
	if err != nil {
		return 0, err
	}
	defer out.abort()
	n := b.Rows
	if n == 0 {
		n = wholeRows(m.Rows)
	}
	return n, out.sample(ctx, m, m.Schema(), n, b.seed(),
		func(f float64) { report.Report("writing rows", f) })
}

// evaluate compares the output with real rows in a process of its own, which has its own memory and
// permissions.
func (w *worker) evaluate(ctx context.Context, b *batchJob) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// The schema as the job read the table, lenient or not.
	schemaFile := w.journal.path(b.identity, ".schema.yaml")
	text, err := b.schema.YAML()
	if err == nil {
		err = atomicfile.WriteFile(schemaFile, text, releaseMode)
	}
	if err != nil {
		return err
	}
	args := append([]string{"evaluate", "--quiet", "--train", b.Input, "--holdout", b.Evaluate.Holdout,
		"--synthetic", b.Out, "--schema", schemaFile, "--json",
		w.journal.path(b.identity, ".metrics.json"), "--force"}, b.Evaluate.Args...)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "decoy"
	text, err = cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("decoy evaluate: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return nil
}

// copyModel writes a model to a path.
func copyModel(path string, m *release.Model) error {
	if err := disk.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return bare(path, err)
	}
	f, err := atomicfile.Create(path, releaseMode)
	if err != nil {
		return err
	}
	defer f.Abort()
	return writeModel(f, m)
}

// statusOf is the state of a job that ended with err.
func statusOf(err error) string {
	switch {
	case err == nil:
		return jobDone
	case errors.Is(err, errElsewhere):
		return jobElsewhere
	case errors.Is(err, errInterrupted), errors.Is(err, privacy.ErrRun):
		return jobInterrupted
	case errors.Is(err, context.Canceled):
		return jobCancelled
	case errors.Is(err, accountant.ErrBudget):
		return jobRefused
	}
	return jobFailed
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
