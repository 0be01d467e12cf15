package configs

import (
	"context"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/engine/helper"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// Checked is a job of which everything has been checked that needs no rows.
type Checked struct {
	Job
	Domain *schema.Schema // the schema, read; nil: there is none
	Bought string         // file of the schema that the run buys; "" if it buys none
	Fitter synth.Fitter
	Ledger *ledger.File // nil for an embedded example: no account is kept

	// is told how far an engine is that counts the table where it is: this depends on the rows
	Counting func(fraction float64)

	owner string // in a batch, "NAME's ": whose files messages speak of
}

// name is what messages call the file of a key.
func (c *Checked) name(key string) string {
	switch {
	case c.owner != "":
		return c.owner + key
	case key == "input":
		return "INPUT"
	}
	return "--" + key
}

// Files are the files that the job writes, and those that it reads, without the ledger.
func (c *Checked) Files() (written, read []NamedPath) {
	written = []NamedPath{{c.name("out"), c.Out}, {c.name("model"), c.Model}, {boughtName, c.Bought}}
	read = []NamedPath{{c.name("input"), c.Input}, {c.name("schema"), c.Schema}}
	if c.Evaluate != nil {
		read = append(read, NamedPath{c.name("holdout"), c.Evaluate.Holdout})
	}
	return written, read
}

// boughtName is what messages call the file of a bought schema.
const boughtName = "the bought schema"

// Check checks a job, which may be without a schema. It does not look at the table.
func Check(j Job) (*Checked, error) {
	return checkOf(j, "")
}

func checkOf(j Job, owner string) (*Checked, error) {
	c := &Checked{Job: j, owner: owner}
	var err error
	if c.Fitter, err = j.Fitter(); err != nil {
		return nil, err
	}
	if err := j.CheckBudget(); err != nil {
		return nil, err
	}
	if engine, _ := helper.Program(j.Input); j.Input != "" && owner == "" && engine == "" {
		if err := Readable(j.Input); err != nil {
			return nil, err
		}
	}
	if j.Schema != "" || j.Dataset != "" || owner != "" {
		if c.Domain, err = SchemaOf(j.Schema, j.Dataset); err != nil {
			return nil, err
		}
	}
	if j.Input != "" {
		if err := c.checkInput(); err != nil {
			return nil, err
		}
	}
	c.Ledger, err = LedgerOf(j.Ledger, j.Input)
	return c, err
}

// Table names the private table, which must be readable. It reads nothing of it.
func (c *Checked) Table(ctx context.Context) (*privacy.Rows, error) {
	if engine, program := helper.Program(c.Input); engine != "" {
		return c.elsewhere(ctx, program)
	}
	if c.Dataset == "" {
		if err := Readable(c.Input); err != nil {
			return nil, err
		}
		return privacy.File(c.Input, c.fitted()), nil
	}
	d, err := datasets.Get(c.Dataset)
	if err != nil {
		return nil, err
	}
	t, err := d.Table()
	if errors.Is(err, datasets.ErrNotEmbedded) {
		return nil, fmt.Errorf("%w; get the file, and its schema with "+
			"'decoy datasets export %s --schema-out SCHEMA.yaml'", err, c.Dataset)
	}
	if err != nil {
		return nil, err
	}
	return privacy.FromTable(t), nil
}

// plan is what the job will measure. It reads no data.
func (c *Checked) plan() (*synth.RunPlan, error) {
	s := c.fitted()
	return synth.NewPlan(c.Fitter, s, privacy.NeighboursOf(s, c.Relation()), c.Budget())
}

// fitted is the schema by which the table is read and fitted: bins that nobody asked for are
// bought, but where an engine counts, which must know the bins beforehand. An example has its own.
func (c *Checked) fitted() *schema.Schema {
	if engine, _ := helper.Program(c.Input); engine != "" || c.Dataset != "" {
		return c.Domain
	}
	return synth.Adaptive(c.Fitter, c.Domain)
}

// SchemaOf is the schema in a file, or that of an embedded example.
func SchemaOf(path, dataset string) (*schema.Schema, error) {
	switch {
	case path != "" && dataset != "":
		return nil, Usagef("--schema and --dataset: an example has its own schema; give one of them")
	case dataset != "":
		d, err := datasets.Get(dataset)
		if err != nil {
			return nil, err
		}
		return d.Schema()
	case path == "":
		return nil, Usagef("--schema or --dataset is required")
	}
	return LoadSchema(path)
}

// LoadSchema reads a schema from a regular file.
func LoadSchema(path string) (*schema.Schema, error) {
	if err := Readable(path); err != nil {
		return nil, err
	}
	return schema.Load(path)
}

// AssumedRows is the number of rows that a plan assumes when nobody says it. The true one is
// private, unless it is public anyway.
const AssumedRows = 10_000

// Needs is what a whole decoy generate is expected to need.
type Needs struct {
	Rows        int     `json:"rows"`
	Assumed     bool    `json:"rows_assumed,omitempty"`
	MemoryBytes int64   `json:"memory_bytes"` // resident, of the process
	Seconds     float64 `json:"seconds"`      // on one ordinary core
}

// The constants were measured on adult, bank and support2 (cmd/decoy TestForecasts): the program
// itself and its buffers; what the collector leaves lying about; reading a cell from CSV, drawing
// and writing one.
const (
	programBytes = 40 << 20
	slack        = 2
	baseSeconds  = 0.02
	perCellRead  = 40e-9
	perCellWrite = 80e-9
)

// NeedsOf adds reading, sampling and the program itself to the forecast of a plan, for so many
// rows; 0 assumes AssumedRows.
func NeedsOf(p synth.Plan, s *schema.Schema, rows int) Needs {
	n := Needs{Rows: rows, Assumed: rows == 0}
	if n.Assumed {
		n.Rows = AssumedRows
	}
	f := p.Forecast(n.Rows)
	cells := float64(n.Rows) * float64(len(s.Columns))
	n.MemoryBytes = programBytes + slack*(int64(cells)+f.MemoryBytes)
	n.Seconds = baseSeconds + f.Seconds + cells*(perCellRead+perCellWrite)
	return n
}

// RowsText is the number of rows, and the name of what sets it where nobody did.
func (n Needs) RowsText(setting string) string {
	switch {
	case n.Assumed:
		return fmt.Sprintf("%d rows, assumed (%s)", n.Rows, setting)
	case n.Rows == 1:
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n.Rows)
}
