package privacy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/accountant"
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
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &accountant.Ledger{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("privacy: reading the ledger: %w", err)
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
	return f.update(ctx, nb, unit, func(*accountant.Ledger) (accountant.Entry, error) {
		return accountant.Entry{Time: now(), Kind: accountant.EntryLimit, Budget: &limit.Budget, Rule: limit.Rule, Strict: limit.Strict}, nil
	})
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// update reads and verifies the ledger under the lock, asks next for one entry, and appends it with an fsync. In a new ledger the
// opening entry goes first. An error of next leaves the file as it was.
func (f *LedgerFile) update(ctx context.Context, nb Neighbours, unit string, next func(*accountant.Ledger) (accountant.Entry, error)) error {
	return f.locked(ctx, func(file *os.File) error {
		b, err := io.ReadAll(file)
		if err != nil {
			return fmt.Errorf("privacy: reading the ledger: %w", err)
		}
		l, err := parse(b)
		if err != nil {
			return fmt.Errorf("privacy: ledger %s: %w", f.path, err)
		}
		var fresh []accountant.Entry
		if len(l.Entries) == 0 {
			open := openEntry(nb, unit).Seal(accountant.Entry{})
			l.Entries, fresh = append(l.Entries, open), append(fresh, open)
		} else if err := sameUnits(l.Entries[0], nb, unit); err != nil {
			return err
		}
		e, err := next(l)
		if err != nil {
			return err
		}
		fresh = append(fresh, e.Seal(l.Entries[len(l.Entries)-1]))
		if err := file.Truncate(wholeLines(b)); err != nil { // drops a torn line, whose append never returned
			return fmt.Errorf("privacy: mending the ledger: %w", err)
		}
		if err := write(file, fresh); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("privacy: syncing the ledger: %w", err)
		}
		return syncDir(filepath.Dir(f.path))
	})
}

// log appends an entry of a run that is already reserved: it chains to the last line without reading the rest, and leaves
// the fsync to the entry that closes the run.
func (f *LedgerFile) log(ctx context.Context, e accountant.Entry, sync bool) error {
	return f.locked(ctx, func(file *os.File) error {
		last, err := lastEntry(file)
		if err != nil {
			return fmt.Errorf("privacy: ledger %s: %w", f.path, err)
		}
		if err := write(file, []accountant.Entry{e.Seal(last)}); err != nil {
			return err
		}
		if sync {
			if err := file.Sync(); err != nil {
				return fmt.Errorf("privacy: syncing the ledger: %w", err)
			}
		}
		return nil
	})
}

// locked runs do with the exclusive lock held, on the file opened for appending and positioned at its start.
func (f *LedgerFile) locked(ctx context.Context, do func(*os.File) error) error {
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
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("privacy: opening the ledger: %w", err)
	}
	defer file.Close()
	return do(file)
}

// write appends the entries in one write.
func write(file *os.File, entries []accountant.Entry) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return fmt.Errorf("privacy: encoding a ledger entry: %w", err)
		}
	}
	if _, err := file.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("privacy: writing the ledger: %w", err)
	}
	return nil
}

// lastEntry is the last whole line; a torn line after it is cut off.
func lastEntry(file *os.File) (accountant.Entry, error) {
	info, err := file.Stat()
	if err != nil {
		return accountant.Entry{}, err
	}
	for span := int64(1 << 14); ; span *= 8 {
		from := max(0, info.Size()-span)
		tail := make([]byte, info.Size()-from)
		if _, err := file.ReadAt(tail, from); err != nil && err != io.EOF {
			return accountant.Entry{}, err
		}
		whole := wholeLines(tail)
		if whole < int64(len(tail)) {
			if err := file.Truncate(from + whole); err != nil {
				return accountant.Entry{}, err
			}
		}
		start := int64(bytes.LastIndexByte(tail[:max(0, whole-1)], '\n') + 1)
		if start == 0 && from > 0 {
			continue // the last line is longer than the span
		}
		var e accountant.Entry
		if err := json.NewDecoder(bufio.NewReader(bytes.NewReader(tail[start:whole]))).Decode(&e); err != nil {
			return accountant.Entry{}, fmt.Errorf("its last line cannot be read: %w", accountant.ErrLedger)
		}
		return e, nil
	}
}

// wholeLines is the length of b up to and including its last newline.
func wholeLines(b []byte) int64 { return int64(bytes.LastIndexByte(b, '\n') + 1) }

func openEntry(nb Neighbours, unit string) accountant.Entry {
	e := accountant.Entry{Time: now(), Kind: accountant.EntryOpen, Adjacency: nb.Adjacency, Unit: unit}
	if unit != "" {
		e.MaxRowsPerUnit = nb.MaxRowsPerUnit
	}
	return e
}

// sameUnits refuses to add up costs of different neighbouring relations. How many rows of a unit a run uses is not part of the relation:
// neighbours differ in all rows of one unit (docs/claims/session.md).
func sameUnits(open accountant.Entry, nb Neighbours, unit string) error {
	want := openEntry(nb, unit)
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

// syncDir makes a new file's name durable; filesystems that cannot are not an error.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}
