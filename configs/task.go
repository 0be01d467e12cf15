package configs

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// Task is a job of which everything has been checked that needs no rows.
type Task struct {
	Job
	Domain *schema.Schema // the schema, read; nil: there is none
	Bought string         // file of the schema that the run buys; "" if it buys none
	Fitter synth.Fitter
	Ledger *ledger.File // nil for an embedded example: no account is kept

	// Of a job of a batch.
	Identity string
	Planned  *synth.RunPlan // nil if this process does not run the job
	owner    string         // "NAME's ": whose files messages speak of
}

// name is what messages call the file of a key.
func (t *Task) name(key string) string {
	switch {
	case t.owner != "":
		return t.owner + key
	case key == "input":
		return "INPUT"
	}
	return "--" + key
}

// Files are the files that the job writes, and those that it reads, without the ledger.
func (t *Task) Files() (written, read []NamedPath) {
	written = []NamedPath{{t.name("out"), t.Out}, {t.name("model"), t.Model}, {boughtName, t.Bought}}
	read = []NamedPath{{t.name("input"), t.Input}, {t.name("schema"), t.Schema}}
	if t.Evaluate != nil {
		read = append(read, NamedPath{t.name("holdout"), t.Evaluate.Holdout})
	}
	return written, read
}

// boughtName is what messages call the file of a bought schema.
const boughtName = "the bought schema"

// Check checks a job, which may be without a schema. It does not look at the table.
func Check(j Job) (*Task, error) { return (&Task{Job: j}).checked() }

// NewTask checks a job of a batch; with plan, also that the method can do it.
func NewTask(batch string, j Job, plan bool) (*Task, error) {
	t, err := (&Task{Job: j, owner: j.Name + "'s "}).checked()
	if err != nil {
		return nil, err
	}
	if _, err := FormatOf("out", j.Out); err != nil {
		return nil, err
	}
	if j.Dataset != "" {
		t.Ledger = nil
	}
	t.Identity = j.identity(batch, t.Domain.Fingerprint())
	if t.Seed == 0 {
		id, _ := hex.DecodeString(t.Identity[:16])
		t.Seed = binary.BigEndian.Uint64(id)
	}
	if plan {
		t.Planned, err = t.Plan()
	}
	return t, err
}

func (t *Task) checked() (*Task, error) {
	helper, _ := engine.Program(t.Input)
	inBatch := t.owner != ""
	var err error
	if t.Fitter, err = t.Job.Fitter(); err == nil {
		err = t.CheckBudget()
	}
	if err == nil && t.Input != "" && !inBatch && helper == "" {
		err = Readable(t.Input)
	}
	if err == nil && (t.Schema != "" || t.Dataset != "" || inBatch) {
		t.Domain, err = SchemaOf(t.Schema, t.Dataset)
	}
	if err == nil && t.Input != "" {
		err = t.checkInput()
	}
	if err == nil {
		t.Ledger, err = LedgerOf(t.Job.Ledger, t.Input)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Table names the private table, which must be readable. It reads nothing of it.
func (t *Task) Table(ctx context.Context) (*privacy.Rows, error) {
	if helper, program := engine.Program(t.Input); helper != "" {
		return t.elsewhere(ctx, program)
	}
	if t.Dataset == "" {
		if err := Readable(t.Input); err != nil {
			return nil, err
		}
		return privacy.File(t.Input, t.fitted()), nil
	}
	d, err := datasets.Get(t.Dataset)
	if err != nil {
		return nil, err
	}
	rows, err := d.Table()
	if errors.Is(err, datasets.ErrNotEmbedded) {
		return nil, fmt.Errorf("%w; get the file, and its schema with "+
			"'decoy datasets export %s --schema-out SCHEMA.yaml'", err, t.Dataset)
	}
	if err != nil {
		return nil, err
	}
	return privacy.FromTable(rows), nil
}

// Plan is what the job will measure. It reads no data.
func (t *Task) Plan() (*synth.RunPlan, error) {
	s := t.fitted()
	return synth.NewPlan(t.Fitter, s, privacy.NeighboursOf(s, t.Relation()), t.Budget())
}

// fitted is the schema by which the table is read and fitted: bins that nobody asked for are
// bought, but where an engine counts, which must know the bins beforehand. An example has its own.
func (t *Task) fitted() *schema.Schema {
	if helper, _ := engine.Program(t.Input); helper != "" || t.Dataset != "" {
		return t.Domain
	}
	return synth.Adaptive(t.Fitter, t.Domain)
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

// byteCount and seconds are forecasts; 0 is one that is not known.
type (
	byteCount int64
	seconds   float64
)

func (b byteCount) String() string {
	if b == 0 {
		return "-"
	}
	return spelling.Size(int64(b))
}

func (s seconds) String() string {
	if s == 0 {
		return "-"
	}
	return spelling.Time(float64(s))
}

// Needs is what a whole decoy generate is expected to need.
type Needs struct {
	Rows        int       `json:"rows"`
	Assumed     bool      `json:"rows_assumed,omitempty"`
	MemoryBytes byteCount `json:"memory_bytes" head:"MEMORY"` // resident, of the process
	Seconds     seconds   `json:"seconds" head:"TIME"`        // on one ordinary core
	// of the fit alone, for so many rows
	Forecast synth.Forecast `json:"-"`
	RowsText string         `json:"-"` // the number of rows in words
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
	n.Forecast, n.RowsText = p.Forecast(n.Rows), n.rowsText()
	cells := float64(n.Rows) * float64(len(s.Columns))
	n.MemoryBytes = byteCount(programBytes + slack*(int64(cells)+n.Forecast.MemoryBytes))
	n.Seconds = seconds(baseSeconds + n.Forecast.Seconds + cells*(perCellRead+perCellWrite))
	return n
}

// Needs is what the task is expected to need, from what is public: the plan, and the rows that the
// job says. The size of a private file is private, and neither shown nor asked.
func (t *Task) Needs() Needs {
	n := NeedsOf(t.Planned, t.Domain, t.Rows)
	n.MemoryBytes -= programBytes // which the jobs share
	return n
}

// rowsText is the number of rows in words.
func (n Needs) rowsText() string {
	switch {
	case n.Assumed:
		return fmt.Sprintf("%d rows, assumed (--rows)", n.Rows)
	case n.Rows == 1:
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n.Rows)
}
