package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// releaseMode are the permissions of what a run releases: synthetic tables and models are public.
const releaseMode = 0o644

// output is a synthetic table in the making: a file that appears when it is complete, or standard
// output.
type output struct {
	path   string
	format table.Format
	file   *atomicfile.File // nil for standard output
	w      io.Writer
	safe   bool // no cell of a CSV file is a formula
}

// openOutput creates the temporary file of --out, so that an output that cannot be written is known
// before anything is spent.
func openOutput(t *terminal, path string) (*output, error) {
	o := &output{path: path, w: t.stdout}
	var err error
	if o.format, err = formatOf("--out", path); err != nil {
		return nil, err
	}
	if path == standard {
		return o, nil
	}
	if o.file, err = t.create("--out", path, releaseMode); err != nil {
		return nil, err
	}
	o.w = o.file
	return o, nil
}

// abort leaves no trace of an output that was not completed.
func (o *output) abort() {
	if o.file != nil {
		o.file.Abort()
	}
}

// sampler draws rows: a model, or a model under a condition.
type sampler interface {
	Sample(ctx context.Context, n int, seed uint64, emit func(*table.Table) error) error
}

// sample draws n rows with the columns of s and completes the output.
func (o *output) sample(ctx context.Context, m sampler, s *schema.Schema, n int, seed uint64,
	report func(float64)) error {
	buffer := bufio.NewWriterSize(o.w, 1<<20)
	w, err := table.NewWriter(buffer, o.format, s, release.ValueRand(seed))
	if o.safe {
		w, err = table.NewSpreadsheetWriter(buffer, s, release.ValueRand(seed))
	}
	if err != nil {
		return err
	}
	written := 0
	err = m.Sample(ctx, n, seed, func(t *table.Table) error {
		written += t.Rows()
		report(float64(written) / float64(n))
		return w.Write(t)
	})
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = buffer.Flush()
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &retold{fmt.Sprintf("interrupted: %s is not written", o.name()), err}
	case err != nil && o.file == nil:
		return fmt.Errorf("writing %w", bare(o.name(), err))
	case err != nil || o.file == nil:
		return err
	}
	return o.file.Commit()
}

// name is the output as messages name it.
func (o *output) name() string {
	if o.path == standard {
		return "standard output"
	}
	return o.path
}

// writeModel puts a model into a file that was created before.
func writeModel(f *atomicfile.File, m *release.Model) error {
	if err := m.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// openModel creates the temporary file of --model.
func openModel(t *terminal, path string) (*atomicfile.File, error) {
	if path == standard {
		return nil, usagef("--model -: a model needs a file")
	}
	return t.create("--model", path, releaseMode)
}
