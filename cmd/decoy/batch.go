package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
)

type batch struct {
	jobs, only int
	results    string
	dryRun     bool
	t          *terminal
	file       *configs.Batch
	work       []*configs.Task
}

func batchCommand(t *terminal) *cobra.Command {
	b := &batch{t: t, only: -1}
	return t.verb("batch", b.run, flags{"jobs": &b.jobs, "only": &b.only, "dry-run": &b.dryRun})
}

func (b *batch) run(cmd *cobra.Command, _ *terminal, args []string) error {
	base := strings.TrimSuffix(args[0], filepath.Ext(args[0]))
	if err := b.read(cmd, args[0], base); err != nil {
		return err
	}
	if b.dryRun {
		return b.showPlans()
	}
	w := &configs.Worker{Dir: base + ".state", Tool: tool(), Day: time.Now(),
		Force: b.t.force}
	if err := w.Open(); err != nil {
		return err
	}
	if b.only < 0 {
		if err := w.ClaimResults(b.results); err != nil {
			return err
		}
	}
	signal.Ignore(syscall.SIGPIPE)
	records := b.runAll(cmd.Context(), w)
	if b.only < 0 {
		if err := b.writeResults(w, records); err != nil {
			return err
		}
	}
	if b.t.json {
		if err := b.t.print(listing[configs.Record]{items: records}); err != nil {
			return err
		}
	}
	return b.verdict(records)
}

// read reads the batch file and checks every job.
func (b *batch) read(cmd *cobra.Command, path, base string) error {
	text, err := configs.ReadBounded(path, configs.MaxBatch)
	if err != nil {
		return err
	}
	if b.file, err = configs.ParseBatch(path, text); err != nil {
		return err
	}
	b.results = cmp.Or(b.file.Results, base+".results.csv")
	if !cmd.Flags().Changed("jobs") {
		b.jobs = cmp.Or(b.file.Parallel, runtime.GOMAXPROCS(0))
	}
	jobs, err := b.file.Expand()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if cmd.Flags().Changed("only") && (b.only < 0 || b.only >= len(jobs)) {
		return usagef("--only %d: the batch has the jobs 0 to %d", b.only, len(jobs)-1)
	}
	return b.check(path, jobs)
}

