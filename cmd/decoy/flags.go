package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/synth"
)

// jobFlags are the flags that fill a job. A verb adds those that it needs.
type jobFlags struct {
	configs.Job
	resume bool
	set    settings
}

// newJob are the flags of a job, with their defaults.
func newJob() jobFlags {
	return jobFlags{Job: configs.Job{Delta: configs.DefaultDelta}.WithDefaults()}
}

// flags are all of them: a verb has those that its manual names.
func (j *jobFlags) flags() flags {
	out := flags{"epsilon": &j.Epsilon, "delta": &j.Delta, "adjacency": &j.Adjacency,
		"method": &j.Method, "set": &j.set, "schema": &j.Schema, "dataset": &j.Dataset,
		"ledger": &j.Ledger, "resume": &j.resume, "rows": &j.Rows, "seed": &j.Seed,
		"spreadsheet-safe": &j.SpreadsheetSafe, "out": &j.Out, "out-dir": &j.OutDir,
		"input": &j.Input, "model": &j.Model,
		"header-is-public": &j.HeaderIsPublic, "unit": &j.Unit,
		"encoding": &j.Encoding, "header-line": &j.HeaderLine, "sheet": &j.Sheet,
		"max-rows-per-unit": &j.MaxRowsPerUnit, "link": &j.Links, "order": &j.Orders}
	for _, name := range shorthand {
		out[name] = new(string)
	}
	return out
}

// checkBudget validates --epsilon, --delta and --adjacency.
func (j *jobFlags) checkBudget() error { return flagged(j.CheckBudget()) }

// method is the method with its settings; the budget is valid too.
func (j *jobFlags) method(cmd *cobra.Command) (synth.Fitter, error) {
	var err error
	if j.Settings, err = j.set.of(cmd); err != nil {
		return nil, err
	}
	f, err := j.Fitter()
	if err != nil {
		return nil, j.ofMethod(err)
	}
	return f, j.checkBudget()
}

// ofMethod is an error of the method or its settings.
func (j *jobFlags) ofMethod(err error) error {
	if !slices.Contains(synth.Choices(), j.Method) {
		return usagef("--method: %w", err)
	}
	return &configs.UsageError{Err: err}
}

// check checks everything of a run on these operands that can be checked without the rows.
func (j *jobFlags) check(cmd *cobra.Command, args []string) (task *configs.Task, err error) {
	if len(args) > 0 {
		j.Input, j.Inputs = args[0], args
	}
	if j.Settings, err = j.set.of(cmd); err != nil {
		return nil, err
	}
	task, err = configs.Check(j.Job)
	wrong := (*configs.ValueError)(nil)
	switch {
	case errors.As(err, &wrong):
		name := strings.ReplaceAll(wrong.Key, "_", "-")
		err = usagef("--%s %s", name, wrong.Problem)
		if place := placeOf(cmd.Flag(name)); !strings.HasPrefix("--"+name, place) {
			err = usagef("%s: %w", place, err)
		}
	case errors.Is(err, synth.ErrConfig):
		err = j.ofMethod(err)
	}
	return task, err
}

// sayWeak tells of a guarantee that is weak, before the run.
func (j *jobFlags) sayWeak(t *terminal) {
	if j.Epsilon > 10 {
		t.say("epsilon %v is above 10: such a guarantee is weak; what anyone believes of a person may "+
			"change by a factor of e^%v", j.Epsilon, j.Epsilon)
	}
}

// sayDelta tells off a δ at which a release that shows a whole row would be within the guarantee.
func (j *jobFlags) sayDelta(t *terminal, rows float64) {
	if j.Delta*rows >= 1 {
		t.say("delta %v is not below 1 in %.0f, the noisy number of rows: at such a delta showing the "+
			"row of one person at random would be within the guarantee; take 1e-9", j.Delta, rows)
	}
}

// private names the private table at path, which messages call name, and the ledger that pays for
// a run on it. It checks that the table can be read, and reads nothing of it.
func (j *jobFlags) private(
	cmd *cobra.Command, name, path string,
) (*privacy.Rows, *ledger.File, error) {
	return j.counted(cmd, name, path, nil, j.described)
}

// described is the schema of --schema.
func (j *jobFlags) described() (*schema.Schema, error) { return configs.LoadSchema(j.Schema) }

// counted is private of a table that may also lie elsewhere, of which what ask says is counted
// there; nil: it must be a file. of is its schema.
func (j *jobFlags) counted(
	cmd *cobra.Command, name, path string,
	ask func(*schema.Schema) (sets [][]int, upTo []int, err error), of func() (*schema.Schema, error),
) (rows *privacy.Rows, l *ledger.File, err error) {
	elsewhere := false
	if ask != nil {
		elsewhere, err = configs.Counter(path, j.Ledger, true)
	}
	if !elsewhere {
		err = checkTable(name, path)
	}
	var s *schema.Schema
	if err == nil {
		s, err = of()
	}
	if err == nil {
		l, err = configs.LedgerOf(j.Ledger, path)
	}
	if err == nil {
		err = apart(cmd, l)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case !elsewhere:
		return privacy.File(path, s), l, nil
	}
	sets, upTo, err := ask(s)
	if err == nil {
		rows, err = configs.CountedRows(cmd.Context(), path, s, sets, upTo)
	}
	return rows, l, err
}

