package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// source is a table with what it is to be tested by.
type source struct {
	train, test *table.Table
	task        eval.Task // Label "" without a label
}

// open reads a table of the folder. label names the column to predict, its code 1 is the positive
// one; a table with a NAME.domain.json names its own.
func open(dir, name, label string, holdout float64) (source, error) {
	var src source
	s, err := codesSchema(filepath.Join(dir, name+"-domain.json"))
	src.task = eval.Task{Label: label, Positive: 1}
	if errors.Is(err, fs.ErrNotExist) {
		s, src.task, err = valuesSchema(filepath.Join(dir, name+".domain.json"))
	}
	if err != nil {
		return src, err
	}
	if src.task.Label != "" && s.Index(src.task.Label) < 0 {
		return src, fmt.Errorf("-label: %s has no column %q", name, label)
	}
	real, _, err := table.Read(context.Background(), filepath.Join(dir, name+".csv"), s,
		table.ReadOptions{})
	if err != nil {
		return src, err
	}
	src.train, src.test = real, real
	if holdout > 0 {
		order := rand.New(rand.NewPCG(1, 0)).Perm(real.Rows())
		cut := int(float64(real.Rows()) * (1 - holdout))
		src.train, src.test = real.Select(order[:cut]), real.Select(order[cut:])
	}
	return src, nil
}

// codesSchema makes a schema of a file that maps column names to numbers of codes; the order of
// columns is that of the file.
func codesSchema(path string) (*schema.Schema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &schema.Schema{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var size int
		if err := dec.Decode(&size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c := schema.Column{Name: fmt.Sprint(name), Kind: schema.Categorical}
		for i := range size {
			c.Categories = append(c.Categories, strconv.Itoa(i))
		}
		s.Columns = append(s.Columns, c)
	}
	return s, s.Validate()
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
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, eval.Task{}, err
	}
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
