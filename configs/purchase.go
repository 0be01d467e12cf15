package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/synth"
)

// schemaShare is the part of the noise budget that buys the schema of a run without one.
const schemaShare = 1. / 3

// purchase is a schema that is bought: the table, of which nothing but the header is read, what is
// asked of it, and at what noise.
type purchase struct {
	Table *text.Table
	Want  infer.Inference
	Plan  infer.InferencePlan
	// what is counted, in words: what holds a value, and what the schema that was bought is of
	Holds, Of string
}

// NewPurchase plans the purchase of a schema of the job's table. What is declared of it is in want.
func NewPurchase(ctx context.Context, j Job, want infer.Inference) (*purchase, error) {
	want.CSV.Encoding = cmp.Or(j.Encoding, want.CSV.Encoding)
	want.CSV.HeaderLine = cmp.Or(j.HeaderLine, want.CSV.HeaderLine)
	want.CSV.Sheet = cmp.Or(j.Sheet, want.CSV.Sheet)
	p := &purchase{Want: want, Holds: "rows that hold", Of: "rows"}
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
		names, p.Want.CSV, err = publicHeader(j.Input, want.CSV)
	}
	if err != nil {
		return nil, err
	}
	if j.Unit != "" && !slices.Contains(names, j.Unit) {
		where := "--unit: there is"
		if len(j.Links) > 0 {
			where = "--link: " + j.Input + " has"
		}
		return nil, Usagef("%s no column %q%s", where, j.Unit, spelling.Hint(j.Unit, names))
	}
	asked, err := p.Want.Asked(slices.DeleteFunc(slices.Clone(names),
		func(n string) bool { return n == j.Unit }))
	if err != nil {
		return nil, err
	}
	if elsewhere {
		p.Table, err = countedTexts(ctx, j.Input,
			Undescribed(names, p.Want.CSV, j.Unit, j.MaxRowsPerUnit), asked)
	} else {
		p.Table, err = text.File(j.Input, text.Options{Names: names, CSV: p.Want.CSV, Unit: j.Unit,
			MaxRowsPerUnit: j.MaxRowsPerUnit})
	}
	if err == nil {
		p.Plan, err = infer.PlanInference(len(asked), p.Table.Neighbours(j.Relation()), j.Budget())
	}
	return p, err
}

// purchaseOf is [NewPurchase] of a table of which nothing is declared. Its errors name the file.
func purchaseOf(ctx context.Context, j Job) (*purchase, error) {
	p, err := NewPurchase(ctx, j, infer.Inference{})
	if usage := (*UsageError)(nil); err != nil && !errors.As(err, &usage) {
		err = fmt.Errorf("%s: %w", j.Input, err)
	}
	return p, err
}

// checkTexts checks what the job says of a table without a schema.
func (j Job) checkTexts(csv schema.CSV) error {
	format, _ := table.FormatOf(j.Input) // 0 of a table in another system
	switch problem := csv.Problem(); {
	case problem != "":
		return Usagef("%s", problem)
	case j.Delta == 0:
		return Usagef("--delta 0: categories can only be found with delta > 0")
	case j.Unit == "" && j.MaxRowsPerUnit != 0, j.Unit != "" && j.MaxRowsPerUnit < 1:
		return Usagef("--unit and --max-rows-per-unit go together, as noise grows with a unit's rows. " +
			"Or --order COLUMN says by what these follow each other, such as a date (decoy help linked)")
	case csv.NoHeader && format.Named():
		return Usagef("--schema %s: only CSV files and spreadsheets have no header", j.Schema)
	case j.Sheet != "" && format != table.Sheet && format != table.Zip:
		return Usagef("--sheet %s: only spreadsheets (.xlsx) have sheets", j.Sheet)
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
	if _, ok := t.Fitter.(synth.Continuer); !ok {
		return Usagef("--method %s plans by a schema, and --schema is missing: auto, aim and mst "+
			"can go on from one that is bought in the same run", t.Method)
	}
	if t.Purchase, err = t.purchase(ctx); err != nil {
		return err
	}
	t.Purchase.Plan.Share = cmp.Or(t.SchemaShare, schemaShare)
	if t.Purchase.Want.Target, err = t.Unseen(); err != nil {
		return err
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
	if out == "" { // it is not run
		return nil
	}
	if stem := table.Stem(out); stem != out {
		out = stem
	} else {
		out = strings.TrimSuffix(out, filepath.Ext(out))
	}
	t.Bought = out + ".schema.yaml"
	return nil
}

// Unseen checks the settings of the method of a job that buys its schema against what is known of
// the table: its names. It gives the outcome that is named, or "".
func (t *Task) Unseen() (target string, err error) {
	names := t.Purchase.Table.Names()
	target, err = t.Fitter.(synth.Continuer).Unseen(names)
	if err != nil {
		return target, Usagef("%s%s", strings.TrimSuffix(err.Error(), ": "+synth.ErrConfig.Error()),
			spelling.Hint(target, names))
	}
	return target, nil
}
