package job

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Outputs are the files of a job in the making: each appears when it is complete.
type Outputs struct {
	job    *Checked
	bought *Target // the schema; nil for none
	model  *Target // nil for none
	table  *Output // nil for none
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
	if c.Bought != "" {
		o.bought, err = Create(boughtName, c.Bought, stdout, ReleaseMode, force(c.Bought))
	}
	if err == nil && c.Model != "" {
		if IsStandard(c.Model) {
			err = Usagef("--model -: a model needs a file")
		} else {
			o.model, err = Create(c.name("model"), c.Model, stdout, ReleaseMode, force(c.Model))
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
	o.bought.Abort()
	o.model.Abort()
	if o.table != nil {
		o.table.Abort()
	}
}

// WriteSchema completes the file of a bought schema. say is told of it.
func (o *Outputs) WriteSchema(yaml []byte, say func(string, ...any)) error {
	_, err := o.bought.Write(yaml)
	if err == nil {
		err = o.bought.Commit()
	}
	if err == nil {
		say("wrote %s", o.job.Bought)
	}
	return err
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

func writeModel(f *Target, m *release.Model) error {
	if err := m.Write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Output is a synthetic table in the making.
type Output struct {
	*Target
	table.WriterOptions
	format table.Format
}

// CreateOutput starts the table that a flag names.
func CreateOutput(name, path string, stdout io.Writer, force bool) (*Output, error) {
	format, err := FormatOf(name, path)
	if err != nil {
		return nil, err
	}
	t, err := Create(name, path, stdout, ReleaseMode, force)
	return &Output{Target: t, format: format}, err
}

// Sampler draws rows: a model, or a model under a condition.
type Sampler interface {
	Sample(ctx context.Context, n int, seed uint64, emit func(*table.Table) error) error
}

// Sample draws n rows with the columns of s and completes the output.
func (o *Output) Sample(
	ctx context.Context, m Sampler, s *schema.Schema, n int, seed uint64, progress func(float64),
) error {
	buffer := bufio.NewWriterSize(o, 1<<20)
	w, err := table.NewWriter(buffer, o.format, s, release.ValueRand(seed), o.WriterOptions)
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
	case err != nil && !o.IsFile():
		return fmt.Errorf("writing %w", Bare(o.Name(), err))
	case err != nil:
		return err
	}
	return o.Commit()
}

// WholeRows is an expected number of rows as a number of rows to draw.
func WholeRows(rows float64) int { return int(math.Round(min(max(rows, 1), math.MaxInt32))) }
