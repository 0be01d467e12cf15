package configs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/model/release"
)

// SeedOf is the seed by which a run draws its table where none is named. It follows from the model,
// so that whoever has that can draw the table again, byte for byte.
func SeedOf(m *release.Model) uint64 {
	hash, _ := hex.DecodeString(m.Parameters.SHA256)
	return binary.BigEndian.Uint64(append(hash, make([]byte, 8)...))
}

// TableTo is the table that would be written to path, in its format, which goes to w.
func TableTo(name, path string, w io.Writer, o table.WriterOptions) (*Target, error) {
	format, err := outFormat(name, path)
	return &Target{Writer: w, path: Standard, format: format, options: o}, err
}

// createTables is [Create] of tables that a flag names, in a folder that is made unless it is "".
func createTables(
	name, dir string, paths []string, stdout io.Writer, force func(path string) bool,
	o table.WriterOptions,
) (out []*Target, err error) {
	var made []string
	if dir != "" {
		made, err = disk.MkdirAll(dir, 0o777)
		err = Bare(dir, err)
	}
	for i := 0; i < len(paths) && err == nil; i++ {
		file := (*Target)(nil)
		format, wrong := outFormat(name, paths[i])
		if err = wrong; err == nil {
			file, err = Create(name, paths[i], stdout, ReleaseMode, force(paths[i]))
		}
		if err == nil {
			file.format, file.options, file.made = format, o, made
			out = append(out, file)
		}
	}
	return out, err
}

// sampler draws rows: of a model, or of a model under a condition.
type sampler func(
	ctx context.Context, n int, seed uint64, emit func(*table.Table) error,
) error

// Sample draws n rows with the columns of s, completes the output and says so.
func (t *Target) Sample(
	ctx context.Context, from sampler, s *schema.Schema, n int, seed uint64, say func(string, ...any),
	progress func(float64),
) error {
	written := 0
	err := t.Complete(func(to io.Writer) error {
		buffer := bufio.NewWriterSize(to, 1<<20)
		w, err := table.NewWriter(buffer, t.format, s, release.ValueRand(seed), t.options)
		if err != nil {
			return err
		}
		err = from(ctx, n, seed, func(rows *table.Table) error {
			written += rows.Rows()
			progress(float64(written) / float64(n))
			return w.Write(rows)
		})
		if closed := w.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = buffer.Flush()
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled):
		return &Reworded{fmt.Sprintf("interrupted: %s is not written", t.Name()), err}
	case err != nil && !t.IsFile():
		return fmt.Errorf("writing %w", Bare(t.Name(), err))
	case err != nil:
		return err
	}
	say("wrote %s: %d rows, %d columns (seed %d)", t.Name(), written, s.Width(), seed)
	return nil
}

// DrawnRows is how many rows to draw: as many as were asked for, or for 0 as many as are expected
// of a model of epsilon. An expected number below a hundred times 1/epsilon may be no more than
// noise: of such a model a few rows are drawn, and say is told.
func DrawnRows(asked int, expected, epsilon float64, say func(string, ...any)) int {
	const few = 10000
	rows := int(math.Round(min(max(expected, 1), math.MaxInt32)))
	if asked == 0 && rows > few && expected*epsilon < 100 {
		say("the model expects %d rows, which at epsilon %v may be noise alone: %d are drawn; --rows "+
			"says how many", rows, epsilon, few)
		return few
	}
	return cmp.Or(asked, rows)
}

// ReleaseMode are the permissions of what a run releases: synthetic tables and models are public.
const ReleaseMode fs.FileMode = 0o644

// Target is an output in the making: a file that appears when it is complete, or standard output. A
// nil Target is one that nobody asked for.
type Target struct {
	io.Writer
	file    *disk.File // nil for standard output
	name    string     // what messages call it
	path    string
	format  table.Format // of a table
	options table.WriterOptions
	made    []string // folders that were made for it, the innermost first
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
	start := disk.CreateNew
	if force {
		if isLedger(path) {
			return nil, Usagef("%s %s: it is a ledger, the account of a table: --force does not replace "+
				"it; name another file", name, path)
		}
		start = disk.Create
	}
	f, err := start(path, perm)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, exists(name, path)
	case err != nil:
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return &Target{Writer: f, file: f, name: name, path: path}, nil
}

// Create is [Create] for an output of a run that has begun. One that goes on may have made it
// before, and makes the same again: then it takes the place of that, and of nothing else.
func (a *Account) Create(name, path string, force bool) (*Target, error) {
	t, err := Create(name, path, a.Stdout, ReleaseMode, force || a.run != "")
	if err == nil && t.IsFile() && !force {
		t.file.Itself()
	}
	return t, err
}

// isLedger reports whether a regular file begins as a ledger does.
func isLedger(path string) bool {
	const begin = `{"seq":0,`
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // before the opening of a pipe waits for a writer
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(begin))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == begin
}

func exists(name, path string) error {
	return Usagef("%s %s: there is a file already; --force replaces it", name, path)
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

// Complete completes the output with what to writes.
func (t *Target) Complete(to func(io.Writer) error) error {
	if t == nil {
		return nil
	}
	if err := to(t); err != nil || t.file == nil {
		return err
	}
	err := t.file.Commit()
	if errors.Is(err, fs.ErrExist) {
		return exists(t.name, t.path)
	}
	return err
}

// Text completes the output with a text.
func (t *Target) Text(text []byte) error {
	return t.Complete(func(w io.Writer) error { _, err := w.Write(text); return err })
}

// Abort leaves no trace of a file that was not completed.
func (t *Target) Abort() {
	if t.IsFile() {
		t.file.Abort()
		for _, dir := range t.made {
			disk.Remove(dir) // which does nothing to one that holds a file
		}
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
