package main

import (
	"bytes"
	"cmp"
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

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/schema/exchange"
	"github.com/decoy-dp/decoy/table"
)

// tables says which public tables are fitted.
type tables struct {
	folder, names         string // of NAME.csv
	path, schema          string // or one file
	simulated             string // or tables that are drawn
	label, positive, drop string
	holdout               float64
	rows, beside          int
}

// folderOf adds the flags of verbs that go over the public tables of a folder. What it returns
// parses, and ends the program with a word where no folder is named.
func folderOf(f *flag.FlagSet, names string) func(args []string) (dir string, list []string) {
	dir := f.String("tables", "", "`FOLDER` of public tables, NAME.csv and NAME.domain.json")
	of := f.String("names", names, "`NAMES` of tables of the folder")
	return func(args []string) (string, []string) {
		f.Parse(args)
		if *dir == "" {
			fmt.Println("skipped: there is no folder of public tables (-tables)")
			os.Exit(0)
		}
		return *dir, strings.Split(*of, ",")
	}
}

func (t *tables) flags(f *flag.FlagSet) {
	f.StringVar(&t.folder, "discrete", "", "folder of NAME.csv of integer codes and "+
		"NAME-domain.json (column name → number of codes), or of values and NAME.domain.json")
	f.StringVar(&t.names, "tables", "adult,nltcs,titanic,salary", "tables of the folder")
	f.StringVar(&t.path, "table", "", "one public table, .csv or .parquet, in place of a folder")
	f.StringVar(&t.schema, "schema", "", "its schema")
	f.StringVar(&t.simulated, "simulated", "", "parity, mixture or tails in place of a table of a "+
		"file: structure that pairs hardly show, in 10,000 rows or -rows")
	f.StringVar(&t.label, "label", "", "column to predict, where the folder names none")
	f.StringVar(&t.positive, "positive", "", "its positive category; default that of code 1")
	f.StringVar(&t.drop, "drop", "", "comma-separated columns that the prediction must not see")
	f.Float64Var(&t.holdout, "holdout", -1, "share of the rows that are kept for the test of "+
		"the prediction, chosen by a public seed; default 0, with -table 0.4")
	f.IntVar(&t.beside, "beside", 0, "one table of that many columns: those of the tables side by "+
		"side, over and over, each time with the next of their rows")
	f.IntVar(&t.rows, "rows", 0, "fit that many rows, chosen by a public seed, and test the "+
		"prediction on all others, in place of -holdout")
}

// testTable is a table with what it is to be tested by.
type testTable struct {
	name        string
	train, test *table.Table
	task        eval.Task           // Label "" without a label
	shown       func(row []int) int // of a simulated table: what a row shows of its structure
}

// each opens one table after the other, or says that none is named.
func (t *tables) each(do func(testTable)) {
	if t.folder == "" && t.path == "" && t.simulated == "" {
		fmt.Println("skipped: none of -table, -discrete and -simulated names a table")
		return
	}
	if t.simulated != "" {
		for _, one := range must(simulate(t.simulated, cmp.Or(t.rows, 10_000))) {
			do(one)
		}
		return
	}
	names, holdout := strings.Split(t.names, ","), max(t.holdout, 0)
	if t.path != "" {
		names = []string{t.path}
		if t.holdout < 0 {
			holdout = .4
		}
	}
	if t.beside > 0 {
		do(must(t.wide(names)))
		return
	}
	for _, name := range names {
		do(t.open(name, holdout))
	}
}

func (t *tables) open(name string, holdout float64) testTable {
	out, path := testTable{name: name}, t.path
	var s *schema.Schema
	var err error
	if path != "" {
		s, err = schema.Load(t.schema)
	} else {
		path = filepath.Join(t.folder, name+".csv")
		s, err = codesSchema(filepath.Join(t.folder, name+"-domain.json"))
		if errors.Is(err, fs.ErrNotExist) {
			s, out.task, err = valuesSchema(filepath.Join(t.folder, name+".domain.json"))
		}
	}
	check(err)
	if out.task.Label == "" && t.label != "" {
		out.task = taskOf(s, t.label, t.positive, t.drop)
	} else if t.drop != "" {
		out.task.Drop = strings.Split(t.drop, ",")
	}
	real := readTable(path, s)
	out.train, out.test = real, real
	cut := int(math.Round(float64(real.Rows()) * (1 - holdout)))
	if t.rows > 0 {
		cut = min(t.rows, real.Rows())
	}
	if cut < real.Rows() {
		order := rand.New(rand.NewPCG(1, 0)).Perm(real.Rows())
		out.train, out.test = real.Select(order[:cut]), real.Select(order[cut:])
	}
	return out
}

