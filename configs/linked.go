package configs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// LinkedFiles finds the files of linked tables, each named as its table, in the order of l.Tables.
// paths are the files, in any order, or one folder that has them, and maybe others.
func LinkedFiles(name string, l *schema.Linked, paths ...string) ([]string, error) {
	if l.Alone {
		if len(paths) > 1 {
			return nil, Usagef("%s: %s and %s, and the schema describes one table", name, paths[0], paths[1])
		}
		return paths, Readable(paths[0])
	}
	tables := l.Names()
	if info, err := os.Stat(paths[0]); len(paths) == 1 && err == nil && info.IsDir() {
		entries, err := os.ReadDir(paths[0])
		if err != nil {
			return nil, err
		}
		dir := paths[0]
		paths = nil
		for _, e := range entries {
			if slices.Contains(tables, tableName(e.Name())) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	out := make([]string, len(tables))
	for _, path := range paths {
		if strings.Contains(filepath.Base(path), ".ledger") && len(paths) > len(tables) {
			continue // beside the files, of which a shell has named all
		}
		at, err := slices.Index(tables, tableName(path)), Readable(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case at < 0:
			return nil, Usagef("%s: %s is none of the tables %s%s: a file has the name of its "+
				"table, such as %s.csv", name, path, strings.Join(tables, ", "),
				spelling.Hint(tableName(path), tables), tables[0])
		case out[at] != "":
			return nil, Usagef("%s: %s and %s are both the table %s", name, out[at], path, tables[at])
		}
		out[at] = path
	}
	if at := slices.Index(out, ""); at >= 0 {
		return nil, Usagef("%s: no file is that of the table %s, such as %[2]s.csv: name the "+
			"files of all tables, or the folder that has them", name, tables[at])
	}
	return out, nil
}

// tableName is that of a file, without what comes of its format; "" of another file.
func tableName(path string) string {
	if _, err := table.FormatOf(path); err != nil {
		return ""
	}
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// linked checks a job on linked tables, and finds its files. What is not for linked tables is
// refused here, or by [synth.PlanLinked].
func (t *Task) linked() (err error) {
	if t.bare() {
		t.Linked, err = t.undescribed()
	} else if t.Linked, err = schema.LoadLinked(t.Schema); err == nil {
		t.Domain = t.Linked.Tables[0].Schema
	}
	if err != nil {
		return err
	}
	if len(t.Inputs) == 0 && t.Input != "" {
		t.Inputs = []string{t.Input}
	}
	switch {
	case slices.ContainsFunc(t.Inputs, engine.Elsewhere):
		return Usagef("linked tables are read from files, not from another system: here an extract of " +
			"each is needed")
	case t.Rows > release.MostUnits:
		return Usagef("--rows %d: linked tables are held in memory, so at most %d units are drawn",
			t.Rows, release.MostUnits)
	case t.Out != "" && !t.Linked.Alone:
		return Usagef("--out is one table, and these are linked tables: --out-dir names a folder for " +
			"them, which get a file each")
	case t.OutDir != "" && t.Linked.Alone:
		return Usagef("--out-dir is for linked tables, and this is one table: --out names its file")
	case t.Domain == nil:
		err = synth.Linkable(t.Fitter)
	default:
		_, err = t.Plan()
	}
	if err != nil || len(t.Inputs) == 0 {
		return err
	}
	for _, name := range t.Linked.Names() {
		is := func(path string) bool { return tableName(path) == name }
		if t.Links != nil && len(t.Inputs) > 1 && !slices.ContainsFunc(t.Inputs, is) {
			return Usagef("--link: no file is that of a table %q: there are %s%s", name,
				strings.Join(t.Inputs, ", "), spelling.Hint(name+".csv", t.Inputs))
		}
	}
	if t.Inputs, err = LinkedFiles("INPUT", t.Linked, t.Inputs...); err != nil {
		return err
	}
	t.Input = t.Inputs[0] // whose ledger is that of all
	for _, path := range t.Inputs {
		if t.OutDir != "" {
			t.outs = append(t.outs, filepath.Join(t.OutDir, filepath.Base(path)))
		}
	}
	return nil
}

// undescribed is linked tables as --link, --order and --unit say. Nothing is read.
func (j Job) undescribed() (*schema.Linked, error) {
	l := &schema.Linked{Unit: j.Unit, Alone: j.Links == nil}
	table := func(name, parent, key string) {
		t := schema.LinkedTable{Name: name, Parent: parent, Key: []string{key},
			Schema: &schema.Schema{Unit: key, MaxRowsPerUnit: 1}}
		if parent == "" {
			t.ID, t.Key = t.Key, nil
		}
		l.Tables = append(l.Tables, t)
	}
	switch {
	case j.MaxRowsPerUnit != 0:
		return nil, Usagef("--max-rows-per-unit: how many rows of a unit are used follows from what " +
			"--order buys: leave it out")
	case j.Links != nil && j.Unit != "":
		return nil, Usagef("--unit is for one table: of linked ones --link names the ids")
	case j.Links == nil && (j.Unit == "" || len(j.Orders) > 1):
		return nil, Usagef("--order: either --unit names the column of ids of one table, and --order " +
			"one column, or --link says which table's ids are those of another: " + linkForm)
	case j.Links == nil:
		table("units", "", j.Unit)
		table("rows", "units", j.Unit)
		l.Tables[1].Order.By = j.Orders[0]
		return l, nil
	}
	for _, link := range j.Links {
		from, to, _ := strings.Cut(link, "=")
		child, key, _ := strings.Cut(from, ".")
		parent, id, _ := strings.Cut(to, ".")
		switch {
		case strings.ContainsAny(link, ","):
			return nil, Usagef("--link %s: an id of several columns needs a schema (decoy help linked)",
				link)
		case child == "" || key == "" || parent == "" || id == "":
			return nil, Usagef("--link %q: write %s", link, linkForm)
		}
		if l.Tables == nil {
			l.Unit = id
			table(parent, "", id)
		}
		switch root := l.Tables[0].Name; {
		case parent != root || id != l.Unit:
			return nil, Usagef("--link %s: the units are %s.%s by the --link before. Rows that belong to "+
				"rows need a schema (decoy help linked)", link, root, l.Unit)
		case slices.Contains(l.Names(), child):
			return nil, Usagef("--link %s: the table %s is the parent, or has a --link", link, child)
		}
		table(child, parent, key)
	}
	for _, order := range j.Orders {
		name, column, _ := strings.Cut(order, ".")
		at := slices.Index(l.Names(), name)
		switch {
		case column == "":
			return nil, Usagef("--order %q: write TABLE.COLUMN, such as visits.date", order)
		case at < 0:
			return nil, Usagef("--order %s: no --link names the table %q%s", order, name,
				spelling.Hint(name, l.Names()))
		case at == 0:
			return nil, Usagef("--order %s: the rows of %s are the units, which have no order: is a --link "+
				"the wrong way round? Write %s", order, name, linkForm)
		case l.Tables[at].Order.By != "":
			return nil, Usagef("--order %s: the rows of %s have an order already", order, name)
		}
		l.Tables[at].Order.By = column
	}
	for _, t := range l.Tables[1:] {
		if t.Order.By == "" {
			return nil, Usagef("--order %s.COLUMN is missing: the number, date or time by which the rows "+
				"of a unit follow each other", t.Name)
		}
	}
	return l, nil
}

const linkForm = "CHILD.KEY=PARENT.ID, such as --link visits.patient_id=patients.patient_id"

// newLinkedPurchase plans the purchase of the schema of linked tables. Their headers are read.
func (t *Task) newLinkedPurchase(ctx context.Context) (*purchase, error) {
	p := &purchase{Want: analysis.Inference{Linked: t.Linked}}
	var parts []*text.Table
	if t.Linked.Alone {
		parts = append(parts, nil)
	}
	for _, path := range t.Inputs {
		of, j := t.Linked.Tables[len(parts)], t.Job
		j.Input, j.Unit, j.MaxRowsPerUnit = path, of.Schema.Unit, 1
		one, err := NewPurchase(ctx, j, analysis.Inference{})
		if err != nil {
			return nil, err
		}
		names, by := one.Table.Names(), of.Order.By
		switch {
		case by == j.Unit:
			return nil, Usagef("--order: %q is the column of ids, which is no order", by)
		case by != "" && !slices.Contains(names, by):
			return nil, Usagef("--order: %s has no column %q%s", path, by, spelling.Hint(by, names))
		}
		of.Schema.CSV, parts = one.Want.CSV, append(parts, one.Table)
	}
	var err error
	if p.Table, err = text.Linked(parts...); err == nil {
		p.Plan, err = analysis.PlanInference(len(p.Table.Names()), p.Table.Neighbours(t.Relation()),
			t.Budget())
	}
	return p, err
}

// Schemas are those of the tables of the job.
func (t *Task) Schemas() (out []*schema.Schema) {
	if t.Linked == nil {
		return []*schema.Schema{t.Domain}
	}
	for _, one := range t.Linked.Described() {
		out = append(out, one.Schema)
	}
	return out
}

// CreateTables creates the synthetic table of a model, the file out, or those of a model of linked
// ones in a folder, a CSV file each, or one of Arrow where the folder is named "arrow:DIR".
func CreateTables(
	dir, out string, l *schema.Linked, stdout io.Writer, force bool, o table.WriterOptions,
) ([]*Target, error) {
	name, paths, ending := "--out", []string{out}, ".csv"
	if dir != "" {
		name, paths = "--out-dir", nil
		if of, is := strings.CutPrefix(dir, "arrow:"); is {
			dir, ending = of, ".arrow"
		}
		for _, t := range l.Tables {
			paths = append(paths, filepath.Join(dir, t.Name+ending))
		}
	}
	return createTables(name, dir, paths, stdout, func(string) bool { return force }, o)
}

// SampleTables completes the output of each table of the model m. It draws n rows of one from from,
// or n units of linked ones with their rows.
func SampleTables(
	ctx context.Context, out []*Target, from sampler, m *release.Model, n int, seed uint64,
	say func(string, ...any), progress func(float64),
) error {
	if m.Linked() == nil {
		return out[0].Sample(ctx, from, m.Schema(), n, seed, say, progress)
	}
	tables, err := m.SampleLinked(ctx, n, seed)
	for i := 0; i < len(tables) && err == nil; i++ {
		t := tables[i]
		whole := func(_ context.Context, _ int, _ uint64, emit func(*table.Table) error) error {
			return emit(t)
		}
		err = out[i].Sample(ctx, whole, t.Schema(), max(1, t.Rows()), seed, say,
			func(done float64) { progress((float64(i) + done) / float64(len(tables))) })
	}
	return err
}
