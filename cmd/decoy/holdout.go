package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/analysis"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

type holdoutRun struct {
	jobFlags
	train, questions string
	options          analysis.HoldoutOptions
}

func evaluateHoldoutCommand(t *terminal) *cobra.Command {
	r := &holdoutRun{jobFlags: newJob(), questions: configs.Standard,
		options: analysis.HoldoutOptions{Corrections: 10, Tolerance: .05}}
	return t.verb("evaluate holdout", r.run, r.flags(), flags{"train": &r.train,
		"questions": &r.questions, "corrections": &r.options.Corrections,
		"tolerance": &r.options.Tolerance})
}

// told is an answer, as it is printed.
type told struct {
	Question string `json:"question"`
	analysis.Told
	Left int `json:"corrections_left"`
}

func (a told) text(w io.Writer) {
	from := "as in the training table"
	if a.Corrected {
		from = fmt.Sprintf("corrected, standard error %.4f", a.StdErr)
	}
	fmt.Fprintln(w, row(fmt.Sprintf("%.4f", a.Share), from,
		plural(a.Left, "correction left", "corrections left"), a.Question))
}

func (r *holdoutRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if r.questions == configs.Standard && (args[0] == configs.Standard ||
		r.train == configs.Standard) {
		return usagef("questions come from standard input: give HOLDOUT and --train as files, or " +
			"--questions")
	}
	if configs.SameFile(args[0], r.train) {
		return usagef("HOLDOUT and --train are the same file: a holdout is rows that nobody has " +
			"looked at")
	}
	rows, l, err := r.private(cmd, "HOLDOUT", args[0])
	if err != nil {
		return err
	}
	in := os.Stdin
	if r.questions != configs.Standard {
		if err := configs.Readable(r.questions); err != nil {
			return err
		}
		if in, err = os.Open(r.questions); err != nil {
			return configs.Bare(r.questions, err)
		}
		defer in.Close()
		if err := checkQuestions(rows.Schema(), in); err != nil {
			return err
		}
	}
	if err := checkTable("--train", r.train); err != nil {
		return err
	}
	run, err := r.pay(t, l, "evaluate holdout", args[0], "", "")
	if err != nil {
		return err
	}
	s := rows.Schema()
	train, err := reader{cmd.Context(), t, run.shown}.codes("--train", r.train, free(s))
	if err != nil {
		return err
	}
	r.options.Options = run.Options(r.Job)
	r.options.Journal = "" // the threshold dies with its process
	h, err := analysis.OpenHoldout(cmd.Context(), rows, train, r.options)
	if err != nil {
		return run.end(nil, err)
	}
	err = r.answer(cmd, t, in, h, s)
	_, failed := h.Close()
	if err = errors.Join(err, failed); err != nil {
		return run.end(nil, err)
	}
	run.got("answers are (ε = %v, δ = %v)-differentially private for the holdout, of which one %s is "+
		"added, removed or replaced; what they say of the training table is as that has it", r.Epsilon,
		r.Delta, unitOf(s.Unit))
	return nil
}

// checkQuestions refuses a file with a line that is no question, before anything is paid.
func checkQuestions(s *schema.Schema, in *os.File) error {
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() { // it is read once
		return err
	}
	each := bufio.NewScanner(in)
	for n := 1; each.Scan(); n++ {
		line := strings.TrimSpace(each.Text())
		if _, err := countsOf(workload.Conditions(s, line)); line != "" && err != nil {
			return usagef("--questions, line %d: %v", n, err)
		}
	}
	_, err := in.Seek(0, io.SeekStart)
	return errors.Join(each.Err(), err)
}

// answer answers questions as they come.
func (r *holdoutRun) answer(
	cmd *cobra.Command, t *terminal, in io.Reader, h *analysis.Holdout, s *schema.Schema,
) error {
	lines := make(chan string)
	go func() { // which an interrupt does not wait for
		defer close(lines)
		for each := bufio.NewScanner(in); each.Scan(); {
			lines <- strings.TrimSpace(each.Text())
		}
	}()
	for {
		select {
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		case line, more := <-lines:
			if !more {
				return nil
			} else if line == "" {
				continue
			}
			asked, err := countsOf(workload.Conditions(s, line))
			if err != nil {
				t.say("not asked: %s: %v", line, err)
				continue
			}
			a, err := h.Ask(asked[0])
			if err == nil {
				err = t.print(told{line, a, h.Left()})
			}
			if err != nil {
				return err
			}
		}
	}
}

// countsOf are the questions of items that rows answer exactly: one count each.
func countsOf(items []workload.Item, err error) (out []table.Expr, _ error) {
	for _, it := range items {
		switch {
		case !it.IsCount():
			return nil, usagef("%s: of private rows numbers of rows are counted: ask for each cell", it.Name)
		case len(it.Fine) > 0:
			return nil, usagef("%s: a value lies inside a bin of the schema, and rows are known by bins",
				it.Name)
		}
		out = append(out, it.Where)
	}
	return out, err
}
