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
	"time"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/linked"
	"github.com/decoy-dp/decoy/synth"
)

// Task is a job of which everything has been checked that needs no rows.
type Task struct {
	Job
	Domain *schema.Schema // the schema, read, of linked tables that of the units; nil: there is none
	Tables *schema.Linked // what is read and fitted: the files are Inputs, in its order
	Bought string         // file of the schema that the run buys; "" if it buys none
	// how it is bought; nil: not yet planned
	Purchase *purchase
	purchase func(context.Context) (*purchase, error) // plans it
	Fitter   synth.Fitter
	Ledger   *ledger.File // nil for an embedded example: no account is kept

	// Of a job of a batch.
	Identity string         // in the state of the batch
	run      string         // its name in its ledger, which takes it once
	Planned  *synth.RunPlan // nil if this process does not run the job, or buys the schema first
	Missing  error          // why the table cannot be opened, or its header not be read
	Buyer    *Task          // buys the schema that this one takes; nil: nobody else
	owner    string         // "NAME's ": whose files messages speak of
	outs     []string       // the synthetic tables
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

// Files are the files that the job writes, the synthetic tables first, and those that it reads,
// without the ledger.
func (t *Task) Files() (written, read []NamedPath) {
	for _, path := range t.outs {
		written = append(written, NamedPath{t.outName(), path})
	}
	if t.Model != "" {
		written = append(written, NamedPath{t.name("model"), t.Model})
	}
	if t.Bought != "" {
		written = append(written, NamedPath{t.boughtName(), t.Bought})
	}
	for _, path := range t.Inputs {
		read = append(read, NamedPath{t.name("input"), path})
	}
	read = append(read, NamedPath{t.name("schema"), t.Schema})
	if t.Evaluate != nil {
		read = append(read, NamedPath{t.name("holdout"), t.Evaluate.Holdout})
	}
	return written, read
}

// outName is what messages call a synthetic table.
func (t *Task) outName() string {
	if t.OutDir != "" {
		return t.name("out-dir")
	}
	return t.name("out")
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
	for _, out := range t.outs {
		if _, err := outFormat("out", out); err != nil {
			return nil, err
		}
	}
	if j = t.Job; j.Input != "" && !engine.Elsewhere(j.Input) {
		t.Missing = cmp.Or(t.Missing, Readable(j.Input))
	}
	fingerprint := ""
	if t.Domain != nil {
		fingerprint = t.Tables.Fingerprint()
	} else if t.Missing == nil {
		err := t.Buy(context.Background())
		if usage := (*UsageError)(nil); errors.As(err, &usage) || errors.Is(err, synth.ErrConfig) {
			return nil, err
		}
		if err != nil {
			t.Purchase, t.Bought, t.Missing = nil, "", err
		}
	}
	t.Identity = j.identity(b.Name, fingerprint, filepath.Dir(Resolve(b.path)))
	spends := t.Identity
	if t.Ledger != nil {
		spends = j.identity(b.Name, fingerprint, filepath.Dir(Resolve(t.Ledger.Path())))
	}
	t.run = runName(spends)
	if plan && t.Domain != nil && t.Planned == nil {
		t.Planned, err = t.Plan()
	}
	return t, err
}

func (t *Task) checked() (*Task, error) {
	var err error
	if t.Out != "" {
		t.outs = []string{t.Out}
	}
	if len(t.Inputs) == 0 && t.Input != "" {
		t.Inputs = []string{t.Input}
	}
	if t.Fitter, err = t.Job.Fitter(); err == nil {
		err = cmp.Or(t.checkBare(), t.CheckBudget())
	}
	if err == nil && IsStandard(t.Model) {
		err = Usagef("--model -: a model needs a file")
	}
	if err == nil {
		err = t.describe()
	}
	if err == nil {
		t.Ledger, err = LedgerOf(t.Job.Ledger, t.Input)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// describe names the tables of the job: as its schema does, or as it does itself.
func (t *Task) describe() (err error) {
	t.purchase = func(ctx context.Context) (*purchase, error) { return purchaseOf(ctx, t.Job) }
	switch {
	case len(t.Links) > 0 || len(t.Orders) > 0:
		t.purchase = t.newLinkedPurchase
		t.Tables, err = t.undescribed()
	case t.bare():
		t.Tables = schema.One(&schema.Schema{Unit: t.Unit, MaxRowsPerUnit: t.MaxRowsPerUnit})
	default:
		var l *schema.Linked
		if t.Domain, err = SchemaOf(t.Schema, t.Dataset); err == nil {
			l = schema.One(t.Domain)
		} else if errors.Is(err, schema.ErrLinked) {
			l, err = schema.LoadLinked(t.Schema)
		}
		if err == nil {
			t.describedBy(l)
		}
	}
	switch {
	case err != nil:
		return err
	case t.Tables.Single():
		return t.checkInput()
	}
	return t.checkLinked()
}

// describedBy has the tables read and fitted by a schema. Bins that nobody asked for are bought,
// but where an engine counts, which must know the bins beforehand. An example has its own.
func (t *Task) describedBy(l *schema.Linked) {
	t.Domain, t.Tables = l.Tables[0].Schema, l
	if t.Dataset == "" && !engine.Elsewhere(t.Input) {
		t.Tables = synth.Adaptive(t.Fitter, l)
	}
}

// Favour adds a setting that names a column to a job that was checked.
func (t *Task) Favour(column Given) (err error) {
	t.Settings = append(slices.Clip(t.Settings), column)
	if t.Fitter, err = t.Job.Fitter(); err == nil && t.Purchase != nil {
		_, err = t.Unseen()
	}
	t.Planned = nil
	return err
}

// checkInput checks the name of the one private table.
func (t *Task) checkInput() (err error) {
	switch {
	case len(t.Inputs) > 1 || t.OutDir != "":
		return Usagef("one table a run, and --out, unless --schema or --link and --order say how " +
			"tables are linked: decoy help linked")
	case engine.Elsewhere(t.Input):
		return t.checkElsewhere()
	case t.Input == "":
		return nil
	case t.owner == "":
		err = Readable(t.Input)
	}
	if err == nil {
		_, err = FormatOf(t.name("input"), t.Input)
	}
	return err
}

// table names the private table, which must be readable. It reads nothing of it.
func (t *Task) table(ctx context.Context) (*privacy.Rows, error) {
	if t.Missing != nil || t.Purchase != nil {
		return nil, t.Missing
	}
	switch {
	case engine.Elsewhere(t.Input):
		return t.elsewhere(ctx)
	case t.Dataset == "":
		for _, path := range t.Inputs {
			if err := Readable(path); err != nil {
				return nil, err
			}
		}
		return linked.Files(t.Tables, t.Inputs)
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
	return synth.NewPlan(t.Fitter, t.Tables,
		privacy.NeighboursOf(t.Tables.Tables[0].Schema, t.Relation()), t.Budget())
}

// SchemaOf is the schema of one table in a file, or that of an embedded example.
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

// Foresee says what will become of a job, which is planned: its table may be missing or have other
// columns, files of others be in the place of its outputs, its evaluation be impossible, its ledger
// be of other units, or its limit refuse the job. l is the account as the jobs before will leave
// it; nil: there is none. Of the table the header is read, if it is a file.
func (w *Runner) Foresee(ctx context.Context, t *Task, l *ledger.Ledger) (status string) {
	err := t.checkEvaluation()
	record := w.read(t.Identity)
	written, _ := t.Files()
	for _, f := range written {
		_, none := os.Lstat(f.Path)
		if none == nil && !w.Force && !slices.Contains(record.Outputs, w.seen(f.Path)) {
			err = cmp.Or(err, exists(f.Name, f.Path))
		}
	}
	run := cmp.Or(record.Run, t.run)
	if t.Ledger != nil && err == nil {
		var left string
		left, _, err = privacy.Unfinished(journalOf(t.Ledger, "generate", t.outs[0]), t.Ledger)
		run = cmp.Or(left, run)
		account := &Account{Ledger: t.Ledger, Inputs: t.Inputs, Named: t.Job.Ledger != "", Say: unsaid}
		for _, input := range t.Inputs {
			err = cmp.Or(err, account.other(input))
		}
	}
	switch err = cmp.Or(t.Missing, err); {
	case errors.Is(t.Missing, fs.ErrNotExist):
		return "missing: " + spelling.Line(err)
	case err == nil && l == nil:
		return Ready
	case err == nil &&
		slices.ContainsFunc(l.Runs(), func(r ledger.Summary) bool { return r.Run == run }):
		return Paid
	case err == nil:
		err = t.enter(ctx, l)
	}
	switch {
	case errors.Is(err, accountant.ErrBudget):
		return Refused
	case err != nil:
		return "would fail: " + spelling.Line(err)
	}
	return Ready
}

// enter adds the run to the account, or says what will keep it from that: as the run does, by the
// header of each file first. No row is read.
func (t *Task) enter(ctx context.Context, l *ledger.Ledger) error {
	if t.Purchase == nil && t.Dataset == "" && !engine.Elsewhere(t.Input) {
		if err := linked.CheckHeaders(ctx, t.Tables, t.Inputs); err != nil {
			return err
		}
	}
	open := ledger.Units{Adjacency: t.Relation(), Unit: t.Tables.Unit}.OpenEntry(time.Time{})
	e, err := t.reserve(l)
	switch {
	case err != nil:
		return err
	case len(l.Entries) == 0:
		l.Add(open)
	case l.Entries[0].Adjacency != open.Adjacency || l.Entries[0].Unit != open.Unit:
		return fmt.Errorf("its ledger counts %v neighbours of one %s, and the job has %v neighbours of "+
			"one %s", l.Entries[0].Adjacency, cmp.Or(l.Entries[0].Unit, "row"), open.Adjacency,
			cmp.Or(open.Unit, "row"))
	}
	_, err = l.Add(e)
	return err
}

// reserve is the entry with which the run begins, and why the account refuses it.
func (t *Task) reserve(l *ledger.Ledger) (e ledger.Entry, err error) {
	e = ledger.Entry{Kind: ledger.EntryReserve, Run: t.run, Budget: new(t.Budget())}
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
