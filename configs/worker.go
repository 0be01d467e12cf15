package configs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// errLost is the end of a job whose budget is spent and whose run cannot be continued.
var errLost = errors.New("its budget is spent, and its run cannot be continued")

// errSpent is added to the reason of a job that has failed after its reservation.
var errSpent = errors.New("its budget is spent, and a job that failed is not run again")

// sampling names what the output holds, where it goes and what it is compared with: as long as it
// stays the same, an output that is there is done.
func (t *Task) sampling() string {
	text := fmt.Sprintf("%d rows, seed %d, to %s %s", t.Rows, t.Seed, t.Out, t.Model)
	if t.SpreadsheetSafe {
		text += ", spreadsheet-safe"
	}
	if t.Evaluate != nil {
		text += fmt.Sprintf(", compared with %q", *t.Evaluate)
	}
	return text
}

// Worker carries out tasks.
type Worker struct {
	Dir   string    // the state: what is known of each job, by identity; made by Open
	Tool  string    // program and version
	Day   time.Time // the batch was begun: a ledger must not tell how long the jobs before took
	Force bool      // replace outputs that are not of the batch
	// tells what is to be said of what a job has made, from its release alone; nil: nothing
	Warn func(*Task, Made) []string
}

// Made is what the run of a job has made, as far as it has come: a schema that it bought, the model
// and what was forecast of its fit, columns of the file, by number, that the schema does not name.
type Made struct {
	Bought   *analysis.Inferred
	Model    *release.Model
	Forecast synth.Forecast
	Ignored  []int
}

// Do carries a task out, from whatever an earlier process left, and returns its record. It never
// panics.
func (w *Worker) Do(ctx context.Context, t *Task, progress synth.Progress) (r Record) {
	lock := flock.New(w.path(t.Identity, ".lock"), flock.SetPermissions(0o600))
	// the system takes the lock from a process that is gone
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return ended(Record{Job: t.Name, Identity: t.Identity}, fmt.Errorf("locking a job: %w", err))
	case !ok:
		return ended(Record{Job: t.Name, Identity: t.Identity}, errElsewhere)
	}
	defer lock.Unlock()
	disk.Sweep(w.path(t.Identity, ""))
	r = w.read(t.Identity)
	r.Job = t.Name
	if ctx.Err() != nil {
		return ended(r, ctx.Err())
	}
	if r.Status == Done && r.Sampling == t.sampling() && isFile(t.Out) &&
		(t.Bought == "" || isFile(t.Bought)) &&
		(t.Evaluate == nil || isFile(w.Metrics(t.Identity))) {
		r.Earlier = true
		return r
	}
	if err := cmp.Or(t.checkEvaluation(), w.take(t)); err != nil { // before anything is spent
		return ended(r, err)
	}
	outputs, err := w.create(t, &r)
	if err != nil {
		return ended(r, err)
	}
	defer outputs.Abort()
	r = ended(r, w.guarded(ctx, t, outputs, &r, progress))
	r.Sampling = t.sampling()
	if err := w.write(r); err != nil && r.Error == "" {
		return ended(r, err)
	}
	return r
}

// ended is the record of a job that ended with err.
func ended(r Record, err error) Record {
	r.Status, r.Error = statusOf(err), ""
	if r.Status == Cancelled {
		r.Error = "interrupted"
	} else if err != nil {
		r.Error = spelling.Plain(err)
	}
	return r
}

// guarded turns a panic of one task into its failure.
func (w *Worker) guarded(
	ctx context.Context, t *Task, outputs *Outputs, r *Record, progress synth.Progress,
) (err error) {
	defer func() {
		if p := recover(); p != nil { // its text may hold anything
			err = fmt.Errorf("a defect of the program (%T); 'decoy generate' with the same job shows where",
				p)
		}
	}()
	m, err := w.model(ctx, t, outputs, r, progress)
	if err == nil && t.Bought != "" && !isFile(t.Bought) { // it is gone, as the output is
		err = outputs.WriteSchema([]byte(m.SchemaYAML), true, unsaid)
	}
	if err != nil {
		return err
	}
	r.Rows, err = outputs.Write(ctx, m, unsaid, func(done float64) {
		progress.Report("writing rows", done)
	})
	if err != nil || t.Evaluate == nil {
		return err
	}
	progress.Report("evaluating", .99)
	return w.evaluate(ctx, t, r, cmp.Or(t.Domain, m.Schema()))
}

// unsaid is talk that nobody hears.
func unsaid(string, ...any) {}

