package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// privateFlags are the flags of the verbs that read private rows.
type privateFlags struct {
	budgetFlags
	input, schema, dataset, ledger string
	resume                         bool
}

func (p *privateFlags) add(cmd *cobra.Command, t *terminal) {
	addForce(cmd, t)
	p.budgetFlags.add(cmd)
	addSchema(cmd, &p.schema, &p.dataset)
	cmd.Flags().StringVar(&p.input, "input", "", "INPUT as a flag, for config files")
	addResume(cmd, &p.resume)
	cmd.Flags().StringVar(&p.ledger, "ledger", "", "ledger `FILE` (default INPUT.ledger; none for "+
		"--dataset)")
}

func addSchema(cmd *cobra.Command, schema, dataset *string) {
	cmd.Flags().StringVar(schema, "schema", "", "schema `FILE` (required without --dataset)")
	cmd.Flags().StringVar(dataset, "dataset", "", "use the embedded example `NAME` (decoy datasets "+
		"list) and its schema")
	complete(cmd, "dataset", datasets.Names()...)
}

// job is a checked run on private rows; nothing of them has been read.
type job struct {
	request
	t      *terminal
	input  string // "" for a data set
	rows   *privacy.Rows
	ledger *ledger.File // nil: the table is a public example, and no account is kept
	shown  *progress
	resume bool

	// Of begin.
	before  *ledger.Ledger
	journal string   // "" for none
	outputs []string // of the run
}

// job checks everything that can be checked without the rows.
func (p *privateFlags) job(cmd *cobra.Command, t *terminal, args []string) (*job, error) {
	r, err := p.request(cmd)
	if err != nil {
		return nil, err
	}
	j := &job{request: r, t: t, shown: t.privateProgress(), resume: p.resume}
	switch {
	case p.input == "":
	case len(args) > 0 && rankOf(cmd, "input") == fromCommandLine:
		return nil, usagef("INPUT %s and --input %s: one table a run", args[0], p.input)
	case len(args) == 0:
		args = []string{p.input}
	}
	switch {
	case p.dataset != "" && len(args) > 0:
		return nil, usagef("INPUT %s and --dataset %s: one table a run", args[0], p.dataset)
	case p.dataset != "" && p.schema != "":
		return nil, usagef("--schema and --dataset: an example has its own schema")
	case p.dataset != "":
		err = j.openDataset(p.dataset)
	case len(args) == 0:
		return nil, usagef("INPUT or --dataset is missing")
	default:
		j.input = args[0]
		if p.schema == "" {
			return nil, noSchema(cmd.Name(), args[0], r.budget)
		}
		err = j.openFile(p.schema)
	}
	if err != nil {
		return nil, err
	}
	if p.ledger == "" && j.input == standard {
		return nil, usagef("--ledger is required when INPUT is standard input: there is no file to " +
			"keep the account beside")
	}
	path, err := ledgerOf(p.ledger, j.input)
	if err != nil {
		return nil, err
	}
	if path != "" {
		j.ledger = ledger.NewFile(path)
	}
	return j, nil
}

func (j *job) openDataset(name string) error {
	d, err := datasets.Get(name)
	if err != nil {
		return err
	}
	t, err := d.Table()
	if errors.Is(err, datasets.ErrNotEmbedded) {
		return fmt.Errorf("%w; get the file, and its schema by 'decoy datasets export %s --schema-out "+
			"SCHEMA.yaml'", err, name)
	}
	if err != nil {
		return err
	}
	j.rows = privacy.FromTable(t)
	return nil
}

func (j *job) openFile(schemaPath string) error {
	if _, err := formatOf("INPUT", j.input); err != nil {
		return err
	}
	if err := readable(j.input); err != nil {
		return err
	}
	s, err := schema.Load(schemaPath)
	if err != nil {
		return err
	}
	j.rows = privacy.File(j.input, s)
	return nil
}

// read lists the files that the run reads.
func (p *privateFlags) read(cmd *cobra.Command, j *job) []place {
	config, _ := cmd.Flags().GetString("config")
	return []place{{"INPUT", j.input}, {"--schema", p.schema}, {"--config", config}}
}

// ledgerPlace is the ledger as a file that is written.
func (j *job) ledgerPlace() place {
	if j.ledger == nil {
		return place{}
	}
	return place{"the ledger", j.ledger.Path()}
}

// fit reserves the budget, reads, fits, and has the verified model delivered: when that has made
// its output durable the run is done.
func (j *job) fit(ctx context.Context, deliver func(*release.Model) error) error {
	_, s, err := synth.Run(ctx, j.rows, j.fitter, synth.RunOptions{
		Budget: j.budget, Adjacency: j.adjacency, Ledger: j.ledger, Tool: tool(),
		Progress: j.shown.report, Forecast: j.shown.expect,
		Journal: j.journal, Resume: j.resume, Outputs: j.outputs,
		Deliver: func(m *release.Model) error {
			j.shown.finish()
			j.tellSpent(m)
			return deliver(m)
		},
	})
	j.shown.finish()
	if err != nil {
		return j.explain(err, s != nil)
	}
	if ignored := s.Report().Ignored; len(ignored) > 0 {
		j.t.say("ignored: the schema does not name %s of the file", columnsText(ignored))
	}
	return nil
}

// voidCharged reports whether a run without a session has been charged all the same, since before.
func (j *job) voidCharged(before *ledger.Ledger) bool {
	if j.ledger == nil {
		return false
	}
	after, err := j.ledger.Read()
	if err != nil {
		return false
	}
	_, was := voids(before)
	_, is := voids(after)
	return is > was
}

// tellSpent says what the model guarantees and what the ledger now holds.
func (j *job) tellSpent(m *release.Model) {
	j.t.say("guarantee: %v", m.Claim)
	j.tellLedger()
}

// tellLedger says what is spent, if there is an account.
func (j *job) tellLedger() {
	if j.ledger == nil {
		return
	}
	l, err := j.ledger.Read()
	if err != nil {
		j.t.say("ledger: %v", err)
		return
	}
	j.t.say("ledger: %s, spent %s", j.ledger.Path(), spentText(l))
}

// spentText is the total of a ledger and its limit.
func spentText(l *ledger.Ledger) string {
	text := budgetText(l.Spent())
	limit, ok := l.Limit()
	if !ok {
		return text + " in all, no limit is set (decoy ledger limit)"
	}
	return fmt.Sprintf("%s of %s", text, limitText(limit))
}

func budgetText(b accountant.Budget) string {
	return fmt.Sprintf("epsilon %s, delta %s", short(b.Epsilon), short(b.Delta))
}

// columnsText lists column numbers.
func columnsText(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("column %d", numbers[0])
	}
	const most = 20
	var out []string
	for i, n := range numbers {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(numbers)-most))
			break
		}
		out = append(out, fmt.Sprint(n))
	}
	return "columns " + strings.Join(out, ", ")
}
