package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/mech/text"
	"github.com/decoy-dp/decoy/synth"
)

// LinkedFiles finds the files of linked tables, each named as its table, in the order of l.Tables.
// paths are the files, in any order, or one folder that has them, and maybe others. One that cannot
// be read is an error, beside which the result is whole if each table has a file. A folder that is
// not there has a CSV file of each.
func LinkedFiles(name string, l *schema.Linked, paths ...string) ([]string, error) {
	tables := l.Names()
	if len(tables) == 1 {
		if len(paths) > 1 {
			return nil, Usagef("%s: %s and %s, and the schema describes one table", name, paths[0], paths[1])
		}
		return paths, Readable(paths[0])
	}
	if len(paths) == 1 {
		var err error
		if paths, err = filesIn(paths[0], tables); err != nil {
			return nil, err
		}
	}
	out, missing := make([]string, len(tables)), error(nil)
	for _, path := range paths {
		if strings.Contains(filepath.Base(path), ".ledger") && len(paths) > len(tables) {
			continue // beside the files, of which a shell has named all
		}
		at, err := slices.Index(tables, tableName(path)), Readable(path)
		if missing == nil && err != nil {
			missing = fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case err != nil && at < 0:
			return nil, missing
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
	return out, missing
}

// filesIn are the files of tables in a folder; of a path to a file, itself.
func filesIn(path string, tables []string) (files []string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && tableName(path) == "":
		for _, name := range tables {
			files = append(files, filepath.Join(path, name+".csv"))
		}
		return files, nil
	case err != nil || !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if slices.Contains(tables, tableName(e.Name())) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, err
}

// inFolder are files of these names in a folder that a flag names, which "arrow:DIR" has in Arrow;
// none for the folder "".
func inFolder(folder string, names []string) (dir string, paths []string) {
	dir, arrow := strings.CutPrefix(folder, "arrow:")
	if folder == "" {
		return "", nil
	}
	for _, name := range names {
		name = filepath.Base(name)
		switch format, err := table.FormatOf(name); {
		case arrow:
			name = tableName(name) + ".arrow"
		case err == nil && !format.Written():
			name = tableName(name) + ".csv"
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	return cmp.Or(dir, "."), paths
}

// tableName is that of a file, without what comes of its format; "" of another file.
func tableName(path string) string {
	if _, err := table.FormatOf(path); err != nil {
		return ""
	}
	return table.Stem(filepath.Base(path))
}

// checkLinked checks a job on linked tables, and finds its files. What is not for linked tables is
// refused here, or by [synth.Fits].
func (t *Task) checkLinked() (err error) {
	switch {
	case slices.ContainsFunc(t.Inputs, engine.Elsewhere):
		return Usagef("linked tables are read from files, not from another system: here an extract of " +
			"each is needed")
	case t.Rows > release.MostUnits:
		return Usagef("--rows %d: linked tables are held in memory, so at most %d units are drawn",
			t.Rows, release.MostUnits)
	case t.Out != "" && t.Tables.Folder():
		return Usagef("%s is one table, and these are linked tables: %s names a folder for them, which "+
			"get a file each", t.name("out"), t.name("out-dir"))
	case t.OutDir != "" && !t.Tables.Folder():
		return Usagef("%s is for linked tables, and this is one table: %s names its file",
			t.name("out-dir"), t.name("out"))
	case t.Evaluate != nil:
		return Usagef("evaluate is for one table without an order: 'decoy evaluate' compares others")
	case t.Domain == nil:
		err = synth.Fits(t.Fitter)
	default:
		t.Planned, err = t.Plan()
	}
	if err != nil || len(t.Inputs) == 0 {
		return err
	}
	for _, name := range t.Tables.Names() {
		is := func(path string) bool { return tableName(path) == name }
		if len(t.Links) > 0 && len(t.Inputs) > 1 && !slices.ContainsFunc(t.Inputs, is) {
			return Usagef("--link: no file is that of a table %q: there are %s%s", name,
				strings.Join(t.Inputs, ", "), spelling.Hint(name+".csv", t.Inputs))
		}
	}
	files, err := LinkedFiles(t.name("input"), t.Tables, t.Inputs...)
	if err != nil && (t.owner == "" || files == nil) {
		return err
	}
	t.Missing, t.Inputs, t.Input = err, files, files[0] // whose ledger is that of all
	dir, outs := inFolder(t.OutDir, t.Inputs)
	t.OutDir, t.outs = dir, append(t.outs, outs...)
	return nil
}

// undescribed is linked tables as --link, --order and --unit say. Nothing is read.
func (j Job) undescribed() (*schema.Linked, error) {
	l := &schema.Linked{Unit: j.Unit, Alone: len(j.Links) == 0}
	switch {
	case j.MaxRowsPerUnit != 0:
		return nil, Usagef("--max-rows-per-unit: how many rows of a unit are used follows from what " +
			"--order buys: leave it out")
	case !l.Alone && j.Unit != "":
		return nil, Usagef("--unit is for one table: of linked ones --link names the ids")
	case l.Alone && (j.Unit == "" || len(j.Orders) > 1 || j.Orders[0] == ""):
		return nil, Usagef("--order: either --unit names the column of ids of one table, and --order " +
			"one column, or --link says which table's ids are those of another: " + linkForm)
	case l.Alone:
		l.Tables = []schema.LinkedTable{bareTable("units", "", j.Unit),
			bareTable("rows", "units", j.Unit)}
		l.Tables[1].Order.By = j.Orders[0]
		return l, nil
	}
	for _, link := range j.Links {
		if err := addLink(l, link); err != nil {
			return nil, err
		}
	}
	return l, addOrders(l, j.Orders)
}

// bareTable is a table of which nothing but its ids is known: of the units, or of rows of a parent.
func bareTable(name, parent, key string) schema.LinkedTable {
	t := schema.LinkedTable{Name: name, Parent: parent,
		Schema: &schema.Schema{Unit: key, MaxRowsPerUnit: 1}}
	if parent == "" {
		t.ID = []string{key}
	} else {
		t.Key = []string{key}
	}
	return t
}

// addLink adds the table of a --link; the first one adds that of the units, too.
func addLink(l *schema.Linked, link string) error {
	from, to, _ := strings.Cut(link, "=")
	child, key, _ := strings.Cut(from, ".")
	parent, id, _ := strings.Cut(to, ".")
	switch {
	case strings.ContainsAny(link, ","):
		return Usagef("--link %s: an id of several columns needs a schema (decoy help linked)", link)
	case child == "" || key == "" || parent == "" || id == "":
		return Usagef("--link %q: write %s", link, linkForm)
	}
	if l.Tables == nil {
		l.Unit, l.Tables = id, []schema.LinkedTable{bareTable(parent, "", id)}
	}
	switch root := l.Tables[0].Name; {
	case parent != root || id != l.Unit:
		return Usagef("--link %s: the units are %s.%s by the --link before. Rows that belong to "+
			"rows need a schema (decoy help linked)", link, root, l.Unit)
	case slices.Contains(l.Names(), child):
		return Usagef("--link %s: the table %s is the parent, or has a --link", link, child)
	}
	l.Tables = append(l.Tables, bareTable(child, parent, key))
	return nil
}

// addOrders gives the rows of each table their order, each TABLE.COLUMN.
func addOrders(l *schema.Linked, orders []string) error {
	for _, order := range orders {
		name, column, _ := strings.Cut(order, ".")
		at := slices.Index(l.Names(), name)
		switch {
		case column == "":
			return Usagef("--order %q: write TABLE.COLUMN, such as visits.date", order)
		case at < 0:
			return Usagef("--order %s: no --link names the table %q%s", order, name,
				spelling.Hint(name, l.Names()))
		case at == 0:
			return Usagef("--order %s: the rows of %s are the units, which have no order: is a --link "+
				"the wrong way round? Write %s", order, name, linkForm)
		case l.Tables[at].Order.By != "":
			return Usagef("--order %s: the rows of %s have an order already", order, name)
		}
		l.Tables[at].Order.By = column
	}
	for _, t := range l.Tables[1:] {
		if t.Order.By == "" {
			return Usagef("--order %s.COLUMN is missing: the number, date or time by which the rows "+
				"of a unit follow each other", t.Name)
		}
	}
	return nil
}

const linkForm = "CHILD.KEY=PARENT.ID, such as --link visits.patient_id=patients.patient_id"

// newLinkedPurchase plans the purchase of the schema of linked tables. Their headers are read.
func (t *Task) newLinkedPurchase(ctx context.Context) (*purchase, error) {
	p := &purchase{Want: infer.Inference{Linked: t.Tables}, Holds: "units with a row that holds",
		Of: "units with rows, of which each had a say by one: of all rows, more may be beyond the bounds"}
	var parts []*text.Table
	if t.Tables.Alone {
		parts = append(parts, nil)
	}
	for _, path := range t.Inputs {
		of, j := t.Tables.Tables[len(parts)], t.Job
		j.Input, j.Unit, j.MaxRowsPerUnit = path, of.Schema.Unit, 1
		one, err := purchaseOf(ctx, j)
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
		p.Plan, err = infer.PlanInference(len(p.Table.Names()), p.Table.Neighbours(t.Relation()),
			t.Budget())
	}
	return p, err
}

// Schemas are those of the tables of the job.
func (t *Task) Schemas() (out []*schema.Schema) {
	for _, one := range t.Tables.Described() {
		out = append(out, one.Schema)
	}
	return out
}

// CreateTables creates the synthetic table of a model, the file out, or those of a model of linked
// ones in a folder, a CSV file each, or one of Arrow where the folder is named "arrow:DIR".
func CreateTables(
	dir, out string, l *schema.Linked, stdout io.Writer, force bool, o table.WriterOptions,
) ([]*Target, error) {
	name, paths := "--out", []string{out}
	if dir != "" {
		name, paths = "--out-dir", l.Names()
		for i := range paths {
			paths[i] += ".csv"
		}
		dir, paths = inFolder(dir, paths)
	}
	return createTables(name, dir, paths, stdout, func(string) bool { return force }, o)
}

// SampleTables completes the output of each table of the model m. It draws n rows of one, of
// given if that is not nil, or n units of linked ones with their rows.
func SampleTables(
	ctx context.Context, out []*Target, given *release.Given, m *release.Model, n int, seed uint64,
	say func(string, ...any), progress func(float64),
) error {
	drawn, err := m.Drawn(ctx, n, seed)
	if err == nil && given != nil {
		drawn[0].Sample = given.Sample
	}
	for i := 0; i < len(drawn) && err == nil; i++ {
		d := drawn[i]
		err = out[i].Sample(ctx, d.Sample, d.Schema, d.Rows, seed, say,
			func(done float64) { progress((float64(i) + done) / float64(len(drawn))) })
	}
	return err
}