// model is the fitted model: of an earlier process if there is one, else of an earlier process's
// run that is continued, else of a new run.
func (w *Worker) model(
	ctx context.Context, t *Task, outputs *Outputs, r *Record, progress synth.Progress,
) (*release.Model, error) {
	path := w.path(t.Identity, ".model")
	var made Made
	o := synth.RunOptions{
		Options: privacy.Options{Budget: t.Budget(), Adjacency: t.Relation(), Ledger: t.Ledger,
			Tool: w.Tool, Day: w.Day},
		Chosen: t.Chosen(), Progress: progress,
		Forecast: func(f synth.Forecast) { made.Forecast = f },
		Deliver: func(m *release.Model) error {
			if made.Model = m; w.Warn != nil {
				r.Warnings = w.Warn(t, made)
			}
			if err := w.write(*r); err != nil { // which the model outlives
				return err
			}
			f, err := Create("the model", path, nil, ReleaseMode, true)
			if err != nil {
				return err
			}
			defer f.Abort()
			return f.Complete(m.Write)
		},
	}
	if t.Ledger != nil {
		o.Journal = w.journal(t)
	}
	var err error
	reason := ""
	if r.Status == Failed && r.Rows == 0 {
		reason = r.Error
	}
	if o.Resume, err = w.begun(t, reason); err != nil {
		return nil, err
	}
	if !o.Resume { // a run that is not done is brought to its end even if its model is there
		if m, err := release.Open(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	o.Run = runName(t.spends)
	if t.Missing != nil {
		return nil, t.Missing
	}
	r.Run = o.Run
	m, _, ignored, err := t.Run(ctx, o, func(bought *analysis.Inferred, yaml []byte) error {
		made.Bought = bought
		return outputs.WriteSchema(yaml, true, unsaid)
	})
	if o.Resume && errors.Is(err, privacy.ErrResume) {
		err = fmt.Errorf("run %s: %w (%v)", o.Run, errLost, err)
	}
	if w.Warn != nil {
		r.Warnings = append(r.Warnings, w.Warn(t, Made{Ignored: ignored})...)
	}
	return m, err
}

// journal is the file that keeps the run of a task until it is done. It is beside the ledger, where
// processes with another state folder see that the run is going on.
func (w *Worker) journal(t *Task) string {
	return fmt.Sprintf("%s.%s.journal", t.Ledger.Path(), t.spends[:12])
}

// begun finds out from the ledger how far earlier processes have come: whether the run of a task is
// to be continued. What is not in the ledger was not paid; what is, is never paid again. reason is
// why the job failed in an earlier process; "" if it did not.
func (w *Worker) begun(t *Task, reason string) (resume bool, err error) {
	if t.Ledger == nil {
		return false, nil
	}
	l, err := t.Ledger.Read()
	if err != nil {
		return false, err
	}
	left, running, err := privacy.Unfinished(w.journal(t), t.Ledger)
	if err != nil && !errors.Is(err, privacy.ErrResume) {
		return false, err
	}
	run, runs := runName(t.spends), l.Runs()
	at := slices.IndexFunc(runs, func(r ledger.Summary) bool { return r.Run == run })
	if at < 0 {
		return false, nil
	}
	switch status := runs[at].Status; {
	case status == ledger.StatusUnfinished && left == run && running:
		return false, errElsewhere
	case status == ledger.StatusUnfinished && left == run:
		return true, nil
	case status == ledger.StatusDone && isFile(w.path(t.Identity, ".model")):
		return false, nil
	case reason != "": // it would fail again, and spend again
		return false, fmt.Errorf("%s: %w", strings.TrimSuffix(reason, ": "+errSpent.Error()), errSpent)
	default:
		return false, fmt.Errorf("run %s is %s in %s: %w; under another name the job would pay again",
			run, status, t.Ledger.Path(), errLost)
	}
}

// evaluate compares the output with real rows in a process of its own, which has its own memory and
// permissions.
func (w *Worker) evaluate(ctx context.Context, t *Task, r *Record, s *schema.Schema) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// The schema as the job read the table.
	schemaFile := w.path(t.Identity, ".schema.yaml")
	text, err := s.ForPrivate().YAML()
	if err == nil {
		err = disk.WriteFile(schemaFile, text, ReleaseMode)
	}
	if err != nil {
		return err
	}
	given, lost := t.Evaluate.flags(s)
	said := fmt.Sprintf("the outcome %q is left out: nothing here can predict it", lost)
	if lost != "" && !slices.Contains(r.Warnings, said) {
		r.Warnings = append(r.Warnings, said)
	}
	args := append([]string{"evaluate", "--quiet", "--train", t.Input,
		"--synthetic", t.Out, "--schema", schemaFile, "--json", w.Metrics(t.Identity), "--force"},
		given...)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "decoy"
	// What the environment sets for the batch is not for its parts.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DECOY_")
	})
	if text, err = cmd.CombinedOutput(); ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("decoy evaluate: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return nil
}

