package configs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/internal/spelling"
)

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

// Do carries out a job of a batch, from whatever an earlier process left, and returns its record.
// It never panics.
func (w *Runner) Do(ctx context.Context, t *Task) (r Record) {
	r = Record{Job: t.Name, Identity: t.Identity}
	lock := flock.New(w.path(t.Identity, ".lock"), flock.SetPermissions(0o600))
	// the system takes the lock from a process that is gone
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return ended(r, fmt.Errorf("locking a job: %w", err))
	case !ok:
		return ended(r, errElsewhere)
	}
	defer lock.Unlock()
	disk.Sweep(w.path(t.Identity, ""))
	r = w.read(t.Identity)
	r.Job = t.Name
	if ctx.Err() != nil {
		return ended(r, ctx.Err())
	}
	if r.Status == Done && r.Sampling == t.sampling() && !slices.ContainsFunc(t.outs, missing) &&
		(t.Bought == "" || isFile(t.Bought)) &&
		(t.Evaluate == nil || isFile(w.Metrics(t.Identity))) {
		r.Earlier = true
		return r
	}
	err := cmp.Or(t.checkEvaluation(), w.take(t)) // before anything is spent
	written, _ := t.Files()
	for _, f := range written {
		if _, failed := disk.MkdirAll(filepath.Dir(f.Path), 0o777); err == nil {
			err = Bare(f.Path, failed)
		}
	}
	if err != nil {
		return ended(r, err)
	}
	r = ended(r, w.guarded(ctx, t, &r))
	r.Sampling = t.sampling()
	if err := w.write(r); err != nil && r.Error == "" {
		return ended(r, err)
	}
	return r
}

// guarded turns a panic of one job into its failure.
func (w *Runner) guarded(ctx context.Context, t *Task, r *Record) (err error) {
	defer func() {
		if p := recover(); p != nil { // its text may hold anything
			err = fmt.Errorf("a defect of the program (%T); 'decoy generate' with the same job shows where",
				p)
		}
	}()
	return w.Run(ctx, "generate", t, r, nil)
}

// ended is the record of a job that ended with err.
func ended(r Record, err error) Record {
	r.Status, r.Error = statusOf(err), ""
	if r.Status == Cancelled {
		r.Error = "interrupted"
	} else if err != nil {
		r.Error = spelling.Line(err)
	}
	return r
}

// sampling names what the output holds, where it goes and what it is compared with: as long as it
// stays the same, an output that is there is done.
func (t *Task) sampling() string {
	text := fmt.Sprintf("%d rows, seed %d, to %s %s", t.Rows, t.Seed, strings.Join(t.outs, " "),
		t.Model)
	if t.SpreadsheetSafe {
		text += ", spreadsheet-safe"
	}
	if t.Evaluate != nil {
		text += fmt.Sprintf(", compared with %q", *t.Evaluate)
	}
	return text
}

// Open makes the folder of the state if it is not there.
func (w *Runner) Open() error {
	_, err := disk.MkdirAll(w.State, 0o700)
	return Bare(w.State, err)
}

// path is a file of a job: .json the record, .model, .schema.yaml, .metrics.json, .lock.
func (w *Runner) path(identity, suffix string) string {
	return filepath.Join(w.State, identity[:16]+suffix)
}

// seen is a path from the folder of the batch.
func (w *Runner) seen(path string) string { return seenFrom(filepath.Dir(Resolve(w.State)), path) }

// Metrics is the file of a job's metrics, as decoy evaluate writes it.
func (w *Runner) Metrics(identity string) string { return w.path(identity, ".metrics.json") }

// read gives the record of a job; one that is not there, or not readable after a crash of the disk,
// is waiting.
func (w *Runner) read(identity string) Record {
	var r Record
	b, err := ReadBounded(w.path(identity, ".json"), 1<<20)
	if err != nil || json.Unmarshal(b, &r) != nil || r.Identity != identity {
		return Record{Identity: identity, Status: Waiting}
	}
	return r
}

// claim makes the outputs of a job the batch's own: from here on it may replace them, whenever its
// process dies.
func (j *job) claim() error {
	written, _ := j.Files()
	for _, f := range written {
		if own := j.seen(f.Path); !slices.Contains(j.record.Outputs, own) {
			j.record.Outputs = append(j.record.Outputs, own)
		}
	}
	return j.write(*j.record)
}

func (w *Runner) write(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return disk.WriteFile(w.path(r.Identity, ".json"), append(text, '\n'), 0o600)
}

// ClaimResults makes the table of results the batch's own: it may replace it from here on.
func (w *Runner) ClaimResults(path string) error {
	note := filepath.Join(w.State, "results")
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

func missing(path string) bool { return !isFile(path) }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
