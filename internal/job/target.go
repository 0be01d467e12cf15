package job

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/decoy-dp/decoy/internal/atomicfile"
)

// ReleaseMode are the permissions of what a run releases: synthetic tables and models are public.
const ReleaseMode fs.FileMode = 0o644

// Target is an output in the making: a file that appears when it is complete, or standard output. A
// nil Target is one that nobody asked for.
type Target struct {
	io.Writer
	file *atomicfile.File // nil for standard output
	path string
}

// Create starts an output, which messages call name, so that one that cannot be written is known
// before anything is spent. It takes the place of nothing unless force says so, and even then only
// of a regular file. For [IsStandard] it is stdout.
func Create(
	name, path string, stdout io.Writer, perm fs.FileMode, force bool,
) (*Target, error) {
	if IsStandard(path) {
		return &Target{Writer: stdout, path: path}, checkOpen(stdout)
	}
	start := atomicfile.CreateNew
	if force {
		start = atomicfile.Create
	}
	f, err := start(path, perm)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, Usagef("%s %s: there is a file already; --force replaces it", name, path)
	case err != nil:
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return &Target{Writer: f, file: f, path: path}, nil
}

// IsFile reports whether the output is a file.
func (t *Target) IsFile() bool { return t != nil && t.file != nil }

// Name is the output as messages name it.
func (t *Target) Name() string {
	if IsStandard(t.path) {
		return "standard output"
	}
	return t.path
}

// Commit completes the output.
func (t *Target) Commit() error {
	if !t.IsFile() {
		return nil
	}
	return t.file.Commit()
}

// Abort leaves no trace of a file that was not completed.
func (t *Target) Abort() {
	if t.IsFile() {
		t.file.Abort()
	}
}

// checkOpen refuses a standard output that is closed: what is written there would be lost, though
// no write fails.
func checkOpen(stdout io.Writer) error {
	if closed(stdout) {
		return Usagef("standard output is closed: the result would be lost")
	}
	return nil
}
