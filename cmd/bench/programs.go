package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// program is NAME=COMMAND, run by a shell for each table and budget. In the command {dir} stands
// for a folder with train.csv, test.csv, schema.yaml and domain.json (column → number of codes),
// {table} for the file that the rows are of, {label} for the column to predict, {epsilon} and
// {delta} for the budget. It writes the synthetic rows into {dir}/out.csv, or, if it is a
// classifier, the probabilities of each row of test.csv into {dir}/scores.csv, a column for each
// class. Seconds, processor seconds and peak memory are of the whole command.
func program(operand string, limit time.Duration) (way, error) {
	name, command, ok := strings.Cut(operand, "=")
	if !ok {
		return way{}, fmt.Errorf("%q is not NAME=COMMAND", operand)
	}
	return way{name, func(t *testTable, b accountant.Budget) (out scores, err error) {
		dir, err := os.MkdirTemp("", "bench")
		if err != nil {
			return out, err
		}
		defer os.RemoveAll(dir)
		if err := t.writeTo(dir); err != nil {
			return out, err
		}
		number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", strings.NewReplacer(
			"{dir}", dir, "{table}", t.path, "{label}", t.task.Label,
			"{epsilon}", number(b.Epsilon), "{delta}", number(b.Delta),
		).Replace(command))
		cmd.WaitDelay = time.Second // for what the shell has started
		start := time.Now()
		said, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return out, fmt.Errorf("ended after %v", limit)
		}
		if err != nil {
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			return out, fmt.Errorf("%v: %s", err, lines[len(lines)-1])
		}
		out[5] = time.Since(start).Seconds()
		out[6] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		out[7] = peakMemory(cmd.ProcessState) / 1e6
		return out, t.scoreOf(dir, &out)
	}}, nil
}

// writeTo writes what a command reads.
func (t *testTable) writeTo(dir string) error {
	if t.files == nil {
		s := t.train.Schema()
		var domain strings.Builder
		for i, size := range s.Sizes() {
			fmt.Fprintf(&domain, ",\n%s: %d", must(json.Marshal(s.Columns[i].Name)), size)
		}
		t.files = map[string][]byte{
			"train.csv":   must(written(t.train)),
			"test.csv":    must(written(t.test)),
			"domain.json": []byte("{" + strings.TrimPrefix(domain.String(), ",") + "}\n"),
			"schema.yaml": must(s.YAML()),
		}
	}
	for name, text := range t.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// written is a table as CSV.
func written(t *table.Table) ([]byte, error) {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, table.CSV, t.Schema(), rand.New(rand.NewPCG(1, 0)),
		table.WriterOptions{})
	if err != nil {
		return nil, err
	}
	err = errors.Join(w.Write(t), w.Close())
	return out.Bytes(), err
}

// scoreOf scores what a command has written.
func (t *testTable) scoreOf(dir string, out *scores) error {
	path := filepath.Join(dir, "out.csv")
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := os.ReadFile(filepath.Join(dir, "scores.csv"))
		if err != nil {
			return errors.New("it wrote neither out.csv nor scores.csv")
		}
		out[3], err = t.auroc(text)
		return err
	}
	if err != nil {
		return err
	}
	syn, err := read(path, t.train.Schema())
	if err != nil {
		return err
	}
	return t.score(syn, out)
}

// auroc is that of probabilities of the rows of test.csv.
func (t *testTable) auroc(text []byte) (float64, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	k := t.test.Schema().Index(t.task.Label)
	if err != nil || len(rows) != t.test.Rows()+1 || k < 0 {
		return 0, fmt.Errorf("scores.csv is not of the rows of test.csv and a -label: %w", err)
	}
	at := slices.Index(rows[0], t.test.Schema().Columns[k].Categories[t.task.Positive])
	if at < 0 {
		return 0, errors.New("scores.csv has no column of the positive category")
	}
	var probabilities []float64
	var labels []bool
	for r, row := range rows[1:] {
		x, err := strconv.ParseFloat(row[at], 64)
		if err != nil {
			return 0, err
		}
		probabilities = append(probabilities, x)
		labels = append(labels, t.test.Column(k).At(r) == t.task.Positive)
	}
	return eval.AUROC(probabilities, labels)
}

// inCodes makes the columns categorical, a category for each code, so that every program works in
// the same bins.
func inCodes(t *table.Table) *table.Table {
	s := &schema.Schema{}
	for i, c := range t.Schema().Columns {
		s.Columns = append(s.Columns, codesColumn(c.Name, t.Schema().Sizes()[i]))
	}
	return must(table.FromColumns(s, t.Columns(), nil))
}
