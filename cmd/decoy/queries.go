package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/workload"
)

// defaultDraws is how many rows are sampled to answer on a model that cannot be asked directly.
const defaultDraws = 200_000

type queriesAnswer struct {
	where []string
	// print confidence intervals
	interval bool
	rows     int
	seed     uint64
}

func queriesAnswerCommand(t *terminal) *cobra.Command {
	q := &queriesAnswer{}
	return t.verb("queries answer", q.run, flags{"where": &q.where, "rows": &q.rows,
		"interval": &q.interval, "seed": &q.seed})
}

func (q *queriesAnswer) run(cmd *cobra.Command, t *terminal, args []string) error {
	switch {
	case q.interval && q.rows > 0:
		return usagef("--interval asks the model itself: leave out --rows")
	case len(args) == 1 && len(q.where) == 0:
		return usagef("WORKLOAD or --where is missing")
	}
	m, err := openModel(args[0])
	if err != nil {
		return err
	}
	w, err := q.workload(m, args[1:])
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	direct := m.Exact()
	var answers []release.Answered
	if q.interval {
		answers, err = m.Intervals(w)
	} else if direct && q.rows == 0 {
		answers, err = m.Answers(w)
	} else {
		n := cmp.Or(q.rows, defaultDraws)
		answers, err = m.SampledAnswers(cmd.Context(), w, n, q.seed, t.progress().of("sampling rows"))
		if err == nil {
			t.say("sampled %d rows (seed %d)", n, q.seed)
		}
	}
	if err != nil {
		if errors.Is(err, workload.ErrTooLarge) || direct && q.rows == 0 && !q.interval {
			return fmt.Errorf("%w; --rows N answers by sampling", err)
		}
		return err
	}
	for i := range w.Len() {
		it := w.Item(i)
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

// workload is the file's items and those of --where.
func (q *queriesAnswer) workload(m *release.Model, paths []string) (*workload.Workload, error) {
	var items []workload.Item
	for _, path := range paths {
		if err := configs.Readable(path); err != nil {
			return nil, err
		}
		w, err := workload.Load(path, m.Schema())
		if err != nil {
			return nil, err
		}
		for i := range w.Len() {
			items = append(items, w.Item(i))
		}
	}
	counts, err := workload.Conditions(m.Schema(), q.where...)
	if err != nil {
		return nil, err
	}
	return workload.New(m.Schema(), append(items, counts...))
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
