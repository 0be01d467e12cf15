package job

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// ReleaseMode are the permissions of what a run releases: synthetic tables and models are public.
const ReleaseMode fs.FileMode = 0o644

// Outputs are the files of a job in the making: each appears when it is complete.
type Outputs struct {
	job   *Checked
	model *atomicfile.File // nil for none
	table *Output          // nil for none
}

// Create creates the temporary files of a job's outputs, so that one that cannot be written is
// known before anything is spent. An output that is there is replaced if force says so of its path.
func (c *Checked) Create(stdout io.Writer, force func(path string) bool) (*Outputs, error) {
	o := &Outputs{job: c}
	var err error
	if c.Out != "" {
		if o.table, err = CreateOutput(c.name("out"), c.Out, stdout, force(c.Out)); err != nil {
			return nil, err
		}
		o.table.Safe = c.SpreadsheetSafe
	}
	if c.Model != "" {
		if c.Model == Standard {
			err = Usagef("--model -: a model needs a file")
		} else {
			o.model, err = Create(c.name("model"), c.Model, ReleaseMode, force(c.Model))
		}
	}
	if err != nil {
		o.Abort()
		return nil, err
	}
	return o, nil
}

// Abort leaves no trace of outputs that were not completed.
func (o *Outputs) Abort() {
	if o.model != nil {
		o.model.Abort()
	}
	if o.table != nil {
		o.table.Abort()
	}
}

// Write completes the outputs, and returns the number of synthetic rows. say is told of each file.
func (o *Outputs) Write(
	ctx context.Context, m *release.Model, say func(string, ...any), progress func(float64),
) (rows int, err error) {
	if o.model != nil {
		if err := writeModel(o.model, m); err != nil {
			return 0, err
		}
		say("wrote %s", o.job.Model)
	}
	if o.table == nil {
		return 0, nil
	}
	rows = cmp.Or(o.job.Rows, WholeRows(m.Rows))
	if err := o.table.Sample(ctx, m, m.Schema(), rows, o.job.Seed, progress); err != nil {
		return 0, err
	}
	say("wrote %s: %d rows, %d columns (seed %d)", o.table.Name(), rows, m.Schema().Width(),
		o.job.Seed)
	return rows, nil
}

func writeModel(f *atomicfile.File, m *release.Model) error {
	if err := m.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Output is a synthetic table in the making: a file that appears when it is complete, or standard
// output.
type Output struct {
	Safe bool // no cell of a CSV file is a formula

	path   string
	format table.Format
	file   *atomicfile.File // nil for standard output
	w      io.Writer
}

// CreateOutput creates the temporary file of an output, so that one that cannot be written is known
// before anything is spent.
func CreateOutput(name, path string, stdout io.Writer, force bool) (*Output, error) {
	o := &Output{path: path, w: stdout}
	var err error
	if o.format, err = FormatOf(name, path); err != nil {
		return nil, err
	}
	if path == Standard {
		return o, CheckOpen(stdout)
	}
	if o.file, err = Create(name, path, ReleaseMode, force); err != nil {
		return nil, err
	}
	o.w = o.file
	return o, nil
}

// CheckOpen refuses a standard output that is closed: what is written there would be lost, though
// no write fails.
func CheckOpen(stdout io.Writer) error {
	if closed(stdout) {
		return Usagef("standard output is closed: the result would be lost")
	}
	return nil
}

// Abort leaves no trace of an output that was not completed.
func (o *Output) Abort() {
	if o.file != nil {
		o.file.Abort()
	}
}

// Sampler draws rows: a model, or a model under a condition.
type Sampler interface {
	Sample(ctx context.Context, n int, seed uint64, emit func(*table.Table) error) error
}

// Sample draws n rows with the columns of s and completes the output.
func (o *Output) Sample(
	ctx context.Context, m Sampler, s *schema.Schema, n int, seed uint64, progress func(float64),
) error {
	buffer := bufio.NewWriterSize(o.w, 1<<20)
	w, err := table.NewWriter(buffer, o.format, s, release.ValueRand(seed))
	if o.Safe {
		w, err = table.NewSpreadsheetWriter(buffer, s, release.ValueRand(seed))
	}
	if err != nil {
		return err
	}
	written := 0
	err = m.Sample(ctx, n, seed, func(t *table.Table) error {
		written += t.Rows()
		progress(float64(written) / float64(n))
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
		return &Reworded{fmt.Sprintf("interrupted: %s is not written", o.Name()), err}
	case err != nil && o.file == nil:
		return fmt.Errorf("writing %w", Bare(o.Name(), err))
	case err != nil || o.file == nil:
		return err
	}
	return o.file.Commit()
}

// Name is the output as messages name it.
func (o *Output) Name() string {
	if o.path == Standard {
		return "standard output"
	}
	return o.path
}

// WholeRows is an expected number of rows as a number of rows to draw.
func WholeRows(rows float64) int { return int(math.Round(min(max(rows, 1), math.MaxInt32))) }
