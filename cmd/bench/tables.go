package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// tables says which public tables are fitted.
type tables struct {
	folder, names         string // of NAME.csv
	path, schema          string // or one file
	label, positive, drop string
	holdout               float64
	rows                  int
	codes                 bool
}

func (t *tables) flags(f *flag.FlagSet) {
	f.StringVar(&t.folder, "discrete", "", "folder of NAME.csv of integer codes and "+
		"NAME-domain.json (column name → number of codes), or of values and NAME.domain.json")
	f.StringVar(&t.names, "tables", "adult,nltcs,titanic,salary", "tables of the folder")
	f.StringVar(&t.path, "table", "", "one public table, .csv or .parquet, in place of a folder")
	f.StringVar(&t.schema, "schema", "", "its schema")
	f.StringVar(&t.label, "label", "", "column to predict, where the folder names none")
	f.StringVar(&t.positive, "positive", "", "its positive category; default that of code 1")
	f.StringVar(&t.drop, "drop", "", "comma-separated columns that the prediction must not see")
	f.Float64Var(&t.holdout, "holdout", -1, "share of the rows that are kept for the test of "+
		"the prediction, chosen by a public seed; default 0, with -table 0.4")
	f.IntVar(&t.rows, "rows", 0, "fit that many rows, chosen by a public seed, and test the "+
		"prediction on all others, in place of -holdout")
	f.BoolVar(&t.codes, "codes", false, "make every column categorical, a category for each code")
}

// testTable is a table with what it is to be tested by.
type testTable struct {
	name, path  string
	train, test *table.Table
	task        eval.Task         // Label "" without a label
	files       map[string][]byte // for commands
	cells       []*cell           // of thesis
}

// each opens one table after the other, or says that none is named.
func (t *tables) each(do func(*testTable)) {
	if t.folder == "" && t.path == "" {
		fmt.Println("skipped: neither -table nor -discrete names a table")
		return
	}
	names, holdout := strings.Split(t.names, ","), max(t.holdout, 0)
	if t.path != "" {
		names = []string{t.path}
		if t.holdout < 0 {
			holdout = .4
		}
	}
	for _, name := range names {
		one := must(t.open(name, holdout))
		if t.codes {
			one.train, one.test = inCodes(one.train), inCodes(one.test)
		}
		do(one)
	}
}

func (t *tables) open(name string, holdout float64) (*testTable, error) {
	out := &testTable{name: name, path: t.path}
	var s *schema.Schema
	var err error
	if t.path != "" {
		s, err = schema.Load(t.schema)
	} else {
		out.path = filepath.Join(t.folder, name+".csv")
		s, err = codesSchema(filepath.Join(t.folder, name+"-domain.json"))
		if errors.Is(err, fs.ErrNotExist) {
			s, out.task, err = valuesSchema(filepath.Join(t.folder, name+".domain.json"))
		}
	}
	if err == nil && out.task.Label == "" && t.label != "" {
		out.task, err = taskOf(s, t.label, t.positive)
	}
	if err != nil {
		return nil, err
	}
	if t.drop != "" {
		out.task.Drop = strings.Split(t.drop, ",")
	}
	real, err := read(out.path, s)
	if err != nil {
		return nil, err
	}
	rows := int(math.Round(float64(real.Rows()) * (1 - holdout)))
	if t.rows > 0 {
		rows = min(t.rows, real.Rows())
	}
	out.part(real, rows, 1)
	return out, nil
}

// part draws so many rows to be fitted by a public seed; the others, or all if there are none, are
// for the test.
func (t *testTable) part(real *table.Table, rows int, seed uint64) {
	t.train, t.test = real, real
	if rows < real.Rows() {
		order := rand.New(rand.NewPCG(seed, 0)).Perm(real.Rows())
		t.train, t.test = real.Select(order[:rows]), real.Select(order[rows:])
	}
}

func read(path string, s *schema.Schema) (*table.Table, error) {
	t, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
	return t, err
}

// taskOf is the prediction of a column's category.
func taskOf(s *schema.Schema, label, positive string) (eval.Task, error) {
	k, task := s.Index(label), eval.Task{Label: label, Positive: 1}
	if k < 0 {
		return task, fmt.Errorf("-label: the schema has no column %q", label)
	}
	if positive != "" {
		code := slices.Index(s.Columns[k].Categories, positive)
		if code < 0 {
			return task, fmt.Errorf("-positive: column %q has no category %q", label, positive)
		}
		task.Positive = uint16(code)
	}
	return task, nil
}

// codesSchema makes a schema of a file that maps column names to numbers of codes; the order of
// columns is that of the file.
func codesSchema(path string) (*schema.Schema, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, in := &schema.Schema{}, json.NewDecoder(file)
	for _, err = in.Token(); err == nil && in.More(); { // {"age": 85, "sex": 2}
		var name json.Token
		var size int
		name, _ = in.Token()
		err = in.Decode(&size)
		s.Columns = append(s.Columns, codesColumn(fmt.Sprint(name), size))
	}
	return s, errors.Join(err, s.Validate())
}

// codesColumn is a column whose categories are its codes.
func codesColumn(name string, size int) schema.Column {
	c := schema.TextColumn(name)
	for i := range size {
		c.Categories = append(c.Categories, strconv.Itoa(i))
	}
	return c
}

// valuesSchema makes a schema of a file that describes columns of values, with a label. Numbers
// have the default bins.
func valuesSchema(path string) (s *schema.Schema, task eval.Task, err error) {
	var d struct {
		Label, Positive string
		Drop            []string `json:"drop_for_prediction"`
		Columns         []map[string]any
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return nil, task, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range d.Columns {
		if c["kind"] == "categorical" {
			delete(c, "missing") // missing tokens are among the categories
		}
	}
	text = must(json.Marshal(map[string]any{"decoy": 1, "columns": d.Columns}))
	if s, err = schema.Parse(text); err == nil && d.Label != "" {
		task, err = taskOf(s, d.Label, d.Positive)
		task.Drop = d.Drop
	}
	return s, task, err
}
