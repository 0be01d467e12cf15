package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/stats"
)

func collectCommand(t *terminal) *cobra.Command {
	j := newJob()
	j.Delta, j.Adjacency, j.Out = 0, accountant.ReplaceOne.String(), configs.Standard
	return t.verb("collect", j.answer, j.flags())
}

// answer runs collect.
func (j *jobFlags) answer(cmd *cobra.Command, t *terminal, args []string) error {
	if err := j.checkBudget(); err != nil {
		return err
	}
	if j.Out == "" {
		return usagef("--out is empty")
	}
	form, err := formOf(j.Job)
	if err != nil {
		return err
	}
	rows, l, err := j.private(cmd, "ROW", args[0])
	if err != nil {
		return err
	}
	j.sayWeak(t)
	run, err := j.pay(t, l, "collect", args[0], "--out", j.Out)
	if err != nil {
		return err
	}
	_, s, err := form.Answer(cmd.Context(), rows, stats.Run[stats.Answer]{
		Options: run.Options(j.Job),
		Deliver: func(a stats.Answer) error {
			t.say("asked: %s, drawn at random", strings.Join(a.Asked(), " and "))
			t.say("answered: %s", odds(a))
			t.say("guarantee: %v: the line would be at most %s times as likely, or as unlikely, if "+
				"your row were any other", form.Claim(), configs.Short(math.Exp(j.Epsilon)))
			run.SayTotal()
			return t.deliver(run.file, "", func(w io.Writer) error {
				_, err := a.WriteTo(w)
				return err
			})
		}})
	if errors.Is(err, privacy.ErrRun) {
		return &configs.Reworded{Text: fmt.Sprintf("this form is answered already, as %s says: a second "+
			"answer would tell more than epsilon %v; nothing is spent", l.Path(), j.Epsilon),
			Err: accountant.ErrBudget}
	}
	return run.end(s, err)
}

// odds says how an answer was drawn.
func odds(a stats.Answer) string {
	cells, own, other := a.Odds()
	if len(a.Named) == 1 && own != .5 {
		return fmt.Sprintf("one of %d cells: yours with probability %s, any other with %s", cells,
			percent(own), percent(other))
	}
	return fmt.Sprintf("%d of %d cells: yours was named with probability %s, any other with %s",
		len(a.Named), cells, percent(own), percent(other))
}

// formOf is the form of --schema and --epsilon.
func formOf(j configs.Job) (*stats.Form, error) {
	s, err := configs.LoadSchema(j.Schema)
	if err != nil {
		return nil, err
	}
	return stats.NewForm(s, j.Epsilon)
}

// ofAnswers are the flags of 'fit --randomized'.
var ofAnswers = []string{"randomized", "schema", "epsilon", "model", "force", "quiet", "config"}

// fitAnswers fits a model to a file of answers.
func (j *jobFlags) fitAnswers(cmd *cobra.Command, t *terminal, path string, args []string) error {
	if len(args) > 0 {
		return usagef("--randomized takes the place of INPUT")
	}
	var other error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(ofAnswers, f.Name) && other == nil {
			other = usagef("%s: --%s is for a private table: answers are noise already, and cost nothing",
				placeOf(f), f.Name)
		}
	})
	if other != nil {
		return other
	}
	if err := errors.Join(need(cmd, "randomized", "schema"), j.checkBudget()); err != nil {
		return err
	}
	form, err := formOf(j.Job)
	if err != nil {
		return err
	}
	tally, err := readFile(path, form.Read)
	if err != nil {
		return err
	}
	out, err := t.create("--model", j.Model, configs.ReleaseMode)
	if err != nil {
		return err
	}
	m, err := tally.Fit(cmd.Context(), tool(), t.progress().of("fitting the model"))
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	return t.deliver(out, fmt.Sprintf(": of %s", plural(tally.Answers, "answer", "answers")), m.Write)
}
