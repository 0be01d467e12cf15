// Package disk holds the operations by which decoy makes anything last. All other packages create,
// write, sync, rename and remove files through these alone (internal/arch checks it), so that one
// test can stop a run before, in and after each of them (internal/kill).
//
// In an ordinary build they are what package os does. Built with the tag faults, each call is a
// numbered point at which the process dies or the operation fails, as the environment says: see
// faults.go.
//
// Upon them stands a [File], which is either complete or not there: a temporary file in the same
// directory, synced, then renamed. The temporary file of NAME is .NAME.decoy-PID.tmp. One that a
// killed process left behind is removed when NAME is written again, and so are those of NAME.model
// and the like. It is not meant for a directory that several machines write to at once: they would
// not know each other's processes.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// OpenFile is os.OpenFile. It is a point if it may create the file or empty it.
func OpenFile(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	open := func() error { f, err = os.OpenFile(name, flag, perm); return err }
	if flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		return f, open()
	}
	err = step("create", name, open)
	return f, err
}

// Sync is f.Sync: after it, what was written to f survives a crash of the machine.
func Sync(f *os.File) error { return step("sync", f.Name(), f.Sync) }

// Truncate is f.Truncate.
func Truncate(f *os.File, size int64) error {
	return step("truncate", f.Name(), func() error { return f.Truncate(size) })
}

// SyncDir makes the names in a folder survive a crash. A system that cannot do that to a folder, or
// may not open it, is no error.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	err = step("syncdir", dir, d.Sync)
	cannot := errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
	if cannot || runtime.GOOS == "windows" {
		return nil
	}
	return err
}

// MkdirAll is os.MkdirAll, and makes the names of the folders that it made survive a crash. It
// tells which these are, the innermost first.
func MkdirAll(dir string, perm fs.FileMode) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if made == nil {
		return nil, os.MkdirAll(dir, perm) // for the error if it is no folder
	}
	err = step("mkdir", dir, func() error { return os.MkdirAll(dir, perm) })
	for i := 0; i < len(made) && err == nil; i++ {
		err = SyncDir(filepath.Dir(made[i]))
	}
	return made, err
}
