package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

type schemaInfer struct {
	epsilon, delta         float64
	adjacency, ledger, out string
	public, noHeader       bool
	resume                 bool
	names                  string // of the columns, with commas between
	comma, unit            string
	maxRows, maxCategories int
}

func schemaInferCommand(t *terminal) *cobra.Command {
	s := &schemaInfer{}
	cmd := manual{
		operands: "INPUT  private table, .csv or .parquet",
		exits:    []int{exitBudget, exitLocked, exitData},
		session: `
$ decoy datasets export icu-mortality --out patients.csv
$ decoy schema infer patients.csv --epsilon 1 --header-is-public --out patients.yaml
$ decoy generate patients.csv --schema patients.yaml --epsilon 1 --out synthetic.csv
`}.document(&cobra.Command{
		Use:   "infer INPUT --epsilon E --header-is-public --out S [flags]",
		Short: "buy a schema of a private table with budget",
		Long: `Write a schema for a private table that nobody has described, from noisy counts alone: what the cells of each column look like
(numbers, dates, texts, missing), how large its numbers are, and which of its texts are frequent. Nothing else of the rows is
used, so the schema may be shown to anyone. The cost is entered in the ledger beside the data, and adds to that of every later run.

The names of the columns, that is the first line of a CSV file, are taken as public and are part of the schema: --header-is-public
says so, and can only be typed, not set in the environment or a config file. In a file without a header that line would be a private
row: give --no-header and the names, as --columns a,b,c.

A text is listed as a category if it is in many more rows than the noise; rarer ones become "(other)". Values beyond the bounds are
moved to them. A column of which nothing stands out of the noise is left out, and a comment in the schema says so.`,
		Args: operands("INPUT"),
	})
	f := cmd.Flags()
	f.Float64Var(&s.epsilon, "epsilon", 0, "privacy budget `E` of the schema (required, > 0)")
	f.Float64Var(&s.delta, "delta", defaultDelta, fmt.Sprintf("probability `D` in the guarantee, "+
		"above 0 and up to %v", accountant.MaxDelta))
	addAdjacency(cmd, &s.adjacency)
	f.StringVar(&s.ledger, "ledger", "", "ledger `FILE` (default INPUT.ledger)")
	f.StringVar(&s.out, "out", "", "schema file `S` to write (required; - is standard output)")
	addForce(cmd, t)
	f.BoolVar(&s.public, "header-is-public", false, "the names of the columns may be shown to anyone")
	f.BoolVar(&s.noHeader, "no-header", false, "the first line of a CSV file is a row")
	f.StringVar(&s.names, "columns", "", "with --no-header: the names `A,B,C` of the columns, in order")
	f.StringVar(&s.comma, "comma", ",", "separator `C` of a CSV file")
	f.StringVar(&s.unit, "unit", "", "id column `NAME`: all rows with one id are one privacy unit")
	f.IntVar(&s.maxRows, "max-rows-per-unit", 0, "with --unit: how many rows `K` of a unit are used")
	f.IntVar(&s.maxCategories, "max-categories", 1000, "most categories `N` of a column, the most "+
		"frequent ones")
	addResume(cmd, &s.resume)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.run(cmd, t, args[0]) }
	return cmd
}

// checked is a run whose flags are right; nothing but the header has been read.
type checked struct {
	text    *privacy.Text
	options infer.Options
	ledger  string
}

