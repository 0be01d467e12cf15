package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/publish"
	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/release"
)

// publish buys an evaluation through the gate and charges the ledger of the private table.
func (e *evaluate) publish(cmd *cobra.Command, t *terminal) error {
	j, err := e.publishJob(cmd, t)
	if err != nil {
		return err
	}
	if err := j.begin("evaluate", cmp.Or(e.json, standard)); err != nil {
		return err
	}
	var file *atomicfile.File
	if e.json != "" && e.json != standard {
		if file, err = t.create("--json", e.json, releaseMode); err != nil {
			return err
		}
		defer file.Abort()
	}
	synthetic, err := e.readSynthetic(cmd.Context(), t, j.shown, j.rows.Schema())
	if err != nil {
		return err
	}
	o := publish.Options{Target: e.options.Target, Positive: e.options.Positive, Drop: e.options.Drop,
		Seed: e.options.Seed}
	_, s, err := publish.Run(cmd.Context(), j.rows, synthetic, o, publish.RunOptions{
		Budget: j.budget, Adjacency: j.adjacency, Ledger: j.ledger, Tool: tool(),
		Progress: j.shown.report, Journal: j.journal, Resume: j.resume, Outputs: j.outputs,
		Deliver: func(r *publish.Result) error {
			j.shown.finish()
			t.say("guarantee: %v", claimOf(r))
			j.tellLedger()
			switch {
			case file != nil:
				if err := r.JSON(file); err != nil {
					return err
				}
				return file.Commit()
			case e.json == standard:
				return r.JSON(t.stdout)
			}
			return printEstimates(t, r)
		}})
	j.shown.finish()
	switch {
	case errors.Is(err, eval.ErrColumn):
		return &usageError{err}
	case err != nil:
		return j.explain(err, s != nil)
	}
	if ignored := s.Report().Ignored; len(ignored) > 0 {
		t.say("ignored: the schema does not name %s of the file", columnsText(ignored))
	}
	if file != nil {
		t.say("wrote %s, which may be published", e.json)
	}
	return nil
}

// publishJob checks everything that can be checked without rows.
func (e *evaluate) publishJob(cmd *cobra.Command, t *terminal) (*job, error) {
	name, input := "--holdout", e.holdout
	switch {
	case e.train != "" && e.holdout != "":
		return nil, usagef("with --epsilon one private table is asked: --holdout (better: rows that " +
			"the synthesizer did not see) or --train, not both")
	case e.holdout == "" && e.train == "":
		return nil, usagef("--holdout or --train is required")
	case e.holdout == "":
		name, input = "--train", e.train
	}
	if e.html != "" || e.quasi != "" {
		return nil, usagef("--report and --quasi are not private; with --epsilon there are numbers " +
			"only (--json)")
	}
	if err := need(cmd, "synthetic", "schema"); err != nil {
		return nil, err
	}
	budget, err := budgetOf(cmd, e.epsilon, e.delta)
	if err != nil {
		return nil, err
	}
	adjacency, err := parseAdjacency(e.adjacency)
	if err != nil {
		return nil, err
	}
	j := &job{t: t, shown: t.privateProgress(), input: input, resume: e.resume}
	j.budget, j.adjacency = budget, adjacency
	if err := j.openFile(e.schema); err != nil {
		return nil, err
	}
	if e.ledger == "" && input == standard {
		return nil, usagef("--ledger is required when %s is standard input: there is no file to keep "+
			"the account beside", name)
	}
	if input == standard && e.synthetic == standard {
		return nil, usagef("only one table can come from standard input")
	}
	path, err := ledgerOf(e.ledger, input)
	if err != nil {
		return nil, err
	}
	j.ledger = ledger.NewFile(path)
	config, _ := cmd.Flags().GetString("config")
	read := []place{{name, input}, {"--synthetic", e.synthetic}, {"--schema", e.schema},
		{"--config", config}}
	if err := distinct([]place{{"--json", e.json}, j.ledgerPlace()}, read); err != nil {
		return nil, err
	}
	if _, err := formatOf("--synthetic", e.synthetic); err != nil {
		return nil, err
	}
	if e.options.Drop, err = list("--drop", e.drop); err != nil {
		return nil, err
	}
	return j, readable(e.synthetic)
}

func claimOf(r *publish.Result) release.Claim {
	return release.Claim{Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Adjacency: r.Adjacency,
		Unit: r.Unit, MaxRowsPerUnit: r.MaxRowsPerUnit}
}

// printEstimates writes what was bought to standard output.
func printEstimates(t *terminal, r *publish.Result) error {
	fmt.Fprintf(t.stdout, "publishable: %v\n\n", claimOf(r))
	w := t.table()
	fmt.Fprintf(w, "metric\tvalue\tstandard error\tof\n")
	for _, e := range r.Estimates {
		if e.LeftOut != "" {
			fmt.Fprintf(w, "%s\t–\t\t%s: %s\n", e.Name, e.Of, e.LeftOut)
			continue
		}
		of := e.Of
		if e.Name == "RareClassRate" || e.Name == "AUROC" {
			of = fmt.Sprintf("%s = %s, %s", r.Target, r.Positive, e.Of)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2g\t%s\n", e.Name, short(e.Value), e.StdErr,
			strings.ToValidUTF8(of, "?"))
	}
	return w.Flush()
}

// maxPublished bounds a published evaluation, in bytes: some kilobytes, and most of it is its
// ledger.
const maxPublished = 16 << 20

// verifyPublished verifies a published evaluation; ErrFormat of package publish says that the file
// is none.
func verifyPublished(t *terminal, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return bare(path, err)
	}
	defer f.Close()
	r, err := publish.Read(io.LimitReader(bufio.NewReader(f), maxPublished))
	if err != nil {
		return err
	}
	bound, err := r.Verify()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w := t.table()
	fmt.Fprintf(w, "ok\tthe claim holds: %v\n", claimOf(r))
	fmt.Fprintf(w, "reserved\tepsilon %s at delta %s by %s\n", short(bound.Epsilon),
		short(r.Budget.Delta), bound.Method)
	charges := 0
	for _, entry := range r.Ledger {
		if entry.Kind == ledger.EntryCharge {
			charges += entry.Event.Count
		}
	}
	fmt.Fprintf(w, "charged\t%s\n", plural(charges, "mechanism call", "mechanism calls"))
	fmt.Fprintf(w, "not checked\tthat the program which wrote the file ran the mechanisms it logged\n")
	return w.Flush()
}
