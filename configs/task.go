package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
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
	Domain *schema.Schema // the schema, read, of linked tables that of the units; nil: there is none
	Linked *schema.Linked // of linked tables, whose files are Inputs in its order, and Outs
	Bought string         // file of the schema that the run buys; "" if it buys none
	// how it is bought; nil: not yet planned
	Purchase *purchase
	Fitter   synth.Fitter
	Ledger   *ledger.File // nil for an embedded example: no account is kept

	// Of a job of a batch.
	Identity string         // in the state of the batch
	spends   string         // its identity in its ledger
	Planned  *synth.RunPlan // nil if this process does not run the job, or buys the schema first
	Missing  error          // why the table cannot be opened, or its header not be read
	Buyer    *Task          // buys the schema that this one takes; nil: nobody else
	owner    string         // "NAME's ": whose files messages speak of
	outs     []string       // of linked tables
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
	read = []NamedPath{{t.name("input"), t.Input}, {t.name("schema"), t.Schema}}
	for _, path := range t.Outs() {
		written = append(written, NamedPath{t.outName(), path})
	}
	written = append(written, NamedPath{t.name("model"), t.Model},
		NamedPath{t.boughtName(), t.Bought})
	for _, path := range t.Inputs {
		read = append(read, NamedPath{t.name("input"), path})
	}
	if t.Evaluate != nil {
		read = append(read, NamedPath{t.name("holdout"), t.Evaluate.Holdout})
	}
	return written, read
}

// outName is what messages call a synthetic table.
func (t *Task) outName() string {
	if t.Linked != nil && !t.Linked.Alone {
		return t.name("out-dir")
	}
	return t.name("out")
}

// Outs are the synthetic tables.
func (t *Task) Outs() []string {
	if t.Out != "" {
		return []string{t.Out}
	}
	return t.outs
}

// boughtName is what messages call the file of a bought schema.
func (t *Task) boughtName() string { return cmp.Or(t.owner, "the ") + "bought schema" }

// Check checks a job, which may be without a schema. It does not look at the table.
func Check(j Job) (*Task, error) { return (&Task{Job: j}).checked() }

// NewTask checks a job of a batch; with plan, also that the method can do it. A table that cannot
// be opened, or whose header cannot be read, is no error of the batch.
func NewTask(b *Batch, j Job, plan bool) (*Task, error) {
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
	if j.Input != "" && !engine.Elsewhere(j.Input) {
		t.Missing = Readable(j.Input)
	}
	fingerprint := ""
	if t.Domain != nil {
		fingerprint = t.Domain.Fingerprint()
	} else if t.Missing == nil {
		err := t.Buy(context.Background())
		if usage := (*UsageError)(nil); errors.As(err, &usage) || errors.Is(err, synth.ErrConfig) {
			return nil, err
		}
		if err != nil {
			t.Purchase, t.Bought, t.Missing = nil, "", fmt.Errorf("%s: %w", j.Input, err)
		}
	}
	t.Identity = j.identity(b.Name, fingerprint, filepath.Dir(Resolve(b.path)))
	t.spends = t.Identity
	if t.Ledger != nil {
		t.spends = j.identity(b.Name, fingerprint, filepath.Dir(Resolve(t.Ledger.Path())))
	}
	if plan && t.Domain != nil {
		t.Planned, err = t.Plan()
	}
	return t, err
}

