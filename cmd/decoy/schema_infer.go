package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

type schemaInfer struct {
	jobFlags
	public, noHeader       bool
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
		Long: `Write a schema for a private table that nobody has described, from noisy counts alone: what
the cells of each column look like (numbers, dates, texts, missing), how large its numbers are, and
which of its texts are frequent. Nothing else of the rows is used, so the schema may be shown to
anyone. The cost is entered in the ledger beside the data, and adds to that of every later run.

The names of the columns, that is the first line of a CSV file, are taken as public and are part of
the schema: --header-is-public says so, and can only be typed, not set in the environment or a
config file. In a file without a header that line would be a private row: give --no-header and the
names, as --columns a,b,c.

A text is listed as a category if it is in many more rows than the noise; rarer ones become
"(other)". Values beyond the bounds are moved to them. A column in which nothing stands out from
the noise is left out, and a comment in the schema says so.`,
		Args: operands("INPUT"),
	})
	f := cmd.Flags()
	s.addBudget(cmd)
	s.addAccount(cmd, "default INPUT.ledger")
	f.StringVar(&s.Out, "out", "", "schema file `S` to write (required; - is standard output)")
	addForce(cmd, t)
	f.BoolVar(&s.public, "header-is-public", false, "the names of the columns may be shown to anyone")
	f.BoolVar(&s.noHeader, "no-header", false, "the first line of a CSV file is a row")
	f.StringVar(&s.names, "columns", "", "with --no-header: the columns' names `A,B,C`, in order")
	f.StringVar(&s.comma, "comma", ",", "separator `C` of a CSV file")
	f.StringVar(&s.unit, "unit", "", "id column `NAME`: all rows with one id are one privacy unit")
	f.IntVar(&s.maxRows, "max-rows-per-unit", 0, "with --unit: how many rows `K` of a unit are used")
	f.IntVar(&s.maxCategories, "max-categories", 1000, "most categories `N` of a column, the most "+
		"frequent ones")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.run(cmd, t, args[0]) }
	return cmd
}

// check checks the flags; nothing but the header is read.
func (s *schemaInfer) check(cmd *cobra.Command, input string) (*text.Table, *ledger.File, error) {
	fail := func(err error) (*text.Table, *ledger.File, error) { return nil, nil, err }
	if err := s.checkBudget(cmd); err != nil {
		return fail(err)
	}
	if err := need(cmd, "out"); err != nil {
		return fail(err)
	}
	switch {
	case s.Delta == 0:
		return fail(usagef("--delta 0: categories can only be found with delta > 0"))
	case len(s.comma) != 1:
		return fail(usagef("--comma %q must be one byte", s.comma))
	case s.unit == "" && s.maxRows != 0, s.unit != "" && s.maxRows < 1:
		return fail(usagef("--unit and --max-rows-per-unit go together: every noise grows with the " +
			"rows that one unit may have"))
	case s.maxCategories < 1 || s.maxCategories > 60000:
		return fail(usagef("--max-categories %d must be from 1 to 60000", s.maxCategories))
	case s.noHeader && s.names == "":
		return fail(usagef("--no-header needs the names of the columns: --columns a,b,c"))
	case !s.noHeader && s.names != "":
		return fail(usagef("--columns names the columns of a file without a header: it needs " +
			"--no-header"))
	case s.noHeader && s.unit != "" && strings.Split(s.names, ",")[0] != s.unit:
		return fail(usagef("--no-header: columns go by position, and the unit must be the first"))
	case !s.noHeader && !s.public:
		return fail(usagef("the names of the columns become part of the schema: --header-is-public "+
			"says that the first line of %s holds them and "+
			"may be shown to anyone. If that line is a row, give --no-header --columns a,b,c", input))
	case input == job.Standard:
		return fail(usagef("INPUT is standard input: the file is read twice, so it must be one"))
	}
	format, err := job.FormatOf("INPUT", input)
	if err != nil {
		return fail(err)
	}
	if s.noHeader && format == table.Parquet {
		return fail(usagef("--no-header: a Parquet file has names"))
	}
	if err := job.Readable(input); err != nil {
		return fail(err)
	}
	names := strings.Split(s.names, ",")
	if !s.noHeader {
		if names, err = table.Header(input, s.comma[0]); err != nil {
			return fail(err)
		}
		if len(names) == 1 && format == table.CSV && !cmd.Flags().Changed("comma") {
			// it would buy one column of texts that no two rows share
			if i := strings.IndexAny(names[0], ";\t|"); i >= 0 {
				return fail(usagef("the header of %s is one name with %q in it: if that is the separator, "+
					"give it as --comma, else give --comma ,", input, names[0][i]))
			}
		}
	}
	text, err := text.File(input, text.Options{Names: names, CSV: s.csv(), Unit: s.unit,
		MaxRowsPerUnit: s.maxRows})
	if err != nil {
		return fail(err)
	}
	ledger, err := job.LedgerOf(s.Ledger, input)
	if err != nil {
		return fail(err)
	}
	return text, ledger, job.Distinct(
		[]job.NamedPath{job.At("--out", s.Out), job.At("the ledger", ledger.Path())},
		[]job.NamedPath{job.At("INPUT", input)})
}

func (s *schemaInfer) csv() schema.CSV {
	return schema.CSV{NoHeader: s.noHeader, Comma: s.comma[0]}
}

func (s *schemaInfer) run(cmd *cobra.Command, t *terminal, input string) error {
	text, ledger, err := s.check(cmd, input)
	if err != nil {
		return err
	}
	account := s.account(t, ledger, input)
	if err := account.Begin("schema infer", s.Out); err != nil {
		return err
	}
	file, err := t.create("--out", s.Out, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer file.Abort()
	shown := t.privateProgress()
	r, session, err := infer.Run(cmd.Context(), text, infer.Options{
		Options: account.Options(s.Job), CSV: s.csv(),
		MaxCategories: s.maxCategories, Progress: shown.of("measuring columns"),
		Deliver: func(r *infer.Result) error {
			sayBought(t, r)
			account.SayTotal()
			yaml, err := r.YAML()
			if err != nil {
				return err
			}
			if _, err = file.Write(yaml); err != nil {
				return err
			}
			return file.Commit()
		},
	})
	switch {
	case errors.Is(err, infer.ErrNothing):
		t.say("the budget of this run stays spent")
		return fmt.Errorf("%w; a schema can be written by hand (decoy help schema)", err)
	case err != nil:
		return account.Explain(err, session != nil)
	case file.file != nil:
		t.say("wrote %s: %s. Read it, then: decoy generate %s --schema %s --epsilon E --out OUT.csv",
			s.Out, sizeText(len(r.Schema().Columns), cells(r.Schema())), input, s.Out)
	}
	return nil
}

// sayBought says what a schema guarantees, and what is not in it.
func sayBought(t *terminal, r *infer.Result) {
	t.say("guarantee: the schema is (ε = %v, δ = %v)-differentially private, %v", r.Budget.Epsilon,
		r.Budget.Delta, r.Neighbours)
	var left []string
	for _, column := range r.Columns {
		if column.Found == nil {
			left = append(left, fmt.Sprintf("%q", column.Name))
		}
	}
	if len(left) > 0 {
		t.say("left out: %s (see the comments in the schema)", strings.Join(left, ", "))
	}
}
