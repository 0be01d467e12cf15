package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/yamlfile"
	"github.com/decoy-dp/decoy/model/workload"
	"github.com/decoy-dp/decoy/stats"
)

type holdoutRun struct {
	jobFlags
	train, questions string
	options          stats.HoldoutOptions
}

func evaluateHoldoutCommand(t *terminal) *cobra.Command {
	r := &holdoutRun{jobFlags: newJob(), questions: configs.Standard,
		options: stats.HoldoutOptions{Corrections: 10, Tolerance: .05}}
	return t.verb("evaluate holdout", r.run, r.flags(), flags{"train": &r.train,
		"questions": &r.questions, "corrections": &r.options.Corrections,
		"tolerance": &r.options.Tolerance})
}

// told is an answer, as it is printed.
type told struct {
	Question string `json:"question"`
	stats.Told
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
	s := rows.Schema()
	next, err := r.asked(cmd.Context(), t, s)
	if err != nil {
		return err
	}
	if err := checkTable("--train", r.train); err != nil {
		return err
	}
	first, err := next() // before anything is paid
	if errors.Is(err, io.EOF) {
		return usagef("there is no question: give conditions, one a line, on standard input or with " +
			"--questions; nothing is spent")
	} else if err != nil {
		return err
	}
	r.options.Budget, r.options.Adjacency = r.Budget(), r.Relation()
	noise := r.options.Noise(s)
	t.say("the noise of a comparison has a standard deviation of %.3g rows", noise)
	run, err := r.pay(t, l, "evaluate holdout", args[0], "", "")
	if err != nil {
		return err
	}
	train, err := reader{cmd.Context(), t, run.shown}.codes("--train", r.train, s.ForSynthetic())
	if err != nil {
		return err
	}
	r.options.Options = run.Options(r.Job)
	r.options.Journal = "" // the threshold dies with its process
	h, err := stats.OpenHoldout(cmd.Context(), rows, train, r.options)
	if err != nil {
		return run.end(nil, err)
	}
	counted, sd := h.Rows()
	t.say("the noise of a comparison is %.2g of the rows, beside a tolerance of %v: %s", noise/counted,
		r.options.Tolerance, map[bool]string{false: "if it is not far smaller, comparisons go wrong",
			true: "it may exceed the number of rows, and the answers mean nothing"}[noise > counted-2*sd])
	for q := first; err == nil; {
		var a stats.Told
		if a, err = h.Ask(q.count); err == nil {
			err = t.print(told{q.text, a, h.Left()})
		}
		if err == nil {
			q, err = next()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	_, failed := h.Close()
	if err = errors.Join(err, failed); err != nil {
		return run.end(nil, err)
	}
	run.got("all answers together are (ε = %v, δ = %v)-differentially private for the holdout, of "+
		"which one %s is added, removed or replaced. They hide nobody in the training table: where they "+
		"are as in that, they are its exact shares", r.Epsilon, r.Delta, unitOf(s.Unit))
	return nil
}

// asked gives one question after the other, of standard input as they come. All of a file are read
// before anything is paid.
func (r *holdoutRun) asked(
	ctx context.Context, t *terminal, s *schema.Schema,
) (next func() (question, error), err error) {
	if r.questions == configs.Standard {
		return questions(ctx, s, os.Stdin, func(_ int, err error) error {
			t.say("not asked: %v", err)
			return nil
		}), nil
	}
	list, err := readFile(r.questions, func(in io.Reader) (all []question, err error) {
		next := questions(ctx, s, in, func(n int, err error) error {
			return usagef("line %d: %w", n, err)
		})
		for q, err := next(); ; q, err = next() {
			if err != nil {
				return all, err
			}
			all = append(all, q)
		}
	})
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return func() (q question, err error) {
		if len(list) == 0 {
			return q, io.EOF
		}
		q, list = list[0], list[1:]
		return q, nil
	}, nil
}

// question is one of those that are asked of a holdout.
type question struct {
	text  string
	count table.Expr
}

// linesOf are lines as they come, and why no more do: io.EOF at the end. An interrupt need not wait
// for them. Of a line of bufio.MaxScanTokenSize bytes or more so many come, and the rest is lost.
func linesOf(in io.Reader) (<-chan string, <-chan error) {
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		each := bufio.NewReaderSize(in, bufio.MaxScanTokenSize+1)
		line, more, err := each.ReadLine()
		for ; err == nil; line, more, err = each.ReadLine() {
			lines <- string(line)
			for ; more && err == nil; _, more, err = each.ReadLine() {
			}
		}
		ended <- err
	}()
	return lines, ended
}

// questions gives one question after the other as they come, and io.EOF after the last. wrong hears
// of a line that is none, which is passed over unless it returns an error.
func questions(
	ctx context.Context, s *schema.Schema, in io.Reader, wrong func(n int, err error) error,
) func() (question, error) {
	n := 0
	lines, ended := linesOf(in)
	return func() (q question, err error) {
		for ; err == nil; n++ {
			select {
			case <-ctx.Done():
				return q, ctx.Err()
			case err = <-ended:
			case line := <-lines:
				asked, bad := countsOf(workload.Conditions(s, line))
				if len(line) >= bufio.MaxScanTokenSize {
					bad = usagef("%s is longer than 65 kB", yamlfile.Quote(line))
				}
				switch line = strings.TrimSpace(line); {
				case line == "":
				case bad == nil:
					n++
					return question{line, asked[0]}, nil
				default:
					err = wrong(n+1, bad)
				}
			}
		}
		return q, err
	}
}

// countsOf are the questions of items that rows answer exactly: one count each.
func countsOf(items []workload.Item, err error) (out []table.Expr, _ error) {
	for _, it := range items {
		switch {
		case !it.IsCount():
			return nil, usagef("%s: numbers of rows are counted: ask for each cell", yamlfile.Quote(it.Name))
		case len(it.Fine) > 0:
			return nil, usagef("%s: rows are known by the bins of the schema, and a value cuts %s",
				yamlfile.Quote(it.Name), cutBins(it.Fine))
		}
		out = append(out, it.Where)
	}
	return out, err
}

// cutBins are the parts into which the first bin of a column is cut, which has them.
func cutBins(fine map[int]workload.Fine) string {
	for _, f := range fine {
		i := 1
		for f.Of[i] != f.Of[i-1] { // one is cut
			i++
		}
		return fmt.Sprintf("one of column %q into %s and %s", f.Codec.Column().Name,
			f.Codec.Label(uint16(i-1)), f.Codec.Label(uint16(i)))
	}
	return ""
}