func (s *schemaInfer) check(cmd *cobra.Command, t *terminal, input string) (*checked, error) {
	budget, err := budgetOf(cmd, s.epsilon, s.delta)
	if err != nil {
		return nil, err
	}
	if err := need(cmd, "out"); err != nil {
		return nil, err
	}
	adjacency, err := parseAdjacency(s.adjacency)
	if err != nil {
		return nil, err
	}
	switch {
	case budget.Delta == 0:
		return nil, usagef("--delta 0: categories can only be found with delta > 0")
	case len(s.comma) != 1:
		return nil, usagef("--comma %q must be one byte", s.comma)
	case s.unit == "" && s.maxRows != 0, s.unit != "" && s.maxRows < 1:
		return nil, usagef("--unit and --max-rows-per-unit go together: every noise grows with the " +
			"rows that one unit may have")
	case s.maxCategories < 1 || s.maxCategories > 60000:
		return nil, usagef("--max-categories %d must be from 1 to 60000", s.maxCategories)
	case s.noHeader && s.names == "":
		return nil, usagef("--no-header needs the names of the columns: --columns a,b,c")
	case !s.noHeader && s.names != "":
		return nil, usagef("--columns names the columns of a file without a header: it needs --no-header")
	case s.noHeader && s.unit != "" && strings.Split(s.names, ",")[0] != s.unit:
		return nil, usagef("--no-header: columns go by position, and the unit has to be the first of them")
	case !s.noHeader && !s.public:
		return nil, usagef("the names of the columns become part of the schema: --header-is-public "+
			"says that the first line of %s holds them and "+
			"may be shown to anyone. If that line is a row, give --no-header --columns a,b,c", input)
	case input == standard:
		return nil, usagef("INPUT is standard input: the file is read twice, so it must be one")
	}
	format, err := formatOf("INPUT", input)
	if err != nil {
		return nil, err
	}
	if s.noHeader && format == table.Parquet {
		return nil, usagef("--no-header: a Parquet file has names")
	}
	if err := readable(input); err != nil {
		return nil, err
	}
	names := strings.Split(s.names, ",")
	if !s.noHeader {
		if names, err = table.Header(input, s.comma[0]); err != nil {
			return nil, err
		}
		if len(names) == 1 && format == table.CSV && !cmd.Flags().Changed("comma") {
			// it would buy one column of texts that no two rows share
			if i := strings.IndexAny(names[0], ";\t|"); i >= 0 {
				return nil, usagef("the header of %s is one name with %q in it: if that is the separator, "+
					"give it as --comma, else give --comma ,", input, names[0][i])
			}
		}
	}
	csv := schema.CSV{NoHeader: s.noHeader, Comma: s.comma[0]}
	text, err := privacy.TextFile(input, privacy.TextOptions{Names: names, CSV: csv, Unit: s.unit,
		MaxRowsPerUnit: s.maxRows})
	if err != nil {
		return nil, err
	}
	path, err := ledgerOf(s.ledger, input)
	if err != nil {
		return nil, err
	}
	shown := t.privateProgress()
	c := &checked{text: text, ledger: path}
	c.options = infer.Options{
		Budget: budget, Adjacency: adjacency, Ledger: ledger.NewFile(c.ledger), Tool: tool(),
		CSV: csv, MaxCategories: s.maxCategories,
		Progress: func(done float64) { shown.report("measuring columns", done) },
	}
	return c, distinct([]place{{"--out", s.out}, {"the ledger", c.ledger}}, []place{{"INPUT", input}})
}

func (s *schemaInfer) run(cmd *cobra.Command, t *terminal, input string) error {
	c, err := s.check(cmd, t, input)
	if err != nil {
		return err
	}
	j := &job{t: t, input: input, ledger: c.options.Ledger, resume: s.resume}
	if err := j.begin("schema infer", s.out); err != nil {
		return err
	}
	var file *atomicfile.File
	if s.out != standard {
		if file, err = t.create("--out", s.out, releaseMode); err != nil {
			return err
		}
		defer file.Abort()
	}
	c.options.Journal, c.options.Resume, c.options.Outputs = j.journal, s.resume, j.outputs
	c.options.Deliver = func(r *infer.Result) error {
		tellBought(j, r)
		yaml, err := r.YAML()
		if err != nil {
			return err
		}
		if file == nil {
			_, err := t.stdout.Write(yaml)
			return err
		}
		if _, err = file.Write(yaml); err != nil {
			return err
		}
		return file.Commit()
	}
	r, session, err := infer.Run(cmd.Context(), c.text, c.options)
	switch {
	case errors.Is(err, infer.ErrNothing):
		t.say("the budget of this run stays spent")
		return fmt.Errorf("%w; a schema can be written by hand (docs/schema.md)", err)
	case err != nil:
		return j.explain(err, session != nil)
	case file != nil:
		t.say("wrote %s: %s. Read it, then: decoy generate %s --schema %s --epsilon E --out OUT.csv",
			s.out, sizeText(len(r.Schema().Columns), cells(r.Schema())), input, s.out)
	}
	return nil
}

// tellBought says what a schema guarantees, and what is not in it.
func tellBought(j *job, r *infer.Result) {
	j.t.say("guarantee: the schema is (ε = %v, δ = %v)-differentially private, %v", r.Budget.Epsilon,
		r.Budget.Delta, r.Neighbours)
	var left []string
	for _, column := range r.Columns {
		if column.Found == nil {
			left = append(left, fmt.Sprintf("%q", column.Name))
		}
	}
	if len(left) > 0 {
		j.t.say("left out: %s (see the comments in the schema)", strings.Join(left, ", "))
	}
	j.tellLedger()
}
