package serve

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/configs"
)

// batch reads a batch file, all of whose jobs must read and write in the folder.
func (f *folder) batch(name string) (results string, err error) {
	text, err := f.text(name)
	if err != nil {
		return "", err
	}
	b, err := configs.ParseBatch(name, []byte(text))
	var jobs []configs.Job
	if err == nil {
		jobs, err = b.Expand()
	}
	if err != nil {
		return "", problem(err.Error())
	}
	results = cmp.Or(b.Results, stem(name)+".results.csv")
	files := []string{results, stem(name) + ".state"}
	for _, j := range jobs {
		files = append(files, j.Input, j.Schema, j.Ledger, j.Out, j.Model)
		if j.Evaluate != nil {
			files = append(files, j.Evaluate.Holdout)
		}
	}
	for _, file := range files {
		if _, no := f.root.Stat(path.Dir(file)); fs.ValidPath(file) && errors.Is(no, fs.ErrNotExist) {
			file = path.Base(file) // of a folder that the batch makes
		}
		if file != "" {
			err = cmp.Or(err, f.place(kind{name + " names " + file, []string{""}}, file))
		}
	}
	return results, err
}

// described are the files that may be schemas, or those that are batches.
func (f *folder) described(batches bool) []entry {
	return slices.DeleteFunc(f.files(schemas), func(e entry) bool {
		results, _ := f.batch(e.Name)
		return (results != "") != batches
	})
}

// batch shows the jobs of a batch file, and what they cost.
func (q *request) batch() error {
	plan := map[string]any{}
	args, _, err := q.folder.command("batch", q.choice)
	if err == nil {
		plan["talk"], err = q.program.ask(q.r.Context(), &plan, append(args, "--dry-run")...)
	}
	if err != nil {
		return err
	}
	return q.show("batch.html", plan)
}

// results are the lines of the table of results that the run of a batch wrote.
func (f *folder) results(v view) [][]string {
	name, err := f.batch(v.Choice["batch"])
	if err != nil || !strings.Contains(strings.Join(v.Talk, "\n"), "\nwrote "+name) {
		return nil
	}
	text, _ := f.root.ReadFile(name)
	rows, _ := csv.NewReader(bytes.NewReader(text)).ReadAll()
	return rows
}
