package disk

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// File is a file in the making: write to it, then Commit or Abort. It is not for concurrent use.
type File struct {
	f      *os.File // nil once committed or aborted
	target string
	fresh  bool // at Commit there must be nothing at target, or the same
}

// Create starts a file that will replace target, if there is one. A new file gets the given
// permissions (before umask); one that is replaced keeps its own, less those of others where perm
// has none for others. Anything at target but a regular file is refused: a symbolic link says that
// the place is elsewhere, and renaming over a device or a pipe would remove it. A process must not
// have two files for one target at a time.
func Create(target string, perm fs.FileMode) (*File, error) {
	return create(target, perm, false)
}

// CreateNew is Create for a target at which there is nothing. If there is something, that is an
// error that wraps fs.ErrExist, now or, unless it is [File.Itself], at Commit.
func CreateNew(target string, perm fs.FileMode) (*File, error) {
	return create(target, perm, true)
}

func create(target string, perm fs.FileMode, fresh bool) (*File, error) {
	old, err := os.Lstat(target)
	there := err == nil
	switch {
	case !there:
	case old.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: a symbolic link", target)
	case !old.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", target)
	case fresh:
		return nil, fmt.Errorf("%s: %w", target, fs.ErrExist)
	}
	Sweep(target)
	f, err := OpenFile(temporary(target, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot create a file there: %w", target, cause(err))
	}
	out := &File{f: f, target: target, fresh: fresh}
	if there {
		mode := old.Mode().Perm()
		if perm&0o077 == 0 {
			mode &^= 0o077
		}
		if err := f.Chmod(mode); err != nil {
			out.Abort()
			return nil, fmt.Errorf("%s: cannot create a file there: %w", target, cause(err))
		}
	}
	return out, nil
}

// Itself lets a file that Create has begun take the place of nothing but a file of the same
// content, as one that an earlier process has made: another one is an error at Commit, and stays.
func (f *File) Itself() { f.fresh = true }

// Write writes to the temporary file. Its errors name the target.
func (f *File) Write(p []byte) (int, error) {
	n, err := Write(f.f, p)
	if err != nil {
		err = fmt.Errorf("writing %s: %w", f.target, cause(err))
	}
	return n, err
}

// Commit makes the content durable and gives it the target's name, durably too. After an error the
// temporary file is gone, and the target is as it was before or, if only its folder could not be
// synced, complete.
func (f *File) Commit() error {
	file := f.f
	if file == nil {
		return fmt.Errorf("writing %s: already closed", f.target)
	}
	f.f = nil
	err := Sync(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if _, none := os.Lstat(f.target); err == nil && f.fresh && none == nil {
		err = f.differs(file.Name()) // from what another process has made
	}
	if err == nil {
		err = step("rename", f.target, func() error { return os.Rename(file.Name(), f.target) })
	}
	if err != nil {
		Remove(file.Name())
		return fmt.Errorf("writing %s: %w", f.target, cause(err))
	}
	if err := SyncDir(filepath.Dir(f.target)); err != nil {
		return fmt.Errorf("writing %s: it is complete, but its name may not survive a crash: %w",
			f.target, cause(err))
	}
	return nil
}

// differs is an error unless the target holds the same as the file at path.
func (f *File) differs(path string) error {
	var sums [2][]byte
	for i, name := range []string{f.target, path} {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		h := sha256.New()
		if _, err := io.Copy(h, file); err != nil {
			return err
		}
		sums[i] = h.Sum(nil)
	}
	if !bytes.Equal(sums[0], sums[1]) {
		return fs.ErrExist
	}
	return nil
}

// WriteFile makes a file of the content: Create, Write and Commit in one.
func WriteFile(target string, content []byte, perm fs.FileMode) error {
	f, err := Create(target, perm)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Commit()
}

// Abort removes the temporary file. After Commit it does nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.f != nil {
		f.f.Close()
		Remove(f.f.Name())
		f.f = nil
	}
}

func temporary(target string, pid int) string {
	return filepath.Join(filepath.Dir(target),
		fmt.Sprintf(".%s.decoy-%d.tmp", filepath.Base(target), pid))
}

// Sweep removes the temporary files of target, and of targets whose names begin with target and a
// dot, whose process is gone. One of target with our own number is from a predecessor that had it.
// Create does so for its target.
func Sweep(target string) {
	dir, prefix := filepath.Dir(target), "."+filepath.Base(target)+"."
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		at := strings.LastIndex(name, ".decoy-")
		if !strings.HasPrefix(name, prefix) || at < 0 || !e.Type().IsRegular() {
			continue
		}
		number, ok := strings.CutSuffix(name[at+len(".decoy-"):], ".tmp")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if filepath.Join(dir, name) == temporary(target, os.Getpid()) || !alive(pid) {
			Remove(filepath.Join(dir, name))
		}
	}
}

// cause drops the name of the temporary file from an error of package os.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
