package privacy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// ErrResume is wrapped by every refusal of [Resume] to continue a run.
var ErrResume = errors.New("the run cannot be continued")

// Resume continues a run that a killed process left unfinished: the same ledger entry, the same reservation. What the session may still call
// is the plan less every charge in the ledger. A charge whose result died with its process stays spent; nothing is drawn twice for it.
//
// The run must have been opened with Options.Resumable, must have no end in the ledger, and its process must be gone: that one held a
// lock for its whole life, and so does the session that Resume returns. Schema, budget, plan, neighbouring relation and method must be those of the
// reservation. All refusals wrap [ErrResume], append nothing and read nothing; besides there are the errors of [Open].
//
// The rows are read anew. With an id column the choice of MaxRowsPerUnit rows of a unit is drawn anew too, which is no further cost
// (docs/claims/session.md). If they cannot be read the run stays as it is, and may be continued later.
func Resume(ctx context.Context, rows *Rows, run string, o Options) (*Session, error) {
	if err := rows.schema.Validate(); err != nil {
		return nil, err
	}
	nb := NeighboursOf(rows.schema, o.Adjacency)
	if err := fits(o.Plan, o.Budget, nb.Adjacency); err != nil {
		return nil, err
	}
	if o.Ledger == nil || !isRun(run) {
		return nil, fmt.Errorf("privacy: %w: it needs a ledger file and the run's name there", ErrResume)
	}
	s := &Session{schema: rows.schema, nb: nb, file: o.Ledger, run: run, src: noise.NewSource(), left: accountant.NewReservation(o.Plan)}
	var err error
	if s.life, err = takeOver(o.Ledger.lifePath(run)); err != nil {
		return nil, fmt.Errorf("privacy: run %s: %w", run, err)
	}
	err = o.Ledger.update(ctx, nb, rows.schema.Unit, func(l *accountant.Ledger) (accountant.Entry, error) {
		if err := s.adopt(l, o); err != nil {
			return accountant.Entry{}, fmt.Errorf("privacy: run %s: %w", run, err)
		}
		e := accountant.Entry{Time: now(), Kind: accountant.EntryResume, Run: run, Tool: o.Tool}
		s.record(e)
		e.PID = os.Getpid()
		e.Host, _ = os.Hostname()
		return e, nil
	})
	if err != nil {
		s.life.Unlock()
		return nil, err
	}
	if err := rows.read(ctx, s); err != nil {
		s.life.Unlock()
		return nil, err
	}
	return s, nil
}

// adopt takes over what the ledger says of the session's run: its entries, and what is left of its reservation.
func (s *Session) adopt(l *accountant.Ledger, o Options) error {
	reserved := false
	for _, e := range l.Entries {
		if e.Run != s.run {
			continue
		}
		switch e.Kind {
		case accountant.EntryReserve:
			if err := s.same(e, o); err != nil {
				return err
			}
			reserved = true
			s.record(openEntry(s.nb, s.schema.Unit))
		case accountant.EntryCharge:
			if e.Event == nil {
				return fmt.Errorf("it has a charge without an event: %w", ErrResume)
			}
			if err := s.left.Take(*e.Event); err != nil {
				return fmt.Errorf("its charges are not in its reservation: %w: %w", ErrResume, err)
			}
			s.calls += e.Event.Count
		case accountant.EntryClose:
			return fmt.Errorf("it is %s: %w", e.Status, ErrResume)
		}
		e.PID, e.Host = 0, "" // of the file beside the data only
		s.record(e)
	}
	if !reserved {
		return fmt.Errorf("it is not in the ledger: %w", ErrResume)
	}
	return nil
}

// same refuses to continue a reservation with another plan than it was made for.
func (s *Session) same(e accountant.Entry, o Options) error {
	what := ""
	switch {
	case e.SchemaSHA256 != s.schema.Fingerprint():
		what = "schema"
	case e.Budget == nil || *e.Budget != o.Budget:
		what = "budget"
	case !slices.Equal(e.Composition, o.Plan):
		what = "plan"
	case e.Adjacency != s.nb.Adjacency || e.Unit != s.schema.Unit:
		what = "neighbouring relation"
	case e.Method != o.Method:
		what = "method"
	default:
		return nil
	}
	return fmt.Errorf("its %s is another one: %w", what, ErrResume)
}

// Left is how often the session may still call a mechanism with this event: in a continued run less than planned, if a result was lost.
func (s *Session) Left(event accountant.Event) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left.Left(event)
}

// lifePath is a file beside the ledger that the process of a resumable run keeps locked until the run has an end. A process that is gone, however
// it went, holds no lock: unlike the number of a process, that cannot be mistaken.
func (f *LedgerFile) lifePath(run string) string { return f.path + "." + run + ".lock" }

// hold creates and locks the life file of a new run.
func hold(path string) (*flock.Flock, error) {
	life := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|os.O_EXCL), flock.SetPermissions(0o600))
	switch ok, err := life.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("privacy: locking %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("privacy: locking %s: %w", path, ErrLocked)
	}
	return life, nil
}

// takeOver locks the life file of a run whose process is gone. It is never created here: without it nothing would be known of the process.
func takeOver(path string) (*flock.Flock, error) {
	life := flock.New(path, flock.SetFlag(os.O_RDWR))
	ok, err := life.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("it has no lock file %s, so it has ended or was never resumable: %w", path, ErrResume)
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("its process is still running: %w", ErrResume)
	}
	return life, nil
}

// die gives the life file up, once the run has an end in the ledger, or never began: whoever locks the file later finds that.
func (s *Session) die() {
	if s.life != nil {
		s.life.Unlock()
		os.Remove(s.life.Path())
	}
}

// isRun reports whether the name is one of newRun, and so safe in a file's name.
func isRun(run string) bool {
	for _, c := range run {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return len(run) == 16
}
