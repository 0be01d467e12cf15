package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/stats"
)

func predictCommand(t *terminal) *cobra.Command {
	out := ""
	return t.verb("predict", func(cmd *cobra.Command, t *terminal, args []string) error {
		return predict(cmd, t, args[0], args[1], out)
	}, flags{"out": &out})
}

func predict(cmd *cobra.Command, t *terminal, model, input, out string) error {
	if filepath.Ext(input) == ".json" && filepath.Ext(model) != ".json" {
		return usagef("the classifier comes first and the table second: decoy predict %s %s", input,
			model)
	}
	if _, err := configs.FormatOf("TABLE", input); err != nil {
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
	rows, ignored, err := table.Read(cmd.Context(), input, s,
		table.ReadOptions{})
	if err != nil {
		return fmt.Errorf("TABLE: %w", configs.Bare(input, err))
	}
	if len(ignored.Ignored) > 0 {
		t.say("not looked at: %s (the target %q is none of those that it predicts from)",
			columnNumbers(ignored.Ignored), c.Target)
	}
	return t.write("--out", out, unprotectedMode, func(w io.Writer) error {
		return writeProbabilities(w, c, rows)
	})
}

// writeProbabilities writes a line for each row, below one of the classes.
func writeProbabilities(w io.Writer, c *stats.Classifier, rows *table.Table) error {
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
