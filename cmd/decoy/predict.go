package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/train"
)

func predictCommand(t *terminal) *cobra.Command {
	out := ""
	cmd := manual{
		operands: "MODEL.json  classifier of decoy train\n" +
			"TABLE       rows to predict, .csv or .parquet; - is CSV on standard input",
		exits: []int{exitData},
		session: `
$ decoy datasets export icu-mortality --out icu.csv --schema-out icu.yaml
$ decoy train icu.csv --schema icu.yaml --target mortality --epsilon 1 --out icu.json
$ decoy predict icu.json icu.csv --out probabilities.csv
`}.document(&cobra.Command{
		Use:   "predict MODEL.json TABLE --out P.csv",
		Short: "apply a classifier to rows; costs nothing",
		Long: `Write the probability of each class for each row of a table: one column a class, one line a
row, in the order of the rows. It costs no budget: the classifier is already private, and the rows
are yours. What is written is about these rows, and as secret as they are.

TABLE needs the columns that the classifier predicts from, as the schema in it describes them, and
not the target.`,
		Args: operands("MODEL.json", "TABLE"),
	})
	cmd.Flags().StringVar(&out, "out", "", "table of probabilities `P.csv` to write (required; - is "+
		"standard output)")
	addForce(cmd, t)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := need(cmd, "out"); err != nil {
			return err
		}
		return predict(cmd, t, args[0], args[1], out)
	}
	return cmd
}

func predict(cmd *cobra.Command, t *terminal, model, input, out string) error {
	if err := job.Distinct([]job.NamedPath{job.At("--out", out)},
		[]job.NamedPath{job.At("MODEL.json", model), job.At("TABLE", input)}); err != nil {
		return err
	}
	if _, err := job.FormatOf("TABLE", input); err != nil {
		return err
	}
	if err := job.Readable(model); err != nil {
		return err
	}
	c, err := openClassifier(model)
	if err != nil {
		return err
	}
	s, err := c.Schema()
	if err != nil {
		return err
	}
	shown := t.progress()
	rows, ignored, err := table.Read(cmd.Context(), input, s,
		table.ReadOptions{Progress: shown.of("reading")})
	shown.finish()
	if err != nil {
		return fmt.Errorf("TABLE: %w", job.Bare(input, err))
	}
	if len(ignored.Ignored) > 0 {
		t.say("not looked at: %s (the target %q is none of those that it predicts from)",
			columnNumbers(ignored.Ignored), c.Target)
	}
	file, err := t.create("--out", out, unprotectedMode)
	if err != nil {
		return err
	}
	defer file.Abort()
	return t.deliver(file, "", func(w io.Writer) error { return writeProbabilities(w, c, rows) })
}

// writeProbabilities writes a line for each row, below one of the classes.
func writeProbabilities(w io.Writer, c *train.Classifier, rows *table.Table) error {
	p, err := c.Probabilities(rows)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	err = out.Write(c.Classes)
	line := make([]string, len(c.Classes))
	for _, row := range p {
		for k, x := range row {
			line[k] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		err = errors.Join(err, out.Write(line))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}
