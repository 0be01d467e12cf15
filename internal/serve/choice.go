package serve

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// choice is what a person has chosen on the way, by the names of the flags that say it. It goes
// from step to step in the address: names of files and columns and a budget, all of which are
// public, and never a cell.
type choice map[string]string

// choices are what may be chosen; files are those of them that name files.
var (
	choices = strings.Fields("table schema header-is-public unit max-rows-per-unit epsilon delta " +
		"target method out rows model file from holdout resume")
	files = map[string]kind{"table": tables, "train": tables, "holdout": tables,
		"synthetic": outputs, "out": outputs, "schema": schemas, "model": models,
		"file": descriptions, "report": reports}
)

// steps are the command lines of the verbs that read or write what was chosen: operands, and flags
// with dashes. What ends in < is a file that is read, what ends in > one that is written. Flags of
// which nothing was chosen are left out.
var steps = map[string]string{
	"plan": "--schema< --epsilon --delta --method --target",
	"generate": "table< --schema< --header-is-public --unit --max-rows-per-unit --epsilon --delta " +
		"--method --target --out> --model> --resume",
	"sample":        "model< --rows --out>",
	"evaluate":      "--train< --holdout< --synthetic< --schema< --target --report>",
	"schema import": "file< --from --out",
}

func choiceOf(form url.Values) choice {
	c := choice{"epsilon": "1"}
	for _, name := range choices {
		if value := strings.TrimSpace(form.Get(name)); value != "" {
			c[name] = value
		}
	}
	if !c.Bought() { // the schema says the rest
		for _, name := range []string{"header-is-public", "unit", "max-rows-per-unit"} {
			delete(c, name)
		}
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

// command is the command line of a step, and the files that it writes. A value is in one argument
// with its flag, so that it is never taken for a flag.
func (f *folder) command(verb string, c choice) (args, written []string, err error) {
	args = strings.Fields(verb)
	place := f.fresh
	if c["resume"] != "" {
		place = f.place
	}
	for _, part := range strings.Fields(steps[verb]) {
		flag := strings.TrimRight(part, "<>")
		name := strings.TrimLeft(flag, "-")
		value, optional := c[name], flag != name && !strings.HasSuffix(part, ">")
		switch {
		case value == "" && optional:
			continue
		case strings.HasSuffix(part, "<"):
			err = cmp.Or(err, f.have(files[name], value))
		case strings.HasSuffix(part, ">"):
			err = cmp.Or(err, place(files[name], value))
			written = append(written, value)
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

// reads checks the table and the schema that a plan is for, or that one may be bought.
func (f *folder) reads(c choice) error {
	err := f.have(tables, c["table"])
	switch {
	case err != nil:
		return err
	case !c.Bought():
		return f.have(schemas, c["schema"])
	case c["header-is-public"] == "":
		return problemf("Without a schema, say first that the names of the columns may be shown.")
	}
	return nil
}

// budget checks what may be spent, and tells what is to be said of it: of ε for a run whose schema
// is bought, as the command line says it, since there is no plan that would; and of δ, which the
// command line holds against the noisy number of rows, when it is spent.
func (c choice) budget() (warnings []string, err error) {
	const largeDelta = 1e-6
	j := configs.Job{}.WithDefaults()
	for name, figure := range map[string]*float64{"epsilon": &j.Epsilon, "delta": &j.Delta} {
		if text := c[name]; text != "" {
			if *figure, err = strconv.ParseFloat(text, 64); err != nil {
				return nil, problemf("%s: %q is not a number", name, text)
			}
		}
	}
	if err := j.CheckBudget(); err != nil {
		return nil, problem(spelling.Plain(err))
	}
	if weak := configs.Weakness(j.Epsilon); c.Bought() && weak != "" {
		warnings = append(warnings, weak)
	}
	if j.Delta > largeDelta {
		warnings = append(warnings, fmt.Sprintf("delta %v is large: in a table of %s rows or more, "+
			"showing the row of one person at random would be within the guarantee; take 1e-9", j.Delta,
			short(math.Ceil(1/j.Delta))))
	}
	return warnings, nil
}