// wide is a table of columns of the named ones side by side: rows that have nothing to do with each
// other but within the columns of one table.
func (t *tables) wide(names []string) (testTable, error) {
	if t.rows < 1 {
		return testTable{}, errors.New("-beside needs -rows")
	}
	s, cols := &schema.Schema{}, []table.Codes{}
	rows := make([]int, t.rows)
	for time := 0; len(cols) < t.beside; time++ {
		before := len(cols)
		for _, name := range names {
			one := *t
			one.rows = 0
			opened := one.open(name, 0)
			if opened.train.Rows() < (time+1)*t.rows {
				continue // its rows are used up
			}
			for i := range rows {
				rows[i] = time*t.rows + i
			}
			part := opened.train.Select(rows)
			for i, c := range part.Schema().Columns {
				if len(cols) < t.beside {
					c.Name = fmt.Sprintf("%s %d %s", name, time, c.Name)
					s.Columns, cols = append(s.Columns, c), append(cols, part.Column(i))
				}
			}
		}
		if len(cols) == before {
			return testTable{}, fmt.Errorf("-beside: the tables have no %d rows for %d columns",
				t.rows, t.beside)
		}
	}
	all, err := table.FromColumns(s, cols, nil)
	return testTable{name: fmt.Sprintf("%d columns", t.beside), train: all, test: all}, err
}

// taskOf is the prediction of a column's category.
func taskOf(s *schema.Schema, label, positive, drop string) eval.Task {
	k, task := s.Index(label), eval.Task{Label: label, Positive: 1}
	if k < 0 {
		check(fmt.Errorf("-label: the schema has no column %q", label))
	}
	if positive != "" {
		code := slices.Index(s.Columns[k].Categories, positive)
		if code < 0 {
			check(fmt.Errorf("-positive: column %q has no category %q", label, positive))
		}
		task.Positive = uint16(code)
	}
	if drop != "" {
		task.Drop = strings.Split(drop, ",")
	}
	return task
}

// codesSchema makes a schema of a file that maps column names to numbers of codes; the order of
// columns is that of the file.
func codesSchema(path string) (*schema.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := exchange.Import("mbi", text, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &schema.Schema{}
	for _, c := range d.Columns {
		s.Columns = append(s.Columns, codesColumn(c.Name, c.Bins))
	}
	return s, s.Validate()
}

// codesColumn is a column whose categories are its codes.
func codesColumn(name string, size int) schema.Column {
	c := schema.Column{Name: name, Kind: schema.Categorical}
	for i := range size {
		c.Categories = append(c.Categories, strconv.Itoa(i))
	}
	return c
}

// valuesSchema makes a schema of a file that describes columns of values, with a label. Numbers
// have the default bins.
func valuesSchema(path string) (*schema.Schema, eval.Task, error) {
	var d struct {
		Label    string
		Positive string
		Drop     []string `json:"drop_for_prediction"`
		Columns  []struct {
			Name, Kind          string
			Categories, Missing []string
			Min, Max            float64
		}
	}
	text := must(os.ReadFile(path))
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, eval.Task{}, fmt.Errorf("%s: %w", path, err)
	}
	s, task := &schema.Schema{}, eval.Task{Label: d.Label, Drop: d.Drop}
	for _, x := range d.Columns {
		c := schema.Column{Name: x.Name}
		switch x.Kind {
		case "integer":
			c.Kind, c.Min, c.Max, c.Missing = schema.Integer, x.Min, x.Max, x.Missing
		case "real":
			c.Kind, c.Min, c.Max, c.Missing = schema.Real, x.Min, x.Max, x.Missing
		default:
			c.Kind, c.Categories = schema.Categorical, x.Categories // missing tokens are among them
		}
		if x.Name == d.Label {
			task.Positive = uint16(max(0, slices.Index(c.Categories, d.Positive)))
		}
		s.Columns = append(s.Columns, c)
	}
	return s, task, s.Validate()
}

// readTable reads a public table.
func readTable(path string, s *schema.Schema) *table.Table {
	t, _, err := table.Read(context.Background(), path, s, table.ReadOptions{})
	check(err)
	return t
}

// readStays reads rows that were drawn here.
func readStays(text []byte, s *schema.Schema) (*table.Table, error) {
	t, _, err := table.ReadCSV(context.Background(), bytes.NewReader(text), int64(len(text)), s,
		table.ReadOptions{})
	return t, err
}