// account is what a run on input pays from.
func (j *jobFlags) account(t *terminal, ledger *ledger.File, input string) *configs.Account {
	return &configs.Account{Ledger: ledger, Inputs: []string{input}, Named: j.Ledger != "",
		Resume: j.resume, Tool: tool(), Stdout: t.stdout, Say: t.say}
}

// flagged names the flag of a wrong value of a job.
func flagged(err error) error {
	if wrong := (*configs.ValueError)(nil); errors.As(err, &wrong) {
		return usagef("--%s %s", wrong.Key, wrong.Problem)
	}
	return err
}

// configPath is the config file, as a file that the run reads.
func configPath(cmd *cobra.Command) configs.NamedPath {
	path, _ := cmd.Flags().GetString("config")
	return configs.NamedPath{Name: "--config", Path: path}
}

// filesOf are the files that a command line names, as the manual has them.
func filesOf(cmd *cobra.Command) (written, read []configs.NamedPath) {
	flags := func(key string) (out []configs.NamedPath) {
		for _, name := range strings.Fields(cmd.Annotations[key]) {
			f := cmd.Flag(name)
			paths := []string{f.Value.String()}
			if several, ok := f.Value.(pflag.SliceValue); ok {
				paths = several.GetSlice()
			}
			for _, path := range paths {
				out = append(out, configs.NamedPath{Name: "--" + name, Path: path})
			}
		}
		return out
	}
	written, read = flags(writesKey), append(flags(readsKey), configPath(cmd))
	if names := strings.Fields(cmd.Annotations[inputsKey]); len(names) > 0 {
		for i, path := range cmd.Flags().Args() {
			read = append(read, configs.NamedPath{Name: names[min(i, len(names)-1)], Path: path})
		}
	}
	return written, read
}

// apart refuses a ledger that the command line names for something else, too.
func apart(cmd *cobra.Command, l *ledger.File) error {
	written, read := filesOf(cmd)
	return configs.Distinct([]configs.NamedPath{{Name: "the ledger", Path: l.Path()}},
		append(written, read...))
}

// create starts the output that a flag names; nil if it names none.
func (t *terminal) create(flag, path string, perm fs.FileMode) (*configs.Target, error) {
	if path == "" {
		return nil, nil
	}
	o, err := configs.Create(flag, path, t.stdout, perm, t.force)
	t.begun = append(t.begun, o)
	return o, err
}

// deliver completes an output with what to writes, and says so; nothing for one that is nil.
func (t *terminal) deliver(o *configs.Target, note string, to func(io.Writer) error) error {
	err := o.Complete(to)
	if err == nil && o.IsFile() {
		t.say("wrote %s%s", o.Name(), note)
	}
	return err
}

// write makes an output of what to writes.
func (t *terminal) write(flag, path string, perm fs.FileMode, to func(io.Writer) error) error {
	o, err := t.create(flag, path, perm)
	if err != nil {
		return err
	}
	return t.deliver(o, "", to)
}

// bytesOf writes a text.
func bytesOf(text []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(text); return err }
}

// checkPrivate checks the budget of a verb that buys one result, whose noise is Gaussian.
func (j *jobFlags) checkPrivate() error {
	if err := j.checkBudget(); err != nil {
		return err
	}
	if j.Delta == 0 {
		return usagef("--delta 0: the noise is Gaussian, which needs delta > 0")
	}
	return nil
}

// paid is a run under way that buys one result from a private table.
type paid struct {
	*configs.Account
	t     *terminal
	file  *configs.Target // of the result; nil if it is printed
	shown *progress
}

// pay begins a run of a verb on input. Its result goes to the file out, which flag names, or else
// to standard output.
func (j *jobFlags) pay(
	t *terminal, l *ledger.File, verb, input, flag, out string,
) (*paid, error) {
	p := &paid{Account: j.account(t, l, input), t: t, shown: t.privateProgress()}
	err := p.Begin(verb, configs.NamedPath{Name: flag, Path: cmp.Or(out, configs.Standard)})
	if err != nil {
		return nil, err
	}
	if out != "" {
		p.file, err = p.Create(flag, out, t.force)
		t.begun = append(t.begun, p.file)
	}
	return p, err
}

// got says what the result guarantees, and what the ledger holds now.
func (p *paid) got(format string, args ...any) {
	p.t.say("guarantee: "+format, args...)
	p.SayTotal()
}

// end is the end of the run: of one that failed, what became of its budget.
func (p *paid) end(s *privacy.Session, err error) error {
	if err != nil {
		return p.Explain(err, s != nil)
	}
	p.t.sayIgnored("", s.Report().Ignored)
	return nil
}

// readFile parses a file, which errors name.
func readFile[T any](path string, parse func(io.Reader) (T, error)) (out T, err error) {
	if err := configs.Readable(path); err != nil {
		return out, err
	}
	f, err := os.Open(path)
	if err != nil {
		return out, configs.Bare(path, err)
	}
	defer f.Close()
	if out, err = parse(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}
