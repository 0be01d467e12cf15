package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/disk"
)

// The states of a job of a batch.
const (
	Waiting     = "waiting"     // not begun
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
	Run      string `json:"run,omitempty"` // in the ledger
	Attempt  int    `json:"attempt,omitempty"`
	Sampling string `json:"sampling,omitempty"` // what the output was sampled from and to
	// the files that the job has made or was about to make: it may replace them
	Outputs []string `json:"outputs,omitempty"`
	Rows    int      `json:"rows,omitempty"` // of the output
	Error   string   `json:"error,omitempty"`

	Earlier bool `json:"-"` // done by an earlier process
}

// State is a folder with what is known of each job of a batch, by identity.
type State struct{ dir string }

// OpenState makes the folder if it is not there.
func OpenState(dir string) (State, error) {
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return State{}, Bare(dir, err)
	}
	return State{dir}, nil
}

// path is a file of a job: .json the record, .model, .schema.yaml, .metrics.json, .lock.
func (s State) path(identity, suffix string) string {
	return filepath.Join(s.dir, identity[:16]+suffix)
}

// Metrics is the file of a job's metrics, as decoy evaluate writes it.
func (s State) Metrics(identity string) string { return s.path(identity, ".metrics.json") }

// read gives the record of a job; one that is not there, or not readable after a crash of the disk,
// is waiting.
func (s State) read(identity string) Record {
	var r Record
	b, err := ReadBounded(s.path(identity, ".json"), 1<<20)
	if err != nil || json.Unmarshal(b, &r) != nil || r.Identity != identity {
		return Record{Identity: identity, Status: Waiting}
	}
	return r
}

func (s State) write(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return disk.WriteFile(s.path(r.Identity, ".json"), append(text, '\n'), 0o600)
}

// create makes the outputs of a job its own, before anything is spent on them: from here on it may
// replace them, whenever its process dies. It refuses files of others, unless force.
func (s State) create(t *Task, r *Record, force bool) (*Outputs, error) {
	claimed := slices.Clone(r.Outputs)
	for _, path := range []string{t.Out, t.Model} {
		if path == "" {
			continue
		}
		if err := disk.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, Bare(path, err)
		}
		if !slices.Contains(claimed, path) {
			claimed = append(claimed, path)
		}
	}
	o, err := t.Create(nil, func(path string) bool {
		return force || slices.Contains(r.Outputs, path)
	})
	if err != nil {
		return nil, err
	}
	r.Outputs = claimed
	if err := s.write(*r); err != nil {
		o.Abort()
		return nil, err
	}
	return o, nil
}

// ClaimResults makes the tables of results the batch's own: it may replace them from here on.
func (s State) ClaimResults(force bool, paths ...string) error {
	note := filepath.Join(s.dir, "results")
	text, err := os.ReadFile(note)
	own := err == nil && string(text) == paths[0]
	for _, path := range paths {
		if err := TryCreate("--results", path, force || own); err != nil {
			return err
		}
	}
	if own {
		return nil
	}
	return disk.WriteFile(note, []byte(paths[0]), 0o600)
}

// lock makes this process the only one at the job. The system takes the lock from a process that is
// gone.
func (s State) lock(ctx context.Context, identity string) (unlock func(), err error) {
	l := flock.New(s.path(identity, ".lock"), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("locking a job: %w", err)
	case !ok:
		return nil, errElsewhere
	}
	return func() { l.Unlock() }, ctx.Err()
}

var errElsewhere = errors.New("another process is at this job")
