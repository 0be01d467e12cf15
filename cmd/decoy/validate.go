package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
	"github.com/decoy-dp/decoy/stats"
)

type validateRun struct {
	jobFlags
	options      stats.Validation
	statistic    string
	program      string
	lower, upper float64
	limits       stats.Limits
}

func validateCommand(t *terminal) *cobra.Command {
	r := &validateRun{jobFlags: newJob(), limits: stats.Limits{Time: 10 * time.Second, MiB: 2048}}
	return t.verb("validate", r.run, r.flags(), flags{"statistic": &r.statistic, "program": &r.program,
		"lower": &r.lower, "upper": &r.upper, "blocks": &r.options.Blocks, "time-limit": &r.limits.Time,
		"memory-limit": &r.limits.MiB})
}

func (r *validateRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.check(cmd); err != nil {
		return err
	}
	rows, l, err := r.private(cmd, "INPUT", args[0])
	if err != nil {
		return err
	}
	o := &r.options
	if o.Statistic, err = r.computed(cmd, rows.Schema()); err != nil {
		return err
	}
	run, err := r.pay(t, l, "validate "+o.Statistic.Name, args[0], "", "")
	if err != nil {
		return err
	}
	o.Rows = r.Rows
	deliver := func(v *stats.Validated) error {
		run.got("the result is (ε = %v, δ = %v)-differentially private, %v neighbours of one %s",
			r.Epsilon, r.Delta, v.Adjacency, unitOf(v.Unit))
		return t.print(validated{v, o.Statistic})
	}
	_, s, err := stats.Validate(cmd.Context(), rows, *o, stats.Run[*stats.Validated]{
		Options: run.Options(r.Job), Progress: run.shown.report, Deliver: deliver})
	return run.end(s, err)
}

// unitOf names the unit of a guarantee.
func unitOf(id string) string {
	if id == "" {
		return oneRow
	}
	return fmt.Sprintf("%q", id)
}

// check checks the flags.
func (r *validateRun) check(cmd *cobra.Command) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	switch k := r.options.Blocks; {
	case (r.statistic == "") == (r.program == ""):
		return usagef("give one of --statistic and --program")
	case cmd.Flags().Changed("blocks") && (k < 2 || k > vote.MaxShards):
		return usagef("--blocks %d must be from 2 to %d", k, vote.MaxShards)
	case cmd.Flags().Changed("lower") != cmd.Flags().Changed("upper"):
		return usagef("--lower and --upper go together")
	case r.limits.Time <= 0 || r.limits.MiB < 1 || r.limits.MiB > 1<<30:
		return usagef("--time-limit and --memory-limit must be above 0")
	}
	return nil
}

// computed is the statistic, with its range.
func (r *validateRun) computed(cmd *cobra.Command, s *schema.Schema) (stats.Statistic, error) {
	f, err := stats.ParseStatistic(r.statistic, s)
	if r.program != "" {
		f, err = stats.Program(strings.Fields(r.program), r.limits)
	}
	if errors.Is(err, stats.ErrStatistic) {
		return f, &configs.UsageError{Err: err}
	} else if err != nil {
		return f, err
	}
	if cmd.Flags().Changed("lower") {
		f = f.WithRange(r.lower, r.upper)
	}
	if !(f.Lower < f.Upper) {
		return f, usagef("--lower and --upper must give the range of results, of which the first is " +
			"below")
	}
	return f, nil
}

// validated is what the verb prints.
type validated struct {
	*stats.Validated
	Of stats.Statistic `json:"-"`
}

// EachBlock is about how many rows a block has.
func (v validated) EachBlock() float64 { return v.Rows / float64(v.Blocks) }
