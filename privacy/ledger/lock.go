package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/decoy-dp/decoy/internal/disk"
)

// ErrLocked is returned when another process has held a lock for longer than anybody waits.
var ErrLocked = errors.New("another process has it locked")

// Locked is a file that this process alone appends to until it closes it. The system takes the lock
// from a process that is gone.
type Locked struct {
	*os.File
	lock *flock.Flock
}

// Lock locks a file, which it makes if there is none. It waits that long for another process.
func Lock(ctx context.Context, path string, patience time.Duration) (*Locked, error) {
	for began := time.Now(); ctx.Err() == nil; {
		lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("ledger: locking a file: %w", err)
		}
		if ok {
			file, err := disk.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
			f := &Locked{file, lock}
			if err == nil && f.There() {
				return f, nil
			}
			f.Close() // the process that had it removed it between our opening and our locking it
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("ledger: opening a file: %w", err)
			}
			continue
		}
		if time.Since(began) >= patience {
			return nil, fmt.Errorf("ledger: %s: waited %v: %w", path, patience, ErrLocked)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil, ctx.Err()
}

// There reports whether the file at the path is the one that is locked: somebody may have removed
// it, and another have made his own.
func (f *Locked) There() bool {
	locked, err := f.lock.Stat()
	there, gone := os.Stat(f.Name())
	return errors.Join(err, gone) == nil && os.SameFile(locked, there)
}

// Put appends b, after cutting the file to size where it is longer: what is behind was never
// finished. With sync all of it is on the disk when it returns.
func (f *Locked) Put(b []byte, size int64, sync bool) error {
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		err = disk.Truncate(f.File, size)
	}
	if err == nil {
		_, err = disk.Write(f.File, b)
	}
	if err == nil && sync {
		err = disk.Sync(f.File)
	}
	return err
}

// Close gives the lock up.
func (f *Locked) Close() error { return errors.Join(f.File.Close(), f.lock.Unlock()) }
