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
	cmd := t.verb("predict", flags{"out": &out})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return predict(cmd, t, args[0], args[1], out)
	}
	return cmd
}

func predict(cmd *cobra.Command, t *terminal, model, input, out string) error {
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
