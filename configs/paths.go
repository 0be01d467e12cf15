package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// Standard is the name of standard input and output, of text.
const Standard = "-"

// IsStandard reports whether a path is standard input or output: CSV, or Arrow as arrow:-.
func IsStandard(path string) bool {
	format, _ := table.Standard(path)
	return format != 0
}

// NamedPath is a file of a run, and what messages call it.
type NamedPath struct{ Name, Path string }

// Distinct refuses a run in which a file that is written is also read, or written twice. It follows
// links; a path that is empty or standard output is no file.
func Distinct(written, read []NamedPath) error {
	seen := map[string]NamedPath{}
	for _, r := range read {
		if r.Path != "" {
			seen[fileKey(r.Path)] = r
		}
	}
	for _, w := range slices.Backward(written) { // the one before is named first
		if w.Path == "" || IsStandard(w.Path) {
			continue
		}
		key := fileKey(w.Path)
		if other, ok := seen[key]; ok {
			return Usagef("%s and %s are the same file: %s", w.Name, other.Name, w.Path)
		}
		seen[key] = w
	}
	return nil
}

// SameFile reports whether two paths lead to one file, or will when it is created.
func SameFile(a, b string) bool { return fileKey(a) == fileKey(b) }

// fileKey is the same for all paths to one file: of one that is there its number, where the system
// has one, else its only path.
func fileKey(path string) string {
	info, err := os.Stat(path)
	if IsStandard(path) {
		info, err = os.Stdin.Stat()
	}
	if err == nil {
		if id := fileID(info); id != "" {
			return id
		}
	}
	return Resolve(path)
}

// Resolve is the absolute path, links followed as far as the file exists. They are followed before
// a ".." is taken away, as the system does: the folder above a link to a folder is that of the
// folder.
func Resolve(path string) string {
	if here, err := os.Getwd(); err == nil && !filepath.IsAbs(path) {
		path = here + string(filepath.Separator) + path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if name == "" {
		return path
	}
	return filepath.Join(Resolve(dir), name) // folders may still be made, and it stays the same path
}

// seenFrom is a path from a folder to a file, links followed; the absolute one where there is none.
func seenFrom(dir, path string) string {
	path = Resolve(path)
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// FormatOf is the format of a table file.
func FormatOf(name, path string) (table.Format, error) {
	if engine.Elsewhere(path) {
		return 0, Usagef("%s is a table in another system, from which fit, generate, "+
			"evaluate --epsilon, schema infer and schema units can read; here a file is needed, such as "+
			"an extract of the rows: decoy help scale", name) // an address may have a password
	}
	f, err := table.FormatOf(path)
	if err != nil {
		return 0, Usagef("%s %s: the extension must be %s (or - for CSV on standard input, "+
			"arrow:- for Arrow)", name, path, strings.Join(table.Endings(false), ", "))
	}
	return f, nil
}

// Endings are how the names of tables end, or of those that can be written alone.
func Endings(written bool) []string { return table.Endings(written) }

// outFormat is the format of a table file that is written.
func outFormat(name, path string) (table.Format, error) {
	f, err := table.FormatOf(path)
	if err != nil || !f.Written() {
		return 0, Usagef("%s %s: the extension must be %s, as which a table can be written (or - "+
			"for CSV on standard output, arrow:- for Arrow)", name, path,
			strings.Join(table.Endings(true), ", "))
	}
	return f, nil
}

// separators may stand between the cells of a CSV file in place of the comma.
const separators = ";\t|"

// Header is the names of a table's columns and, of a CSV file, how it is written, of which csv says
// what is known: the separator is the one by which the header has the most names, that of csv where
// others have no more. No row has a say.
func Header(path string, csv schema.CSV) (names []string, found schema.CSV, err error) {
	csv.Comma = csv.Separator()
	names, found, err = table.Header(path, csv)
	if format, _ := table.FormatOf(path); format&table.Tabs != 0 {
		found.Comma = '\t'
	}
	for _, other := range []byte(separators) {
		csv.Comma = other
		more, as, bad := table.Header(path, csv)
		if bad == nil && (err != nil || len(more) > len(names)) {
			names, found, err = more, as, nil
		}
	}
	return names, found, err
}

// Readable refuses an input that is not a regular file or may not be opened, and reads nothing.
func Readable(path string) error {
	if IsStandard(path) {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		text := path + " is not a regular file"
		if filepath.Ext(path) == ".csv" {
			text += "; CSV from a pipe is read as - from standard input"
		}
		return errors.New(text)
	default:
		var f *os.File
		if f, err = os.Open(path); err == nil {
			f.Close()
		}
	}
	return Bare(path, err)
}

// Bare is an error of package os about path without the name of the system call.
func Bare(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", path, e.Err)
	}
	return err
}

// ReadBounded is the content of a regular file of at most so many bytes.
func ReadBounded(path string, most int64) ([]byte, error) {
	if err := Readable(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > most { // it is not read into memory
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	b, err := os.ReadFile(path)
	return b, Bare(path, err)
}

// A UsageError is a mistake of whoever asked for a run: on the command line, in the environment or
// in a file of theirs. Nothing was read, and nothing is spent.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef is a UsageError with a text.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Reworded is an error with a text of its own, which keeps what it wraps.
type Reworded struct {
	Text string
	Err  error
}

func (e *Reworded) Error() string { return e.Text }
func (e *Reworded) Unwrap() error { return e.Err }
