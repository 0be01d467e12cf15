package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

var (
	// ErrMismatch is returned when the tables that a run calls neighbours are not those of its ledger.
	ErrMismatch = errors.New("the ledger is for other neighbours")
	// ErrReplaced is for the argument of [File.Append] to return with entries that must be written
	// whatever the file holds.
	ErrReplaced = fmt.Errorf("the ledger was replaced or cut back during the run, whose entries "+
		"were written again: %w", ErrInvalid)
)

// maxBytes bounds a ledger. A line is below 1 kB, unless its run reserves many different events; a
// run has some fifty to a few hundred. Parsed, a ledger takes a small multiple of its size.
const maxBytes = 256 << 20

// File is a ledger on disk: JSON lines, hash-chained (see [Ledger]). Appends take an exclusive lock
// on the file itself for the append only, so many processes may share one ledger. A file that does
// not exist is created by the first append. The file is not private in the sense of DP (it holds no
// data), but it is the memory of what was spent: keep it with the data.
type File struct {
	Timeout time.Duration // how long an append waits for the lock; NewFile sets 10 s

	path string

	mu   sync.Mutex
	text []byte // of the file, as this process left it
	seen *state // what that says; nil: nothing is known
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
	l, err := Parse(file)
	if err != nil && !errors.Is(err, ErrTorn) {
		return nil, fmt.Errorf("ledger: %s: %w", f.path, err)
	}
	return l, nil
}

// Parse reads JSON lines strictly and checks the chain: each line must be, byte for byte, the
// canonical JSON of its entry, which leaves no room for an unknown, repeated or reordered key.
// Errors wrap ErrInvalid and name the line; a ledger of more than 256 MiB is one too. If only the
// last line is torn, cut short before its newline, the entries before it are returned together with
// ErrTorn.
func Parse(r io.Reader) (*Ledger, error) {
	l := &Ledger{}
	b, err := read(r)
	if err == nil {
		_, err = l.Lines(b)
	}
	if err != nil && !errors.Is(err, ErrTorn) {
		return nil, err
	}
	return l, err
}

// read is all of a ledger, or an error if it is longer than one may be.
func read(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("longer than %d bytes: %w", maxBytes, ErrInvalid)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: reading the file: %w", err)
	}
	return b, nil
}

// Append reads the ledger under the lock, holds it to the rules, asks next for
// entries, and appends them if they keep to these rules too; with sync they are on the disk when it
// returns. In a new ledger the opening entry goes first. An error of next leaves the file as it
// was, but for ErrReplaced.
func (f *File) Append(
	ctx context.Context, u Units, sync bool, next func(*Ledger) ([]Entry, error),
) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := Lock(ctx, f.path, f.Timeout)
	if err != nil {
		return err
	}
	defer file.Close()
	b, err := read(file)
	if err != nil {
		return err
	}
	s, n, err := f.checked(b)
	if err != nil && !errors.Is(err, ErrTorn) { // a torn append never returned
		return fmt.Errorf("ledger: %s: %w", f.path, err)
	}
	var fresh []Entry
	if len(s.Entries) == 0 {
		fresh = append(fresh, u.OpenEntry(today()))
	} else if err := u.same(s.Entries[0]); err != nil {
		return err
	}
	asked, err := next(&s.Ledger)
	replaced := errors.Is(err, ErrReplaced) // what is spent is written whatever the rules say
	if err != nil && !replaced {
		return err
	}
	whole := b[:n]
	for _, e := range append(fresh, asked...) {
		line, err := s.Add(e)
		if err != nil {
			return err
		}
		if err := s.rules(s.last()); errors.Is(err, accountant.ErrBudget) && !replaced {
			return err // the file is as it should be: it refuses the run
		} else if err != nil && !replaced {
			return fmt.Errorf("ledger: %s: entry %d: %w: %w", f.path, s.last().Seq, ErrInvalid, err)
		}
		whole = append(whole, line...)
	}
	err = file.Put(whole[n:], int64(n), sync)
	if err == nil && sync {
		err = disk.SyncDir(filepath.Dir(f.path))
	}
	if err != nil {
		return fmt.Errorf("ledger: writing the file: %w", err)
	}
	if replaced {
		return fmt.Errorf("ledger: %s: %w", f.path, ErrReplaced)
	}
	f.text, f.seen = whole, s
	return nil
}

// checked is a file's content, held to the rules, and how many bytes of it are whole lines. What
// this process has left there, byte for byte, is not read again: a run appends often. It may be
// used once.
func (f *File) checked(b []byte) (s *state, whole int, err error) {
	s = newState()
	if f.seen != nil && bytes.HasPrefix(b, f.text) {
		s, whole = f.seen, len(f.text)
	}
	f.seen = nil
	n, err := s.Lines(b[whole:], s.rules)
	return s, whole + n, err
}

// today is the time of an entry that tells no more than the day.
func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

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
		return fmt.Errorf("ledger: the ledger counts %v neighbours of one %s, not %v neighbours of "+
			"one %s; their costs do not add up: %w", open.Adjacency, cmp.Or(open.Unit, "row"),
			u.Adjacency, cmp.Or(u.Unit, "row"), ErrMismatch)
	}
	return nil
}
