package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
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
	w := &configs.Runner{State: base + ".state", Tool: tool(), Day: time.Now(),
		Force: b.t.force, Tell: b.warnings}
	if b.dryRun {
		return b.showPlans(cmd.Context(), w)
	}
	if err := w.Open(); err != nil {
		return err
	}
	if b.only < 0 {
		if err := w.ClaimResults(b.results); err != nil {
			return err
		}
	}
	signal.Ignore(syscall.SIGPIPE)
	if b.only >= 0 {
		b.work = b.work[b.only : b.only+1]
	}
	b.sayOfTables(b.known)
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
			var err error
			b.work[i], err = configs.NewTask(b.file, j, b.dryRun || b.only < 0 || b.only == i)
			if err != nil {
				problems[i] = fmt.Errorf("job %s: %w", j.Name, err)
			}
			return nil
		})
	}
	group.Wait()
	if err := errors.Join(problems...); err != nil {
		return err
	}
	configs.Share(b.work)
	written := []configs.NamedPath{{Name: "the results", Path: b.results}}
	read := []configs.NamedPath{{Name: "the batch file", Path: path}}
	for _, task := range b.work { // whose identities differ, as their names do
		w, r := task.Files()
		written, read = append(written, w...), append(read, r...)
		if task.Ledger != nil { // written too, by all jobs of its table
			read = append(read,
				configs.NamedPath{Name: task.Name + "'s ledger", Path: task.Ledger.Path()})
		}
	}
	return configs.Distinct(written, read)
}

// heard is what is said, a text each; lines below one are part of it.
func heard(say func(t *terminal)) []string {
	var out strings.Builder
	say(&terminal{stderr: &out})
	text := strings.NewReplacer(":\n  ", ": ", "\n  ", "; ").Replace(out.String())
	var texts []string
	for line := range strings.Lines(text) {
		texts = append(texts, strings.Join(strings.Fields(line), " "))
	}
	return texts
}

// known is what is to be said of a job before it runs, by what is public.
func (b *batch) known(task *configs.Task) []string {
	return heard(func(t *terminal) { t.sayTask(task) })
}

// warnings are what generate says of a run, but for its guarantee and what it costs.
func (b *batch) warnings(task *configs.Task, made configs.Made) []string {
	return heard(func(t *terminal) { t.sayMade(task, made) })
}

// sayOfTables says once for each table what is to be said of its jobs.
func (b *batch) sayOfTables(of func(*configs.Task) []string) {
	type line struct{ table, text string }
	var lines []line
	names, all := map[line][]string{}, map[string]int{}
	for _, task := range b.work {
		table := cmp.Or(task.Input, task.Dataset)
		all[table]++
		for _, text := range of(task) {
			l := line{table, text}
			if names[l] == nil {
				lines = append(lines, l)
			}
			names[l] = append(names[l], task.Name)
		}
	}
	for _, l := range lines {
		who := ""
		if len(names[l]) < all[l.table] {
			who = " (" + clip(strings.Join(names[l], ", ")) + ")"
		}
		b.t.say("%s%s: %s", l.table, who, l.text)
	}
}

// runAll carries the jobs out, as many at a time as --jobs lets it, but those of one ledger one
// after another, and says their ends in the order of the jobs: which of two charges or ends first
// depends on their rows.
func (b *batch) runAll(ctx context.Context, w *configs.Runner) []configs.Record {
	jobs := b.work
	out, ended := make([]configs.Record, len(jobs)), make([]chan struct{}, len(jobs))
	queues := map[string][]int{} // the jobs of each ledger
	for i, task := range jobs {
		ended[i] = make(chan struct{})
		account := task.Name
		if task.Ledger != nil {
			account = task.Ledger.Path()
		}
		queues[account] = append(queues[account], i)
	}
	go func() {
		var group errgroup.Group
		group.SetLimit(b.jobs)
		for _, queue := range slices.SortedFunc(maps.Values(queues), slices.Compare[[]int]) {
			group.Go(func() error {
				for _, waits := range []bool{false, true} { // for a schema: what buys one comes first
					for _, i := range queue {
						if task := jobs[i]; waits == (task.Buyer != nil) {
							out[i] = configs.Record{Job: task.Name, Identity: task.Identity,
								Status: configs.Cancelled, Error: "interrupted before it began: nothing is spent"}
							if ctx.Err() == nil {
								out[i] = w.Do(ctx, task)
							}
							close(ended[i])
						}
					}
				}
				return nil
			})
		}
	}()
	earlier, warnings := 0, map[*configs.Task][]string{}
	for i, task := range jobs {
		<-ended[i]
		switch r := out[i]; {
		case r.Earlier:
			earlier++
			continue
		case r.Status == configs.Done:
			b.t.say("done: %s", r.Job)
		case r.Status != configs.Cancelled || r.Run != "":
			b.t.say("%s: %s: %s", r.Status, r.Job, r.Error)
		}
		warnings[task] = out[i].Warnings
	}
	b.sayOfTables(func(task *configs.Task) []string { return warnings[task] })
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
		configs.Interrupted, configs.Cancelled, configs.Elsewhere, configs.Waiting} {
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
	Memory   string        `json:"-" head:"MEMORY"`
	Time     string        `json:"-" head:"TIME"`
	Out      string        `json:"out" head:"OUT"`
	Status   string        `json:"status" head:"STATUS"` // what keeps it from running, or ready
}