// check checks the jobs, several at a time, and that none writes over a file that it or another one
// reads, or writes. A plan takes a while, so that of a job which this process does not run is not
// made.
func (b *batch) check(path string, jobs []configs.Job) error {
	b.work = make([]*configs.Task, len(jobs))
	problems := make([]error, len(jobs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		group.Go(func() error {
			b.work[i], problems[i] = configs.NewTask(b.file.Name, j, b.dryRun || b.only < 0 || b.only == i)
			return nil
		})
	}
	group.Wait()
	identities := map[string]string{}
	written := []configs.NamedPath{configs.At("the results", b.results)}
	read := []configs.NamedPath{configs.At("the batch file", path)}
	for i, task := range b.work {
		if problems[i] != nil {
			problems[i] = fmt.Errorf("job %s: %w", jobs[i].Name, problems[i])
			continue
		}
		if other := identities[task.Identity]; other != "" {
			// Replicates differ by number only; so do single jobs that measure the same twice.
			problems[i] = fmt.Errorf("job %s: measures the same as job %s: %w", task.Name, other,
				configs.ErrConfig)
		}
		identities[task.Identity] = task.Name
		w, r := task.Files()
		written, read = append(written, w...), append(read, r...)
		if task.Ledger != nil { // written too, by all jobs of its table
			read = append(read, configs.At(task.Name+"'s ledger", task.Ledger.Path()))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return configs.Distinct(written, read)
}

// runAll carries the jobs out, as many at a time as --jobs lets it. Their ends are said in the
// order of the jobs: which of two ends first depends on their rows.
func (b *batch) runAll(ctx context.Context, w *configs.Worker) []configs.Record {
	jobs := b.work
	if b.only >= 0 {
		jobs = jobs[b.only : b.only+1]
	}
	out, ended := make([]configs.Record, len(jobs)), make([]chan struct{}, len(jobs))
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	go func() {
		var group errgroup.Group
		group.SetLimit(b.jobs)
		for i, task := range jobs {
			group.Go(func() error {
				defer close(ended[i])
				out[i] = configs.Record{Job: task.Name, Identity: task.Identity, Status: configs.Cancelled,
					Error: "interrupted before it began: nothing is spent"}
				if ctx.Err() == nil {
					out[i] = w.Do(ctx, task, nil)
				}
				return nil
			})
		}
	}()
	earlier := 0
	for i := range jobs {
		<-ended[i]
		switch r := out[i]; {
		case r.Earlier:
			earlier++
		case r.Status == configs.Done:
			b.t.say("done: %s", r.Job)
		case r.Status != configs.Cancelled || r.Run != "":
			b.t.say("%s: %s: %s", r.Status, r.Job, r.Error)
		}
	}
	if earlier > 0 {
		b.t.say("done before: %s", plural(earlier, "job", "jobs"))
	}
	return out
}

// verdict is the end of the batch: an error if any job is not done.
func (b *batch) verdict(records []configs.Record) error {
	count := map[string]int{}
	for _, r := range records {
		count[r.Status]++
	}
	var parts []string
	for _, status := range []string{configs.Done, configs.Failed, configs.Refused,
		configs.Interrupted, configs.Cancelled, configs.Elsewhere} {
		if n := count[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	text := fmt.Sprintf("%s: %s", plural(len(records), "job", "jobs"), strings.Join(parts, ", "))
	switch {
	case count[configs.Done] == len(records):
		b.t.say("%s", text)
		return nil
	case count[configs.Done]+count[configs.Refused] == len(records):
		return &configs.Reworded{Text: text, Err: accountant.ErrBudget}
	case count[configs.Cancelled] > 0:
		return &configs.Reworded{Text: text + "; the same command goes on", Err: context.Canceled}
	}
	return errors.New(text)
}

// batchPlan is what a batch would do and cost.
type batchPlan struct {
	Jobs    listing[plannedJob] `json:"jobs"`
	Ledgers listing[account]    `json:"ledgers"`
}

type plannedJob struct {
	Number   int           `json:"-" head:"K"`
	Job      string        `json:"job" head:"JOB"`
	Method   string        `json:"method" head:"METHOD"`
	Epsilon  sixDigits     `json:"epsilon" head:"EPSILON"`
	Delta    sixDigits     `json:"delta" head:"DELTA"`
	RowsText string        `json:"-" head:"ROWS"`
	Needs    configs.Needs `json:"needs"`
	Out      string        `json:"out" head:"OUT"`
}

// account is a ledger and what jobs ask of it.
type account struct {
	Ledger string `json:"ledger" head:"LEDGER"`
	Jobs   int    `json:"jobs" head:"JOBS"`
	Total  budget `json:"total" head:"TOTAL"`
	Spent  budget `json:"spent" head:"SPENT NOW"`
	Limit  string `json:"limit" head:"LIMIT"`
}

// showPlans prints the plan of a batch.
func (b *batch) showPlans() error {
	var out batchPlan
	accounts := &out.Ledgers.items
	for i, task := range b.work {
		n := task.Needs()
		line := plannedJob{i, task.Name, task.Method, sixDigits(task.Epsilon), sixDigits(task.Delta),
			fmt.Sprint(n.Rows), n, task.Out}
		if n.Assumed {
			line.RowsText += " assumed"
		}
		out.Jobs.items = append(out.Jobs.items, line)
		if task.Ledger == nil {
			continue
		}
		path := task.Ledger.Path()
		at := slices.IndexFunc(*accounts, func(a account) bool { return a.Ledger == path })
		if at < 0 {
			l, err := task.Ledger.Read()
			if err != nil {
				return err
			}
			at = len(*accounts)
			one := account{Ledger: path, Spent: budget(l.Spent()), Limit: "none"}
			if limit, ok := l.LimitInForce(); ok {
				one.Limit = configs.LimitText(limit)
			}
			*accounts = append(*accounts, one)
		}
		a := &(*accounts)[at]
		a.Jobs++
		a.Total.Epsilon += task.Epsilon
		a.Total.Delta += task.Delta
	}
	if err := b.t.print(out); err != nil {
		return err
	}
	b.t.say("%s, %d at a time; nothing was read; the forecasts go by the rows that a job says "+
		"('rows:'), not by any file", plural(len(b.work), "job", "jobs"), b.jobs)
	return nil
}

// writeResults writes the table of results: what became of each job, and its metrics.
func (b *batch) writeResults(w *configs.Worker, records []configs.Record) error {
	header := []string{"job", "input", "method", "epsilon", "delta", "status", "rows", "run", "out",
		"error"}
	first := len(header)
	metrics := make([]map[string]string, len(records))
	for i, r := range records {
		metrics[i] = map[string]string{}
		if b.work[i].Evaluate == nil || r.Status != configs.Done {
			continue
		}
		for _, m := range readMetrics(w.Metrics(r.Identity)) {
			metrics[i][m[0]] = m[1]
			if !slices.Contains(header, m[0]) {
				header = append(header, m[0])
			}
		}
	}
	rows := [][]string{header}
	for i, r := range records {
		task := b.work[i]
		row := []string{r.Job, cmp.Or(task.Input, task.Dataset), task.Method,
			configs.Short(task.Epsilon), configs.Short(task.Delta), r.Status, strconv.Itoa(r.Rows), r.Run,
			task.Out, r.Error}
		for _, name := range header[first:] {
			row = append(row, metrics[i][name])
		}
		rows = append(rows, row)
	}
	f, err := configs.Create("the results", b.results, nil, unprotectedMode, true)
	if err != nil {
		return err
	}
	defer f.Abort()
	err = f.Complete(func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
	if err == nil {
		b.t.say("wrote %s, which holds errors and metrics of real rows: keep it as safe as the tables",
			b.results)
	}
	return err
}

// readMetrics takes the metrics with one to three values from the report of decoy evaluate: name
// and value.
func readMetrics(path string) [][2]string {
	var report struct {
		Metrics []struct {
			Name   string `json:"name"`
			Values []struct {
				Of    string          `json:"of"`
				Value json.RawMessage `json:"value"`
			} `json:"values"`
		} `json:"metrics"`
	}
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &report) != nil {
		return nil
	}
	var out [][2]string
	for _, m := range report.Metrics {
		if len(m.Values) > 3 {
			continue // one for each column: in the report
		}
		for _, v := range m.Values {
			out = append(out, [2]string{strings.TrimSpace(m.Name + " " + v.Of), string(v.Value)})
		}
	}
	return out
}
