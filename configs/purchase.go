package configs

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// schemaShare is the part of the noise budget that buys the schema of a run without one.
const schemaShare = 1. / 3

// purchase is a schema that is bought: the table, of which nothing but the header is read, what is
// asked of it, and at what noise.
type purchase struct {
	Table *text.Table
	Want  analysis.Inference
	Plan  analysis.InferencePlan
}

// NewPurchase plans the purchase of a schema of the job's table. What is declared of it is in want.
func NewPurchase(ctx context.Context, j Job, want analysis.Inference) (*purchase, error) {
	p := &purchase{Want: want}
	elsewhere, err := Counter(j.Input, j.Ledger, false)
	if !elsewhere {
		_, err = FormatOf("INPUT", j.Input)
	}
	if err == nil {
		err = j.checkTexts(want.CSV)
	}
	if err == nil && !elsewhere {
		err = Readable(j.Input)
	}
	var names []string
	switch {
	case err != nil:
	case elsewhere:
		names, err = columnNames(ctx, j.Input, want.CSV)
	case want.CSV.NoHeader: // by position, the unit first
		if names = want.Declared.Names(); j.Unit != "" {
			names = append([]string{j.Unit}, names...)
		}
	default: // the header, which is public, decides about the separator
		names, p.Want.CSV.Comma, err = Header(j.Input, want.CSV.Separator())
	}
	if err != nil {
		return nil, err
	}
	if j.Unit != "" && !slices.Contains(names, j.Unit) {
		where := "--unit: there is"
		if j.Links != nil {
			where = "--link: " + j.Input + " has"
		}
		return nil, Usagef("%s no column %q%s", where, j.Unit, spelling.Hint(j.Unit, names))
	}
	asked, err := p.Want.Asked(slices.DeleteFunc(slices.Clone(names),
		func(n string) bool { return n == j.Unit }))
	if err != nil {
		return nil, err
	}
	if d := p.Want.Declared; want.Target != "" && d.Index(want.Target) < 0 {
		return nil, Usagef("--target: there is no column %q%s", want.Target,
			spelling.Hint(want.Target, d.Names()))
	}
	if elsewhere {
		p.Table, err = countedTexts(ctx, j.Input,
			Undescribed(names, p.Want.CSV, j.Unit, j.MaxRowsPerUnit), asked)
	} else {
		p.Table, err = text.File(j.Input, text.Options{Names: names, CSV: p.Want.CSV, Unit: j.Unit,
			MaxRowsPerUnit: j.MaxRowsPerUnit})
	}
	if err == nil {
		p.Plan, err = analysis.PlanInference(len(asked), p.Table.Neighbours(j.Relation()), j.Budget())
	}
	return p, err
}

// checkTexts checks what the job says of a table without a schema.
func (j Job) checkTexts(csv schema.CSV) error {
	format, _ := table.FormatOf(j.Input) // 0 of a table in another system
	switch {
	case j.Delta == 0:
		return Usagef("--delta 0: categories can only be found with delta > 0")
	case j.Unit == "" && j.MaxRowsPerUnit != 0, j.Unit != "" && j.MaxRowsPerUnit < 1:
		return Usagef("--unit and --max-rows-per-unit go together, as noise grows with a unit's rows. " +
			"Or --order COLUMN says by what these follow each other, such as a date (decoy help linked)")
	case csv.NoHeader && !format.IsCSV():
		return Usagef("--schema %s: only CSV files have no header", j.Schema)
	case !csv.NoHeader && !j.HeaderIsPublic:
		return Usagef("--header-is-public is missing, or --schema. A part of the budget buys a schema "+
			"if\n--header-is-public says that the first line of %s holds the names of the columns,\nwhich "+
			"become part of it, and may be shown to anyone. A schema that you write (decoy help schema),\n"+
			"or draft from a public file with the same columns (decoy schema draft), costs nothing. If\n"+
			"that line is a row, schema infer takes a file with csv: {header: false} and names", j.Input)
	case j.Input == Standard:
		return Usagef("INPUT is CSV on standard input: it is read twice, so it must be a file " +
			"(or Arrow, arrow:-, which is held in memory)")
	}
	return nil
}

// Buy plans the purchase of a schema in the run of a job that has none.
func (t *Task) Buy(ctx context.Context) (err error) {
	f, ok := t.Fitter.(synth.Continuer)
	if !ok {
		return Usagef("--method %s plans by a schema, and --schema is missing: auto, aim and mst "+
			"can go on from one that is bought in the same run", t.Method)
	}
	if t.Linked != nil {
		t.Purchase, err = t.newLinkedPurchase(ctx)
	} else {
		t.Purchase, err = NewPurchase(ctx, t.Job, analysis.Inference{})
	}
	if err != nil {
		return err
	}
	t.Purchase.Plan.Share = cmp.Or(t.SchemaShare, schemaShare)
	if t.Purchase.Want.Target, err = f.Unseen(t.Purchase.Table.Names()); err != nil {
		return Usagef("%s%s", strings.TrimSuffix(err.Error(), ": "+synth.ErrConfig.Error()),
			spelling.Hint(t.Purchase.Want.Target, t.Purchase.Table.Names()))
	}
	out := t.Out
	if t.OutDir != "" {
		out = filepath.Join(t.OutDir, "tables.")
	}
	if out == "" || IsStandard(out) {
		out = t.Model
	}
	if out == "" && t.Out != "" {
		return Usagef("--out -: the schema that is bought is kept beside a file: give --model, too")
	}
	if out = strings.TrimSuffix(out, ".gz"); out == "" { // it is not run
		return nil
	}
	t.Bought = strings.TrimSuffix(out, filepath.Ext(out)) + ".schema.yaml"
	return nil
}

// Run is [synth.Run] of the job. A schema that is bought goes to deliver before the model does.
// begun tells of a session: the budget is spent. ignored are columns of the file, by number, that
// the schema does not name.
func (t *Task) Run(
	ctx context.Context, o synth.RunOptions, deliver func(r *analysis.Inferred, yaml []byte) error,
) (m *release.Model, begun bool, ignored []int, err error) {
	p := t.Purchase
	if t.Linked != nil && p == nil {
		m, s, err := synth.RunLinked(ctx, t.Linked, t.Inputs, t.Fitter, o)
		return m, s != nil, nil, err
	}
	if p == nil {
		rows, err := t.Table(ctx)
		if err != nil {
			return nil, false, nil, err
		}
		m, s, err := synth.Run(ctx, rows, t.Fitter, o)
		if err == nil {
			ignored = s.Report().Ignored
		}
		return m, s != nil, ignored, err
	}
	var r *analysis.Inferred
	m, s, err := synth.RunBought(ctx, p.Table, synth.Purchase{Plan: p.Plan.Composition(),
		Buy: func(s *text.Session, progress func(float64)) (_ synth.Bought, err error) {
			r, err = p.Plan.Buy(ctx, s, p.Want, progress)
			return r, err
		},
		Deliver: func() error {
			yaml, err := r.YAML()
			if err != nil {
				return err
			}
			return deliver(r, yaml)
		}}, t.Fitter.(synth.Continuer), o)
	return m, s != nil, nil, err
}