func (t *Task) checked() (*Task, error) {
	var err error
	if t.Fitter, err = t.Job.Fitter(); err == nil {
		err = cmp.Or(t.checkBare(), t.CheckBudget())
	}
	if err == nil && !t.bare() {
		t.Domain, err = SchemaOf(t.Schema, t.Dataset)
	}
	switch {
	case (errors.Is(err, schema.ErrLinked) || err == nil && (t.Links != nil || t.Orders != nil)) &&
		t.owner == "":
		err = t.linked()
	case err == nil && (len(t.Inputs) > 1 || t.OutDir != ""):
		err = Usagef("one table a run, and --out, unless --schema or --link and --order say how tables " +
			"are linked: decoy help linked")
	case err == nil && t.Input != "":
		if t.owner == "" && !engine.Elsewhere(t.Input) {
			err = Readable(t.Input)
		}
		err = cmp.Or(err, t.checkInput())
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
	if engine.Elsewhere(t.Input) {
		return t.elsewhere(ctx)
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
	if t.Linked != nil {
		return synth.PlanLinked(t.Fitter, t.Linked, t.Relation(), t.Budget())
	}
	s := t.fitted()
	return synth.NewPlan(t.Fitter, s, privacy.NeighboursOf(s, t.Relation()), t.Budget())
}

// fitted is the schema by which the table is read and fitted: bins that nobody asked for are
// bought, but where an engine counts, which must know the bins beforehand. An example has its own.
func (t *Task) fitted() *schema.Schema {
	if engine.Elsewhere(t.Input) || t.Dataset != "" {
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

// Needs is what a whole decoy generate is expected to need.
type Needs struct {
	Rows        int     `json:"rows"`
	Assumed     bool    `json:"rows_assumed,omitempty"`
	MemoryBytes int64   `json:"memory_bytes"` // resident, of the process
	Seconds     float64 `json:"seconds"`      // on one ordinary core
	// of the fit alone, for so many rows
	Forecast synth.Forecast `json:"-"`
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
	n.Forecast = p.Forecast(n.Rows)
	cells := float64(n.Rows) * float64(len(s.Columns))
	n.MemoryBytes = programBytes + slack*(int64(cells)+n.Forecast.MemoryBytes)
	n.Seconds = baseSeconds + n.Forecast.Seconds + cells*(perCellRead+perCellWrite)
	return n
}

// What is foreseen of a job that nothing keeps from running: Paid is one that was begun before.
const (
	Ready = "ready"
	Paid  = "paid"
)

// checkEvaluation refuses an evaluation that cannot be, by what is public.
func (t *Task) checkEvaluation() error {
	if t.Evaluate == nil {
		return nil
	}
	if file := t.Evaluate.Holdout; file != "" {
		_, err := FormatOf(t.name("holdout"), file)
		if err = cmp.Or(err, Readable(file)); err != nil {
			return err
		}
		if SameFile(file, t.Input) {
			return Usagef("%s and %s are the same file: a holdout is rows that were not fitted",
				t.name("holdout"), t.name("input"))
		}
	}
	var names []string
	switch {
	case t.Domain != nil:
		names = t.Domain.Names()
	case t.Purchase != nil:
		names = t.Purchase.Table.Names()
	default:
		return nil // the table is missing
	}
	for _, name := range append([]string{t.Evaluate.Target}, t.Evaluate.Drop...) {
		if name != "" && !slices.Contains(names, name) {
			return Usagef("evaluate: there is no column %q%s", name, spelling.Hint(name, names))
		}
	}
	return nil
}

// Foresee says what will become of a job, which is planned: its table may be missing, files of
// others in the place of its outputs, its evaluation impossible, or its ledger's limit refuse it. l
// is the account as the jobs before will leave it; nil: there is none.
func (w *Worker) Foresee(t *Task, l *ledger.Ledger) (status string) {
	err := t.checkEvaluation()
	own := w.read(t.Identity).Outputs
	written, _ := t.Files()
	for _, f := range written {
		_, none := os.Lstat(f.Path)
		if f.Path != "" && none == nil && !w.Force && !slices.Contains(own, w.seen(f.Path)) {
			err = cmp.Or(err, exists(f.Name, f.Path))
		}
	}
	run := runName(t.spends)
	switch err = cmp.Or(t.Missing, err); {
	case errors.Is(t.Missing, fs.ErrNotExist):
		return "missing: " + spelling.Plain(err)
	case err == nil && l == nil:
		return Ready
	case err == nil &&
		slices.ContainsFunc(l.Runs(), func(r ledger.Summary) bool { return r.Run == run }):
		return Paid
	case err == nil:
		var e ledger.Entry
		if e, err = t.reserve(l); err == nil {
			_, err = l.Add(e)
		}
	}
	switch {
	case errors.Is(err, accountant.ErrBudget):
		return Refused
	case err != nil:
		return "would fail: " + spelling.Plain(err)
	}
	return Ready
}

// reserve is the entry with which the run begins, and why the account refuses it.
func (t *Task) reserve(l *ledger.Ledger) (e ledger.Entry, err error) {
	e = ledger.Entry{Kind: ledger.EntryReserve, Run: runName(t.spends), Budget: new(t.Budget())}
	if t.Purchase != nil {
		e.Composition = t.Purchase.Plan.Composition()
		return e, l.Allows(*e.Budget, e.Composition)
	}
	if t.Planned == nil {
		t.Planned, err = t.Plan()
	}
	if err == nil {
		e.Composition = t.Planned.Reserve
		err = l.Allows(*e.Budget, e.Composition)
	}
	return e, err
}

// Affords is an accountant.ErrBudget if the limit of the ledger, as it is now, refuses the run.
func (t *Task) Affords() error {
	if t.Ledger == nil {
		return nil
	}
	l, err := t.Ledger.Read()
	if err == nil {
		_, err = t.reserve(l)
	}
	return err
}

// Needs is what the task is expected to need, from what is public: the plan, and the rows that the
// job says. The size of a private file is private, and neither shown nor asked.
func (t *Task) Needs() Needs {
	if t.Planned == nil { // by the schema, which is not bought
		return Needs{Rows: cmp.Or(t.Rows, AssumedRows), Assumed: t.Rows == 0}
	}
	n := NeedsOf(t.Planned, t.Domain, t.Rows)
	n.MemoryBytes -= programBytes // which the jobs share
	return n
}
