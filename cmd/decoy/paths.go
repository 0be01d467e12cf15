package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/table"
)

// standard is the name of standard input and output.
const standard = "-"

// place is a file of a run and how the command line names it.
type place struct{ name, path string }

// distinct refuses a run in which a file that is written is also read, or written twice. It follows
// links; a path that is empty or standard output is no file.
func distinct(written, read []place) error {
	for i, w := range written {
		if w.path == "" || w.path == standard {
			continue
		}
		for _, other := range append(written[i+1:len(written):len(written)], read...) {
			if other.path != "" && sameFile(w.path, other.path) {
				return usagef("%s and %s are the same file: %s", w.name, other.name, w.path)
			}
		}
	}
	return nil
}

// sameFile reports whether two paths lead to one file, or will when it is created.
func sameFile(a, b string) bool {
	ia, errA := statFile(a)
	ib, errB := statFile(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return errA != nil && errB != nil && b != standard && resolve(a) == resolve(b)
}

// statFile is os.Stat, with standard for standard input.
func statFile(path string) (fs.FileInfo, error) {
	if path == standard {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
}

// resolve is the absolute path, links followed as far as the file exists. They are followed before
// a ".." is taken away, as the system does: the folder above a link to a folder is that of the
// folder.
func resolve(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		dir, name := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			dir = filepath.Dir(path)
		}
		real = filepath.Join(dir, name)
	}
	if filepath.IsAbs(real) {
		return real
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return real
	}
	return filepath.Join(here, real)
}

// create starts an output of the verb, named by a flag. It takes the place of nothing unless
// --force says so, and even then only of a regular file.
func (t *terminal) create(flag, path string, perm fs.FileMode) (*atomicfile.File, error) {
	start := atomicfile.CreateNew
	if t.force {
		start = atomicfile.Create
	}
	f, err := start(path, perm)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, usagef("%s %s: there is a file already; --force replaces it", flag, path)
	case err != nil:
		return nil, fmt.Errorf("%s %w", flag, err)
	}
	return f, nil
}

// try finds out whether create would, and leaves nothing.
func (t *terminal) try(flag, path string) error {
	f, err := t.create(flag, path, 0o600)
	if err == nil {
		f.Abort()
	}
	return err
}

// addForce is the flag of the verbs that write files.
func addForce(cmd *cobra.Command, t *terminal) {
	cmd.Flags().BoolVar(&t.force, "force", false, "replace outputs that are there; a link, a pipe, "+
		"a device or a folder is refused all the same")
}

// formatOf is the format of a table file; standard input and output are CSV.
func formatOf(name, path string) (table.Format, error) {
	if path == standard {
		return table.CSV, nil
	}
	f, err := table.FormatOf(path)
	if err != nil {
		return 0, usagef("%s %s: the extension must be .csv or .parquet (or - for CSV on standard "+
			"input and output)", name, path)
	}
	return f, nil
}

// readable refuses an input that is not a regular file or may not be opened, and reads nothing.
func readable(path string) error {
	if path == standard {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; CSV from a pipe is read as - from standard input",
			path)
	default:
		var f *os.File
		if f, err = os.Open(path); err == nil {
			f.Close()
		}
	}
	return bare(path, err)
}

// bare is an error of package os about path without the name of the system call.
func bare(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}

// readBounded is the content of a file of at most so many bytes. A pipe is read once.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, bare(path, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, nil
}
