package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/internal/disk"
)

// The states of a job.
const (
	jobWaiting = "waiting" // not begun
	jobDone    = "done"    // its output is there
	jobFailed  = "failed"  // an error; the text says whether its budget is spent
	jobRefused = "refused" // the ledger's limit would be exceeded; nothing was read
	// its budget is spent, its process died, and its run cannot be continued
	jobInterrupted = "interrupted"
	jobCancelled   = "cancelled" // by the operator
	jobElsewhere   = "elsewhere" // another process is at it
)

// record is what the journal keeps of a job: one file, replaced as a whole. The ledger, not the
// journal, says what is spent. It has no time: how long a job took depends on its rows.
type record struct {
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

	earlier bool // done by an earlier process
}

// journal is a folder with the state of each job of a batch, by identity.
type journal struct{ dir string }

func openJournal(dir string) (journal, error) {
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return journal{}, bare(dir, err)
	}
	return journal{dir}, nil
}

// path is a file of a job: .json the record, .model, .journal, .schema.yaml, .metrics.json, .lock.
func (j journal) path(identity, suffix string) string {
	return filepath.Join(j.dir, identity[:16]+suffix)
}

// read gives the record of a job; one that is not there, or not readable after a crash of the disk,
// is waiting.
func (j journal) read(identity string) record {
	r := record{Identity: identity, Status: jobWaiting}
	b, err := readBounded(j.path(identity, ".json"), 1<<20)
	if err != nil || json.Unmarshal(b, &r) != nil || r.Identity != identity {
		return record{Identity: identity, Status: jobWaiting}
	}
	return r
}

func (j journal) write(r record) error {
	f, err := atomicfile.Create(j.path(r.Identity, ".json"), 0o600)
	if err != nil {
		return err
	}
	defer f.Abort()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	return f.Commit()
}

// claim makes the outputs of a job its own, before anything is spent on them: from here on it may
// replace them, in whatever moment its process dies. It refuses files of others, unless force.
func (j journal) claim(b *batchJob, r *record, force bool) error {
	written, _ := b.files()
	for _, w := range written {
		if w.path == "" {
			continue
		}
		if err := disk.MkdirAll(filepath.Dir(w.path), 0o777); err != nil {
			return bare(w.path, err)
		}
		own := slices.Contains(r.Outputs, w.path)
		if err := (&terminal{force: force || own}).try(w.name, w.path); err != nil {
			return err
		}
		if !own {
			r.Outputs = append(r.Outputs, w.path)
		}
	}
	return j.write(*r)
}

// claimResults does the same for the table of results and its page.
func (j journal) claimResults(path string, force bool) error {
	note := filepath.Join(j.dir, "results")
	text, err := os.ReadFile(note)
	own := err == nil && string(text) == path
	for _, p := range []string{path, resultsPageOf(path)} {
		if err := (&terminal{force: force || own}).try("--results", p); err != nil {
			return err
		}
	}
	if own {
		return nil
	}
	return atomicfile.WriteFile(note, []byte(path), 0o600)
}

// lock makes this process the only one at the job. The system takes the lock from a process that is
// gone.
func (j journal) lock(ctx context.Context, identity string) (unlock func(), err error) {
	l := flock.New(j.path(identity, ".lock"), flock.SetPermissions(0o600))
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
