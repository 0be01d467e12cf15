package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/stats"
)

// defaultDraws is how many rows are sampled to answer on a model that cannot be asked directly.
const defaultDraws = 200_000

type queriesAnswer struct {
	jobFlags // of a table
	table    string
	where    []string
	// print confidence intervals
	interval bool
}

func queriesAnswerCommand(t *terminal) *cobra.Command {
	q := &queriesAnswer{jobFlags: newJob()}
	return t.verb("queries answer", q.run, q.flags(), flags{"where": &q.where,
		"interval": &q.interval, "table": &q.table})
}

func (q *queriesAnswer) run(cmd *cobra.Command, t *terminal, args []string) error {
	if q.table != "" {
		return q.count(cmd, t, args)
	}
	switch {
	case len(args) == 0:
		return usagef("MODEL or --table is missing")
	case q.Epsilon != 0 || q.Schema != "" || q.Ledger != "":
		return usagef("--epsilon, --schema and --ledger are for --table: a model is paid for")
	case q.interval && q.Rows > 0:
		return usagef("--interval asks the model itself: leave out --rows")
	case len(args) == 1 && len(q.where) == 0:
		return usagef("WORKLOAD or --where is missing")
	}
	m, err := openTable(args[0])
	if err != nil {
		return err
	}
	w, err := q.workload(m.Schema(), args[1:])
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	answers, err := q.ask(cmd.Context(), t, m, w)
	if err != nil {
		return err
	}
	for _, it := range w.Items() {
		if !it.Impossible() {
			continue
		}
		t.say("%s: no row by the schema, whatever the table holds", it.Name)
		for k := range answers {
			answers[k].Impossible = answers[k].Impossible || answers[k].Query == it.Name
		}
	}
	return printAnswers(t, answers)
}

// ask asks the model: itself, where it can be, or rows that are drawn from it.
func (q *queriesAnswer) ask(
	ctx context.Context, t *terminal, m *release.Model, w *workload.Workload,
) (answers []release.Answered, err error) {
	direct := false
	switch {
	case q.interval:
		answers, err = m.Intervals(w)
	case m.Exact() && q.Rows == 0:
		direct = true
		answers, err = m.Answers(w)
	default:
		n := cmp.Or(q.Rows, defaultDraws)
		answers, err = m.SampledAnswers(ctx, w, n, q.Seed, t.progress().of("sampling rows"))
		if err == nil {
			t.say("sampled %d rows (seed %d)", n, q.Seed)
		}
	}
	if errors.Is(err, workload.ErrTooLarge) || err != nil && direct {
		err = fmt.Errorf("%w; --rows N answers by sampling", err)
	}
	return answers, err
}

// count buys the answers from a private table, with Laplace noise.
func (q *queriesAnswer) count(cmd *cobra.Command, t *terminal, args []string) error {
	if err := cmp.Or(need(cmd, "schema", "epsilon"), q.checkBudget()); err != nil {
		return err
	}
	switch {
	case q.interval || q.Rows > 0:
		return usagef("--interval and --rows ask a model, not --table")
	case len(args) == 0 && len(q.where) == 0:
		return usagef("WORKLOAD or --where is missing")
	}
	rows, l, err := q.private(cmd, "--table", q.table)
	if err != nil {
		return err
	}
	w, err := q.workload(rows.Schema(), args)
	if err != nil {
		return err
	}
	items := w.Items()
	asked, err := countsOf(items, nil)
	if err != nil {
		return err
	}
	run, err := q.pay(t, l, "queries answer", q.table, "", "")
	if err != nil {
		return err
	}
	_, s, err := stats.Count(cmd.Context(), rows, asked, stats.Run[stats.Counted]{
		Options: run.Options(q.Job), Progress: run.shown.report,
		Deliver: func(c stats.Counted) error {
			run.got("all answers together are (ε = %v, δ = %v)-differentially private, %v neighbours of "+
				"one %s", q.Epsilon, q.Delta, q.Relation(), unitOf(rows.Schema().Unit))
			var answers []release.Answered
			for i, n := range c.Counts {
				answers = append(answers, release.Answered{Query: items[i].Name, Answer: float64(n),
					StandardError: &c.StdErr, Covers: "noise", Impossible: items[i].Impossible()})
			}
			return printAnswers(t, answers)
		}})
	return run.end(s, err)
}

// workload is the file's items and those of --where.
func (q *queriesAnswer) workload(s *schema.Schema, paths []string) (*workload.Workload, error) {
	var items []workload.Item
	for _, path := range paths {
		if err := configs.Readable(path); err != nil {
			return nil, err
		}
		w, err := workload.Load(path, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		items = append(items, w.Items()...)
	}
	counts, err := workload.Conditions(s, q.where...)
	if err != nil {
		return nil, err
	}
	return workload.New(s, append(items, counts...))
}

func printAnswers(t *terminal, list []release.Answered) error {
	head := "QUERY\tCELL\tANSWER\tSTANDARD ERROR\tCOVERS"
	asked := slices.ContainsFunc(list, func(a release.Answered) bool { return a.Interval != nil })
	if asked {
		head += "\tFROM\tTO"
	}
	return t.print(listing[release.Answered]{list, head, func(a release.Answered) string {
		cells := []any{a.Query, a.Cell, fmt.Sprintf("%.1f", a.Answer), "unknown", a.Covers}
		if a.StandardError != nil {
			cells[3] = *a.StandardError
		}
		switch {
		case a.Interval != nil:
			cells = append(cells, a.Interval[0], a.Interval[1])
		case asked:
			cells = append(cells, "", "")
		}
		return row(cells...)
	}})
}