// statusOf is the state of a task that ended with err.
func statusOf(err error) string {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, errElsewhere):
		return Elsewhere
	case errors.Is(err, errUnbought):
		return Waiting
	case errors.Is(err, errLost), errors.Is(err, privacy.ErrRun):
		return Interrupted
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, accountant.ErrBudget):
		return Refused
	}
	return Failed
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// The states of a job of a batch.
const (
	Waiting     = "waiting"     // not begun, or for the schema that another job buys
	Done        = "done"        // its output is there
	Failed      = "failed"      // an error; the text says whether its budget is spent
	Refused     = "refused"     // the ledger's limit would be exceeded; nothing was read
	Interrupted = "interrupted" // its budget is spent, and its run cannot be continued
	Cancelled   = "cancelled"   // by the operator
	Elsewhere   = "elsewhere"   // another process is at it
)

// Record is what the state folder keeps of a job: one file, replaced as a whole. The ledger, not
// the record, says what is spent. It has no time: how long a job took depends on its rows.
type Record struct {
	Job      string `json:"job"`
	Identity string `json:"identity"`
	Status   string `json:"status"`
	Run      string `json:"run,omitempty"`      // in the ledger
	Sampling string `json:"sampling,omitempty"` // what the output was sampled from and to
	// the files that the job has made or was about to make: it may replace them
	Outputs []string `json:"outputs,omitempty"`
	Rows    int      `json:"rows,omitempty"` // of the output
	Error   string   `json:"error,omitempty"`
	// of what its run has made, from its release alone
	Warnings []string `json:"warnings,omitempty"`

	Earlier bool `json:"-"` // done by an earlier process
}

// Open makes the folder of the state if it is not there.
func (w *Worker) Open() error {
	_, err := disk.MkdirAll(w.Dir, 0o700)
	return Bare(w.Dir, err)
}

// path is a file of a job: .json the record, .model, .schema.yaml, .metrics.json, .lock.
func (w *Worker) path(identity, suffix string) string {
	return filepath.Join(w.Dir, identity[:16]+suffix)
}

// seen is a path from the folder of the batch.
func (w *Worker) seen(path string) string { return seenFrom(filepath.Dir(Resolve(w.Dir)), path) }

// Metrics is the file of a job's metrics, as decoy evaluate writes it.
func (w *Worker) Metrics(identity string) string { return w.path(identity, ".metrics.json") }

// read gives the record of a job; one that is not there, or not readable after a crash of the disk,
// is waiting.
func (w *Worker) read(identity string) Record {
	var r Record
	b, err := ReadBounded(w.path(identity, ".json"), 1<<20)
	if err != nil || json.Unmarshal(b, &r) != nil || r.Identity != identity {
		return Record{Identity: identity, Status: Waiting}
	}
	return r
}

func (w *Worker) write(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return disk.WriteFile(w.path(r.Identity, ".json"), append(text, '\n'), 0o600)
}

// create makes the outputs of a job its own, before anything is spent on them: from here on it may
// replace them, whenever its process dies. It refuses files of others, unless it may replace them.
func (w *Worker) create(t *Task, r *Record) (*Outputs, error) {
	claimed := slices.Clone(r.Outputs)
	for _, path := range []string{t.Out, t.Model, t.Bought} {
		if path == "" {
			continue
		}
		if _, err := disk.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, Bare(path, err)
		}
		if own := w.seen(path); !slices.Contains(claimed, own) {
			claimed = append(claimed, own)
		}
	}
	o, err := t.Create(nil, func(path string) bool {
		return w.Force || slices.Contains(r.Outputs, w.seen(path))
	})
	if err != nil {
		return nil, err
	}
	r.Outputs = claimed
	if err := w.write(*r); err != nil {
		o.Abort()
		return nil, err
	}
	return o, nil
}

// ClaimResults makes the table of results the batch's own: it may replace it from here on.
func (w *Worker) ClaimResults(path string) error {
	note := filepath.Join(w.Dir, "results")
	text, err := os.ReadFile(note)
	own := err == nil && string(text) == w.seen(path)
	f, err := Create("the results", path, nil, 0o600, w.Force || own)
	f.Abort()
	if err != nil || own {
		return err
	}
	return disk.WriteFile(note, []byte(w.seen(path)), 0o600)
}

var errElsewhere = errors.New("another process is at this job")
