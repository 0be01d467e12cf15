package privacy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// ErrLocked is returned when another process holds the lock of a ledger for longer than LockTimeout.
	ErrLocked = errors.New("the ledger is locked")
	// ErrLedgerMismatch is returned when a run counts other privacy units than its ledger does.
	ErrLedgerMismatch = errors.New("the ledger counts other privacy units")
)

// LockTimeout is how long an append waits for the lock.
const LockTimeout = 10 * time.Second

// LedgerFile is a ledger on disk: JSON lines, hash-chained (see [accountant.Ledger]). Appends take an exclusive lock on the file
// itself for the append only, so many processes may share one ledger. A file that does not exist is created by the first append.
// The file is not private in the sense of DP (it holds no data), but it is the memory of what was spent: keep it with the data.
type LedgerFile struct {
	path    string
	timeout time.Duration

	mu           sync.Mutex
	check        *accountant.Checker // of the file's first checkedBytes; nil: none
	checkedBytes int
	checkedSum   [sha256.Size]byte
}

// NewLedgerFile names a ledger file; it does not touch the disk.
func NewLedgerFile(path string) *LedgerFile {
	return &LedgerFile{path: path, timeout: LockTimeout}
}

// Path is the file's name.
func (f *LedgerFile) Path() string { return f.path }

// Read returns the entries on disk, verified as a chain. A missing file is an empty ledger. A torn last line (an append cut short,
// whose run therefore never started) is left out.
func (f *LedgerFile) Read() (*accountant.Ledger, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &accountant.Ledger{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("privacy: reading the ledger: %w", err)
	}
	defer file.Close()
	b, err := readLedger(file)
	if err != nil {
		return nil, err
	}
	l, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("privacy: ledger %s: %w", f.path, err)
	}
	return l, nil
}

// parse reads a ledger, without a torn last line.
func parse(b []byte) (*accountant.Ledger, error) {
	if len(b) == 0 {
		return &accountant.Ledger{}, nil
	}
	l, err := accountant.ParseLedger(bytes.NewReader(b))
	if err != nil && !errors.Is(err, accountant.ErrTorn) {
		return nil, err
	}
	return l, nil
}

// Limit is what the runs of a ledger may spend together.
type Limit struct {
	Budget accountant.Budget
	Rule   accountant.LimitRule // "" is RuleBasic
	Strict bool                 // runs that break off before their first mechanism (void) stay charged

	KeepStrict bool // Strict too if the limit before is
	IfNone     bool // a limit that is there stays
}

// SetLimit appends a limit: from here on a run whose reservation would exceed it is refused. A limit below what is spent already is
// allowed (it refuses every further run).
func (f *LedgerFile) SetLimit(ctx context.Context, nb Neighbours, unit string, limit Limit) error {
	if err := limit.Budget.Validate(); err != nil {
		return err
	}
	if limit.Rule == "" {
		limit.Rule = accountant.RuleBasic
	}
	return f.append(ctx, nb, unit, true, func(l *accountant.Ledger) ([]accountant.Entry, error) {
		old, limited := l.Limit()
		if limited && limit.IfNone {
			return nil, nil
		}
		strict := limit.Strict || limit.KeepStrict && limited && old.Strict
		return []accountant.Entry{{Time: today(), Kind: accountant.EntryLimit, Budget: &limit.Budget, Rule: limit.Rule, Strict: strict}}, nil
	})
}

