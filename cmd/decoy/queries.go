package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/workload"
)

// defaultDraws is how many rows are sampled to answer on a model that cannot be asked directly.
const defaultDraws = 200_000

type queriesAnswer struct {
	where []string
	csv   bool
	// print confidence intervals
	interval bool
	rows     int
	seed     uint64
}

func queriesAnswerCommand(t *terminal) *cobra.Command {
	q := &queriesAnswer{}
	return t.verb("queries answer", q.run, flags{"where": &q.where, "csv": &q.csv, "rows": &q.rows,
		"interval": &q.interval, "seed": &q.seed})
}

func (q *queriesAnswer) run(cmd *cobra.Command, t *terminal, args []string) error {
	switch {
	case t.json && q.csv:
		return usagef("--json and --csv are two formats")
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
	_, direct := m.Params().(*release.Marginal)
	var answers []release.Answered
	if q.interval {
		answers, err = m.Intervals(cmd.Context(), w, q.seed, t.progress().of("fitting again"))
		if err == nil {
			t.say("fitted %d times (seed %d)", release.Refits, q.seed)
			if slices.ContainsFunc(answers, func(a release.Answered) bool { return a.Covers == "hidden" }) {
				t.say("covers hidden: the noise hides the answer, and its interval is too narrow")
			}
		}
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
	if err := sayImpossible(t, w, answers); err != nil {
		return err
	}
	return printAnswers(t, answers, q.csv)
}

// sayImpossible says, and marks in the list, which answers are 0 by the schema and not by the rows,
// and what it allows.
func sayImpossible(t *terminal, w *workload.Workload, answers []release.Answered) error {
	list, err := w.Schema().Overview()
	for i := range w.Len() {
		it := w.Item(i)
		if err != nil || !it.Impossible() {
			continue
		}
		for k, a := range answers {
			answers[k].Impossible = a.Impossible || a.Query == it.Name
		}
		var ranges []string
		for _, c := range it.Columns() {
			if o := list[c]; w.Schema().Columns[c].Kind.Ordered() {
				ends := strings.Split(strings.Trim(o.From+", "+o.To, "[)]"), ", ")
				text := fmt.Sprintf("%s is %s to %s", o.Name, ends[0], ends[len(ends)-1])
				if after := w.Schema().Columns[c].After; after != "" {
					text += strings.TrimRight(" "+o.Unit, " ") + " after " + after
				}
				ranges = append(ranges, text)
			}
		}
		t.say("%s: no row by the schema, whatever the table holds (%s)", it.Name,
			strings.Join(ranges, ", "))
	}
	return err
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

func printAnswers(t *terminal, list []release.Answered, asCSV bool) error {
	head := []string{"query", "cell", "answer", "standard_error", "covers"}
	asked := slices.ContainsFunc(list, func(a release.Answered) bool { return a.Interval != nil })
	if asked {
		head = append(head, "from", "to")
	}
	exact := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	cells := func(a release.Answered, answer, unknown string) []string {
		out := []string{a.Query, a.Cell, answer, unknown, a.Covers}
		if a.StandardError != nil {
			out[3] = exact(*a.StandardError)
		}
		switch {
		case a.Interval != nil:
			out = append(out, exact(a.Interval[0]), exact(a.Interval[1]))
		case asked:
			out = append(out, "", "")
		}
		return out
	}
	if asCSV {
		out := csv.NewWriter(t.stdout)
		out.Write(head)
		for _, a := range list {
			out.Write(cells(a, exact(a.Answer), ""))
		}
		out.Flush()
		return out.Error()
	}
	title := strings.ToUpper(strings.ReplaceAll(strings.Join(head, "\t"), "_", " "))
	return t.print(listing[release.Answered]{list, title, func(a release.Answered) string {
		cells := cells(a, fmt.Sprintf("%.1f", a.Answer), "unknown")
		for i := range cells {
			cells[i] = spelling.Visible(cells[i])
		}
		return strings.Join(cells, "\t")
	}})
}
