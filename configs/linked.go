package configs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/engine"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// LinkedFiles finds the files of linked tables, each named as its table, in the order of l.Tables.
// paths are the files, in any order, or one folder that has them, and maybe others.
func LinkedFiles(name string, l *schema.Linked, paths ...string) ([]string, error) {
	var tables []string
	for _, t := range l.Tables {
		tables = append(tables, t.Name)
	}
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
		at, err := slices.Index(tables, tableName(path)), Readable(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case at < 0:
			return nil, Usagef("%s: %s is none of the tables %s of the schema: a file has the name of its "+
				"table, such as %s.csv", name, path, strings.Join(tables, ", "), tables[0])
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
	if t.Linked, err = schema.LoadLinked(t.Schema); err != nil {
		return err
	}
	t.Domain = t.Linked.Tables[0].Schema
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
	case t.Out != "":
		return Usagef("--out is one table, and %s describes linked tables: --out-dir names a folder "+
			"for them, which get a file each", t.Schema)
	}
	if _, err = t.Plan(); err != nil || len(t.Inputs) == 0 {
		return err
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

// Schemas are those of the tables of the job.
func (t *Task) Schemas() (out []*schema.Schema) {
	if t.Linked == nil {
		return []*schema.Schema{t.Domain}
	}
	for _, one := range t.Linked.Tables {
		out = append(out, one.Schema)
	}
	return out
}

// CreateLinked creates the synthetic tables of a model of linked ones in a folder, a CSV file each.
func CreateLinked(
	dir string, l *schema.Linked, stdout io.Writer, force bool, o table.WriterOptions,
) ([]*Target, error) {
	var paths []string
	for _, t := range l.Tables {
		paths = append(paths, filepath.Join(dir, t.Name+".csv"))
	}
	return createTables("--out-dir", dir, paths, stdout, func(string) bool { return force }, o)
}

// SampleLinked draws n units with their rows, and completes the outputs, one for each table.
func SampleLinked(
	ctx context.Context, out []*Target, m *release.Model, n int, seed uint64,
	say func(string, ...any), progress func(float64),
) error {
	tables, err := m.SampleLinked(ctx, n, seed)
	for i := 0; i < len(tables) && err == nil; i++ {
		t := tables[i]
		err = out[i].Sample(ctx, drawn{t}, t.Schema(), max(1, t.Rows()), seed, func(done float64) {
			progress((float64(i) + done) / float64(len(tables)))
		})
		if err == nil {
			say("wrote %s: %d rows, %d columns (seed %d)", out[i].Name(), t.Rows(), t.Schema().Width(), seed)
		}
	}
	return err
}

// drawn is a table that has been drawn.
type drawn struct{ *table.Table }

// Sample hands it over.
func (d drawn) Sample(_ context.Context, _ int, _ uint64, emit func(*table.Table) error) error {
	return emit(d.Table)
}
