package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// peers prints how good the tables are that programs make of the same rows, in the same bins, at
// the same budget: bench/peers calls it with other projects' programs beside decoy's. A program is
// an argument NAME=COMMAND. Before it runs, {dir} in its words is replaced by a folder with
// train.csv (integer codes), domain.json (column → number of codes) and schema.yaml (the same for
// decoy), {epsilon} and {delta} by the budget, {label} by the column to predict; it writes
// {dir}/out.csv. Errors and AUROC are those of methods; seconds, processor seconds and peak memory
// are of the whole program.
func peers(args []string) {
	flags := flag.NewFlagSet("peers", flag.ExitOnError)
	var src tables
	src.flags(flags)
	epsilons := flags.String("epsilon", "1", "budgets")
	delta := flags.Float64("delta", 1e-9, "delta")
	runs := flags.Int("runs", 1, "runs of each line, 1 or more")
	limit := flags.Duration("limit", 30*time.Minute, "a program that takes longer is ended")
	flags.Parse(args)
	if flags.NArg() == 0 || *runs < 1 {
		check(errors.New("it needs programs, NAME=COMMAND, and one run or more"))
	}
	src.each(func(t testTable) {
		codes := inCodes(&t)
		t.head(*delta, *runs)
		for _, e := range strings.Split(*epsilons, ",") {
			for _, program := range flags.Args() {
				name, command, ok := strings.Cut(program, "=")
				if !ok {
					check(fmt.Errorf("%q is not NAME=COMMAND", program))
				}
				words := strings.NewReplacer("{epsilon}", e, "{label}", t.task.Label,
					"{delta}", strconv.FormatFloat(*delta, 'g', -1, 64))
				p := peer{name: name, command: words.Replace(command), limit: *limit, codes: codes}
				p.line(t, e, *runs)
			}
		}
	})
}

// inCodes makes a table's columns categorical, a category for each code, so that every program
// works in the same bins, and is the files that programs read.
func inCodes(t *testTable) map[string][]byte {
	s := &schema.Schema{}
	var domain strings.Builder
	for i, c := range t.train.Schema().Columns {
		size := t.train.Schema().Sizes()[i]
		s.Columns = append(s.Columns, codesColumn(c.Name, size))
		name := must(json.Marshal(c.Name))
		fmt.Fprintf(&domain, ",\n%s: %d", name, size)
	}
	for _, one := range []**table.Table{&t.train, &t.test} {
		var cols []table.Codes
		for i := range s.Columns {
			cols = append(cols, (*one).Column(i))
		}
		coded := must(table.FromColumns(s, cols, nil))
		*one = coded
	}
	var rows bytes.Buffer
	w := must(table.NewWriter(&rows, table.CSV, s, rand.New(rand.NewPCG(1, 0)),
		table.WriterOptions{}))
	check(errors.Join(w.Write(t.train), w.Close()))
	return map[string][]byte{
		"train.csv":   rows.Bytes(),
		"domain.json": []byte("{" + strings.TrimPrefix(domain.String(), ",") + "}\n"),
		"schema.yaml": must(s.YAML()),
	}
}

// peer is a program and what it reads.
type peer struct {
	name, command string
	limit         time.Duration
	codes         map[string][]byte
}

// line runs the program some times and prints the scores, or in a word why there are none.
func (p peer) line(t testTable, epsilon string, runs int) {
	var cells [7][]float64
	memory := int64(0)
	for range runs {
		r, peak, err := p.once(t)
		if err != nil {
			fmt.Printf("%-30s %7s  %v\n", p.name, epsilon, err)
			return
		}
		memory = max(memory, peak)
		for i, x := range r {
			cells[i] = append(cells[i], x)
		}
	}
	t.print(p.name, epsilon, cells, fmt.Sprintf("  %d MB", memory/1_000_000))
}

// once runs the program and scores its table.
func (p peer) once(t testTable) (out [7]float64, peak int64, err error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return out, 0, err
	}
	defer os.RemoveAll(dir)
	for name, text := range p.codes {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return out, 0, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c",
		"exec "+strings.ReplaceAll(p.command, "{dir}", dir))
	start := time.Now()
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, 0, fmt.Errorf("ended after %v", p.limit)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return out, 0, fmt.Errorf("%v: %s", err, lines[len(lines)-1])
	}
	out[5] = time.Since(start).Seconds()
	out[6] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	made, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return out, 0, errors.New("it wrote no out.csv")
	}
	if err != nil {
		return out, 0, err
	}
	syn, err := readStays(made, t.train.Schema())
	if err != nil {
		return out, 0, err
	}
	return out, peakMemory(cmd.ProcessState), t.score(syn, &out)
}