// account is a ledger and what jobs ask of it.
type account struct {
	Ledger string         `json:"ledger" head:"LEDGER"`
	Jobs   int            `json:"jobs" head:"JOBS"`
	Total  budget         `json:"total" head:"TOTAL"`
	Spent  budget         `json:"spent" head:"SPENT NOW"`
	Limit  string         `json:"limit" head:"LIMIT"`
	then   *ledger.Ledger // as the jobs would leave it
	wrong  error          // why it cannot be read
}

// accountAt is a ledger, of which nothing is asked yet.
func accountAt(file *ledger.File) *account {
	l, err := file.Read()
	if err != nil {
		return &account{wrong: err}
	}
	a := &account{Ledger: file.Path(), Spent: budget(l.Spent()), Limit: "none", then: l}
	if limit, ok := l.LimitInForce(); ok {
		a.Limit = configs.LimitText(limit)
	}
	return a
}

// showPlans prints the plan of a batch.
func (b *batch) showPlans(ctx context.Context, w *configs.Runner) error {
	var out batchPlan
	accounts, order := map[string]*account{}, []string(nil) // by path
	stopped, takers := map[*configs.Task]bool{}, map[*configs.Task]int{}
	for i, task := range b.work {
		n := task.Needs()
		line := plannedJob{i, task.Name, task.Method, sixDigits(task.Epsilon), sixDigits(task.Delta),
			fmt.Sprint(n.Rows), n, "-", "-", cmp.Or(task.Out, task.OutDir), ""}
		if n.Assumed {
			line.RowsText += " assumed"
		}
		if n.Seconds > 0 { // else they follow from a schema that is not bought yet
			line.Memory, line.Time = spelling.Size(n.MemoryBytes), spelling.Time(n.Seconds)
		}
		a := &account{}
		if task.Ledger != nil {
			path := task.Ledger.Path()
			if accounts[path] == nil {
				if accounts[path] = accountAt(task.Ledger); accounts[path].wrong == nil {
					order = append(order, path)
				}
			}
			a = accounts[path]
		}
		takers[task.Buyer]++
		a.Jobs++
		a.Total.Epsilon += task.Epsilon
		a.Total.Delta += task.Delta
		if line.Status = w.Foresee(ctx, task, a.then); a.wrong != nil {
			line.Status = "would fail: " + spelling.Line(a.wrong)
		}
		if line.Status != configs.Ready && line.Status != configs.Paid {
			stopped[task] = true
		}
		out.Jobs.items = append(out.Jobs.items, line)
	}
	for i, task := range b.work {
		if buyer := task.Buyer; stopped[buyer] && !stopped[task] {
			out.Jobs.items[i].Status, stopped[task] = "waits for the schema of "+buyer.Name, true
		}
	}
	for _, path := range order {
		out.Ledgers.items = append(out.Ledgers.items, *accounts[path])
	}
	if err := b.t.print(out); err != nil {
		return err
	}
	for _, task := range b.work {
		if task.Bought != "" {
			b.t.say("%s buys the schema of %s for %s: %s; a column needs about %d %s a value",
				task.Name, task.Input, plural(takers[task]+1, "job", "jobs"), task.Bought,
				wholeRows(task.Purchase.Plan.Needs().Kind), task.Purchase.Holds)
		}
	}
	b.sayOfTables(b.known)
	if n := len(stopped); n > 0 {
		b.t.say("%s would not run: see STATUS", plural(n, "job", "jobs"))
	}
	b.t.say("%s, %d at a time; no row was read; the forecasts go by the rows that a job says "+
		"('rows:'), not by any file", plural(len(b.work), "job", "jobs"), b.jobs)
	return nil
}

// writeResults writes the table of results: what became of each job, its verdicts and its metrics.
func (b *batch) writeResults(w *configs.Runner, records []configs.Record) error {
	header := []string{"job", "input", "method", "epsilon", "delta", "status", "rows", "run",
		"out", "error", "warnings"}
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
			configs.Short(task.Epsilon), configs.Short(task.Delta), r.Status,
			strconv.Itoa(r.Rows), r.Run, cmp.Or(task.Out, task.OutDir), r.Error,
			strings.Join(append(b.known(task), r.Warnings...), "; ")}
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

// readMetrics takes the verdicts, and the metrics with one to three values, from the report of
// decoy evaluate: name and value.
func readMetrics(path string) [][2]string {
	var report struct {
		Summary []struct{ Question, Status string }
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
	for _, f := range report.Summary {
		out = append(out, [2]string{f.Question, f.Status})
	}
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
