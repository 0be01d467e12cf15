package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/disk"
)

var (
	// ErrLocked is returned when another process holds the lock of a ledger for longer than
	// [File].Timeout.
	ErrLocked = errors.New("the ledger is locked")
	// ErrMismatch is returned when the tables that a run calls neighbours are not those of its ledger.
	ErrMismatch = errors.New("the ledger is for other neighbours")
	// ErrReplaced is for the argument of [File.Append] to return with entries that must be written
	// whatever the file holds.
	ErrReplaced = fmt.Errorf("the ledger was replaced or cut back during the run, whose entries "+
		"were written again: %w", ErrInvalid)
)

// File is a ledger on disk: JSON lines, hash-chained (see [Ledger]). Appends take an exclusive lock
// on the file itself for the append only, so many processes may share one ledger. A file that does
// not exist is created by the first append. The file is not private in the sense of DP (it holds no
// data), but it is the memory of what was spent: keep it with the data.
type File struct {
	Timeout time.Duration // how long an append waits for the lock; NewFile sets 10 s

	path string

	mu        sync.Mutex
	seen      *Ledger // the file's first seenBytes
	state     *state  // of these; nil: none
	seenBytes int
	seenSum   [sha256.Size]byte
}

// NewFile names a ledger file; it does not touch the disk.
func NewFile(path string) *File {
	return &File{path: path, Timeout: 10 * time.Second}
}

// Path is the file's name.
func (f *File) Path() string { return f.path }

// Read returns the entries on disk, verified as a chain. A missing file is an empty ledger. A torn
// last line (an append cut short, whose run therefore never started) is left out.
func (f *File) Read() (*Ledger, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Ledger{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: reading the file: %w", err)
	}
	defer file.Close()
	b, err := read(file)
	if err != nil {
		return nil, err
	}
	l := &Ledger{}
	if _, err := l.parse(b, func(Entry) error { return nil }); err != nil && !errors.Is(err, ErrTorn) {
		return nil, fmt.Errorf("ledger: %s: %w", f.path, err)
	}
	return l, nil
}

// Append reads the ledger under the lock, holds it to the rules, asks next for
// entries, and appends them if they keep to these rules too; with sync they are on the disk when it
// returns. In a new ledger the opening entry goes first. An error of next leaves the file as it
// was, but for ErrReplaced.
func (f *File) Append(
	ctx context.Context, u Units, sync bool, next func(*Ledger) ([]Entry, error),
) error {
	return f.locked(ctx, func(file *os.File) error {
		b, err := read(file)
		if err != nil {
			return err
		}
		l, s, n, err := f.checked(b)
		f.state = nil                   // until all that it is about to see is in the file
		torn := errors.Is(err, ErrTorn) // an append that never returned
		if err != nil && !torn {
			return fmt.Errorf("ledger: %s: %w", f.path, err)
		}
		whole := b[:n]
		var fresh []Entry
		if len(l.Entries) == 0 {
			fresh = append(fresh, u.OpenEntry(Today()))
		} else if err := u.same(l.Entries[0]); err != nil {
			return err
		}
		asked, err := next(l)
		// what is spent is written whatever the rules say of the file
		replaced := errors.Is(err, ErrReplaced)
		if err != nil && !replaced {
			return err
		}
		for _, e := range append(fresh, asked...) {
			e = e.Seal(l.last())
			if err := s.add(e); errors.Is(err, accountant.ErrBudget) && !replaced {
				return err // the file is as it should be: it refuses the run
			} else if err != nil && !replaced {
				return fmt.Errorf("ledger: %s: entry %d: %w: %w", f.path, e.Seq, ErrInvalid, err)
			}
			line, err := encode(e)
			if err != nil {
				return fmt.Errorf("ledger: encoding an entry: %w", err)
			}
			l.Entries, whole = append(l.Entries, e), append(append(whole, line...), '\n')
		}
		if torn {
			if err := disk.Truncate(file, int64(n)); err != nil {
				return fmt.Errorf("ledger: mending the file: %w", err)
			}
		}
		if _, err := disk.Write(file, whole[n:]); err != nil {
			return fmt.Errorf("ledger: writing the file: %w", err)
		}
		if sync {
			if err := disk.Sync(file); err != nil {
				return fmt.Errorf("ledger: syncing the file: %w", err)
			}
			if err := disk.SyncDir(filepath.Dir(f.path)); err != nil {
				return fmt.Errorf("ledger: syncing the folder: %w", err)
			}
		}
		if replaced {
			return fmt.Errorf("ledger: %s: %w", f.path, ErrReplaced)
		}
		f.seen, f.state, f.seenBytes, f.seenSum = l, s, len(whole), sha256.Sum256(whole)
		return nil
	})
}

// checked is a file's content, held to the rules. Content that begins with what was checked before,
// byte for byte, is checked from there on: a run appends often.
func (f *File) checked(b []byte) (l *Ledger, s *state, whole int, err error) {
	l, s = &Ledger{}, newState()
	if n := f.seenBytes; f.state != nil && len(b) >= n && sha256.Sum256(b[:n]) == f.seenSum {
		l, s, whole = f.seen, f.state, n
	}
	n, err := l.parse(b[whole:], s.add)
	return l, s, whole + n, err
}

// Today is the time of an entry that tells no more than the day.
func Today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

// locked runs do with the exclusive lock held, on the file opened for appending and positioned at
// its start.
func (f *File) locked(ctx context.Context, do func(*os.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock := flock.New(f.path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	ok, err := lock.TryLockContext(wait, 20*time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("ledger: %s: locked by another process for %v: %w", f.path, f.Timeout,
			ErrLocked)
	case err != nil:
		return fmt.Errorf("ledger: opening the file: %w", err)
	case !ok:
		return fmt.Errorf("ledger: %s: %w", f.path, ErrLocked)
	}
	defer lock.Unlock()
	file, err := disk.OpenFile(f.path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("ledger: opening the file: %w", err)
	}
	defer file.Close()
	return do(file)
}

// Units is the neighbouring relation of a run. A ledger adds up costs of one relation only.
type Units struct {
	Adjacency      accountant.Adjacency
	Unit           string // id column of the privacy units; "" if every row is one
	MaxRowsPerUnit int    // that the run uses, with an id column
}

// OpenEntry is the first entry of a ledger of these units.
func (u Units) OpenEntry(day time.Time) Entry {
	e := Entry{Time: day, Kind: EntryOpen, Adjacency: u.Adjacency, Unit: u.Unit}
	if u.Unit != "" {
		e.MaxRowsPerUnit = u.MaxRowsPerUnit
	}
	return e
}

// same refuses to add up costs of different neighbouring relations. How many rows of a unit a run
// uses is not part of the relation: neighbours differ in all rows of one unit
// (docs/claims/session.md).
func (u Units) same(open Entry) error {
	if open.Adjacency != u.Adjacency || open.Unit != u.Unit {
		return fmt.Errorf("ledger: the ledger counts %v neighbours of one %s, this run %v neighbours "+
			"of one %s; their costs do not add up: %w", open.Adjacency, cmp.Or(open.Unit, "row"),
			u.Adjacency, cmp.Or(u.Unit, "row"), ErrMismatch)
	}
	return nil
}
