package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// choice is what a person has chosen on the way, by the names of the flags that say it. It goes
// from step to step in the address: names of files and columns and a budget, all of which are
// public, and never a cell.
type choice map[string]string

// choices are what may be chosen; files are those of them that name files.
var (
	choices = strings.Fields("table more schema header-is-public unit max-rows-per-unit epsilon " +
		"delta target method out out-dir rows model holdout of to order seed batch ledger")
	files = map[string]kind{"table": tables, "more": tables, "train": tables, "holdout": tables,
		"synthetic": outputs, "out": {"output", append(outputs.endings, ".yaml")}, "batch": schemas,
		"out-dir": {"folder", []string{""}}, "schema": schemas,
		"model": models, "report": reports, "ledger": ledgers}
)

// steps are the command lines of the verbs that read or write what was chosen: operands, and flags
// with dashes. What ends in < is a file that is read, what ends in > one that is written. What was
// not chosen is left out. Linked tables are two files with a comma between.
var steps = map[string]string{
	"schema infer": "table< --ledger< --header-is-public --unit --max-rows-per-unit --epsilon " +
		"--delta --out>",
	"plan": "--schema< --epsilon --delta --method --target",
	"generate": "table< more< --ledger< --schema< --link --order --header-is-public --unit " +
		"--max-rows-per-unit --epsilon --delta --method --target --out> --out-dir> --model>",
	"sample":   "model< --rows --seed --out>",
	"batch":    "batch<",
	"verify":   "model< synthetic< folder --rows --seed",
	"evaluate": "--train< --holdout< --synthetic< --schema< --target --report> --json",
}

func choiceOf(form url.Values) choice {
	c := choice{"epsilon": "1"}
	for _, name := range choices {
		if value := strings.TrimSpace(form.Get(name)); value != "" {
			c[name] = value
		}
	}
	if c["of"] != "" {
		c["link"] = c["of"] + "=" + c["to"]
	}
	return c
}

// To is the address of another step with the same choices.
func (c choice) To(path string) string {
	v := url.Values{}
	for name, value := range c {
		v.Set(name, value)
	}
	return path + "?" + v.Encode()
}

// Bought tells whether the schema is bought in the run.
func (c choice) Bought() bool { return c["schema"] == "" }

// Ledger is the file with the account of the table.
func (c choice) Ledger() string { return cmp.Or(c["ledger"], c["table"]+".ledger") }

// command is the command line of a step, and the files that it writes. A value is in one argument
// with its flag, so that it is never taken for a flag.
func (f *folder) command(verb string, c choice) (args, written []string, err error) {
	args = strings.Fields(verb)
	for _, part := range strings.Fields(steps[verb]) {
		flag := strings.TrimRight(part, "<>")
		name := strings.TrimLeft(flag, "-")
		value := c[name]
		switch {
		case name == "out" && c["out-dir"] != "", value == "" && name != "table" && name != "out":
			continue
		case name == "out-dir":
			written = append(written, path.Join(value, path.Base(c["table"])),
				path.Join(value, path.Base(c["more"])))
			fallthrough
		case strings.HasSuffix(part, ">"):
			err = cmp.Or(err, f.place(files[name], value))
			if name != "out-dir" {
				written = append(written, value)
			}
		case strings.HasSuffix(part, "<"):
			for one := range strings.SplitSeq(value, ",") {
				err = cmp.Or(err, f.have(files[name], one))
			}
			if err == nil && name == "batch" {
				_, err = f.batch(value)
			}
		}
		switch {
		case flag == name:
			args = append(args, value)
		case value == "yes":
			args = append(args, flag)
		default:
			args = append(args, flag+"="+value)
		}
	}
	return args, written, err
}

// program is decoy itself, run in the folder.
type program struct {
	path, dir string
	turn      *sync.Mutex // of short verbs, of which one runs, however many a browser asks for
}

// command is one run of the program, which is interrupted when ctx ends, or killed where nothing
// can be interrupted: its journal is complete at every moment, so that it can be resumed all the
// same. DECOY_ variables, which stand for flags, do not reach it: what is run is the command line
// that is shown.
func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = p.dir
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DECOY_")
	})
	apart(cmd)
	return cmd
}

// ask runs a verb that is soon done, and decodes into a value what it prints with --json. Into a
// buffer goes what it prints as it is; nil: that is not looked at. The talk is the lines of its
// standard error. What the browser gives up while it waits for its turn is never begun.
func (p program) ask(ctx context.Context, into any, args ...string) (talk []string, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	raw, ok := into.(*bytes.Buffer)
	if into != nil && !ok {
		args = append(args, "--json")
	}
	cmd := p.command(limited, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	for line := range strings.Lines(errs.String()) {
		if line = said(line); line != "" {
			talk = append(talk, line)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && talk != nil:
		return nil, problem(strings.Join(talk, "\n"))
	case err == nil && ok:
		*raw = out
	case err == nil && into != nil:
		err = json.Unmarshal(out.Bytes(), into)
	}
	return talk, err
}

// said is a line that the program wrote on standard error, for a person at a page: without its name
// before it, without a pointer to --help, and with labels in place of flags.
func said(line string) string {
	line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "decoy: "), "; see 'decoy ")
	return labels.Replace(line)
}

// labels are what a page calls flags.
var labels = strings.NewReplacer("--max-rows-per-unit", "maximum rows per person", "--unit",
	"column that identifies the person", "--epsilon E", "--epsilon E", "--epsilon", "ε",
	"--delta", "δ", "--target COLUMN", "the choice of an outcome", "--target", "outcome")

// shown is the command line as a person would type it.
func shown(args []string) string {
	const plain = "-_./=:,+@%0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	text := "decoy"
	for _, a := range args {
		if a == "" || strings.Trim(a, plain) != "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		text += " " + a
	}
	return text
}