// append reads the ledger under the lock, holds it to the rules of [accountant.Ledger.Verify], asks next for entries, and appends them if
// they keep to these rules too; with sync they are on the disk when it returns. In a new ledger the opening entry goes first. An error of
// next leaves the file as it was, but for errReplaced.
func (f *LedgerFile) append(ctx context.Context, nb Neighbours, unit string, sync bool, next func(*accountant.Ledger) ([]accountant.Entry, error)) error {
	return f.locked(ctx, func(file *os.File) error {
		b, err := readLedger(file)
		if err != nil {
			return err
		}
		whole := b[:wholeLines(b)] // a torn line's append never returned
		check, err := f.checked(whole)
		f.check = nil // until all that it is about to see is in the file
		if err != nil {
			return fmt.Errorf("privacy: ledger %s: %w", f.path, err)
		}
		var fresh []accountant.Entry
		if l := check.Ledger(); len(l.Entries) == 0 {
			fresh = append(fresh, openEntry(nb, unit, today()))
		} else if err := sameUnits(l.Entries[0], nb, unit); err != nil {
			return err
		}
		asked, err := next(check.Ledger())
		replaced := errors.Is(err, errReplaced) // what is spent is written whatever the rules say of the file
		if err != nil && !replaced {
			return err
		}
		var lines []byte
		for _, e := range append(fresh, asked...) {
			var last accountant.Entry
			if n := len(check.Ledger().Entries); n > 0 {
				last = check.Ledger().Entries[n-1]
			}
			e = e.Seal(last)
			if err := check.Add(e); err != nil && !replaced {
				return fmt.Errorf("privacy: ledger %s: %w", f.path, err)
			}
			if lines, err = appendLine(lines, e); err != nil {
				return err
			}
		}
		if len(whole) < len(b) {
			if err := disk.Truncate(file, int64(len(whole))); err != nil {
				return fmt.Errorf("privacy: mending the ledger: %w", err)
			}
		}
		if _, err := disk.Write(file, lines); err != nil {
			return fmt.Errorf("privacy: writing the ledger: %w", err)
		}
		if sync {
			if err := disk.Sync(file); err != nil {
				return fmt.Errorf("privacy: syncing the ledger: %w", err)
			}
			if err := disk.SyncDir(filepath.Dir(f.path)); err != nil {
				return fmt.Errorf("privacy: syncing the ledger's folder: %w", err)
			}
		}
		if replaced {
			return fmt.Errorf("privacy: ledger %s: %w", f.path, errReplaced)
		}
		f.check, f.checkedBytes, f.checkedSum = check, len(whole)+len(lines), sha256.Sum256(append(whole, lines...))
		return nil
	})
}

// checked is the checker of a file's content. Content that begins with what was checked before, byte for byte, is checked from there on:
// a run appends often, and the cost of old reservations is dear to compute.
func (f *LedgerFile) checked(b []byte) (*accountant.Checker, error) {
	if n := f.checkedBytes; f.check != nil && len(b) >= n && sha256.Sum256(b[:n]) == f.checkedSum {
		return f.check, f.check.AddLines(b[n:])
	}
	check := accountant.NewChecker()
	return check, check.AddLines(b)
}

// maxLedger bounds what is read of a ledger, in bytes: some hundred thousand runs.
const maxLedger = 256 << 20

func readLedger(file *os.File) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(file, maxLedger+1))
	if err != nil {
		return nil, fmt.Errorf("privacy: reading the ledger: %w", err)
	}
	if len(b) > maxLedger {
		return nil, fmt.Errorf("privacy: the ledger has more than %d bytes: %w", maxLedger, accountant.ErrLedger)
	}
	return b, nil
}

func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

// locked runs do with the exclusive lock held, on the file opened for appending and positioned at its start.
func (f *LedgerFile) locked(ctx context.Context, do func(*os.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock := flock.New(f.path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	ok, err := lock.TryLockContext(wait, 20*time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("privacy: ledger %s: locked by another process for %v: %w", f.path, f.timeout, ErrLocked)
	case err != nil:
		return fmt.Errorf("privacy: opening the ledger: %w", err)
	case !ok:
		return fmt.Errorf("privacy: ledger %s: %w", f.path, ErrLocked)
	}
	defer lock.Unlock()
	file, err := disk.OpenFile(f.path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("privacy: opening the ledger: %w", err)
	}
	defer file.Close()
	return do(file)
}

// appendLine appends the canonical JSON of an entry and a newline.
func appendLine(b []byte, e accountant.Entry) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("privacy: encoding a ledger entry: %w", err)
	}
	return append(b, buf.Bytes()...), nil
}

// wholeLines is the length of b up to and including its last newline.
func wholeLines(b []byte) int64 { return int64(bytes.LastIndexByte(b, '\n') + 1) }

func openEntry(nb Neighbours, unit string, day time.Time) accountant.Entry {
	e := accountant.Entry{Time: day, Kind: accountant.EntryOpen, Adjacency: nb.Adjacency, Unit: unit}
	if unit != "" {
		e.MaxRowsPerUnit = nb.MaxRowsPerUnit
	}
	return e
}

// sameUnits refuses to add up costs of different neighbouring relations. How many rows of a unit a run uses is not part of the relation:
// neighbours differ in all rows of one unit (docs/claims/session.md).
func sameUnits(open accountant.Entry, nb Neighbours, unit string) error {
	want := openEntry(nb, unit, time.Time{})
	if open.Adjacency != want.Adjacency || open.Unit != want.Unit {
		return fmt.Errorf("privacy: the ledger counts %s, this run %s; their costs do not add up: %w",
			describe(open), describe(want), ErrLedgerMismatch)
	}
	return nil
}

func describe(e accountant.Entry) string {
	if e.Unit == "" {
		return fmt.Sprintf("%v neighbours of one row", e.Adjacency)
	}
	return fmt.Sprintf("%v neighbours of one %q", e.Adjacency, e.Unit)
}
