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
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/synth"
)

type batch struct {
	jobs, only                          int
	memory, interrupted, results, state string
	dryRun                              bool
	t                                   *terminal
	file                                *configs.Batch
	work                                []*configs.Task
}

func batchCommand(t *terminal) *cobra.Command {
	b := &batch{t: t, only: -1}
	return t.verb("batch", b.run, flags{"jobs": &b.jobs, "only": &b.only, "memory": &b.memory,
		"on-interrupted": &b.interrupted, "results": &b.results, "state": &b.state,
		"dry-run": &b.dryRun})
}

func (b *batch) run(cmd *cobra.Command, _ *terminal, args []string) error {
	memory, err := b.read(cmd, args[0])
	if err != nil {
		return err
	}
	if b.dryRun {
		return b.showPlans(memory)
	}
	w := &configs.Worker{Dir: b.state, Tool: tool(), Day: time.Now(),
		Rerun: b.interrupted == "rerun", Force: b.t.force}
	if err := w.Open(); err != nil {
		return err
	}
	if b.only < 0 {
		if err := w.ClaimResults(b.results); err != nil {
			return err
		}
	}
	b.warnTotals(w)
	signal.Ignore(syscall.SIGPIPE)
	records := b.runAll(cmd.Context(), w, memory)
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

// read reads the batch file and checks every job. It gives the memory limit, 0 for none.
func (b *batch) read(cmd *cobra.Command, path string) (memory int64, err error) {
	if err := configs.Readable(path); err != nil {
		return 0, err
	}
	text, err := configs.ReadBounded(path, configs.MaxBatch)
	if err != nil {
		return 0, usagef("%w: a batch file is at most %d MiB", err, configs.MaxBatch>>20)
	}
	if b.file, err = configs.ParseBatch(path, text); err != nil {
		return 0, err
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	b.interrupted = cmp.Or(b.interrupted, b.file.OnInterrupted, "stop")
	b.results = cmp.Or(b.results, b.file.Results, base+".results.csv")
	b.state = cmp.Or(b.state, base+".state")
	if !cmd.Flags().Changed("jobs") {
		b.jobs = cmp.Or(b.file.Parallel, runtime.GOMAXPROCS(0))
	}
	if memory, err = configs.ParseBytes(cmp.Or(b.memory, b.file.Memory)); err != nil {
		return 0, usagef("--memory: %w", err)
	}
	if filepath.Ext(b.results) != ".csv" {
		return 0, usagef("--results %s: the extension must be .csv", b.results)
	}
	jobs, err := b.file.Expand()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if cmd.Flags().Changed("only") && (b.only < 0 || b.only >= len(jobs)) {
		return 0, usagef("--only %d: the batch has the jobs 0 to %d", b.only, len(jobs)-1)
	}
	return memory, b.check(path, jobs)
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
	written := []configs.NamedPath{configs.At("--results", b.results)}
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

// selected are the jobs that this process carries out.
func (b *batch) selected() []*configs.Task {
	if b.only >= 0 {
		return b.work[b.only : b.only+1]
	}
	return b.work
}

// runAll carries the jobs out, as many at a time as --jobs and --memory let it.
func (b *batch) runAll(ctx context.Context, w *configs.Worker, memory int64) []configs.Record {
	jobs := b.selected()
	out := make([]configs.Record, len(jobs))
	shown := newBatchProgress(b.t, len(jobs))
	slots := semaphore.NewWeighted(int64(b.jobs))
	room := semaphore.NewWeighted(max(memory, 1))
	var group sync.WaitGroup
	for i, task := range jobs {
		needs := task.Needs()
		out[i] = configs.Record{Job: task.Name, Identity: task.Identity, Status: configs.Cancelled,
			Error: "interrupted before it began: nothing is spent"}
		need := int64(needs.MemoryBytes)
		if memory == 0 {
			need = 0
		} else if need > memory {
			out[i].Status = configs.Failed
			out[i].Error = fmt.Sprintf("its forecast of %s for %s is above the memory limit of %s; "+
				"nothing is spent", spelling.Size(need), needs.RowsText("rows:"), spelling.Size(memory))
			shown.done(i, out[i])
			continue
		}
		if slots.Acquire(ctx, 1) != nil {
			continue
		}
		if room.Acquire(ctx, need) != nil {
			slots.Release(1)
			continue
		}
		group.Go(func() {
			defer slots.Release(1)
			defer room.Release(need)
			out[i] = w.Do(ctx, task, shown.of(task.Name))
			shown.done(i, out[i])
		})
	}
	group.Wait()
	shown.finish()
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
	Calls    int           `json:"calls" head:"CALLS"`
	Noise    string        `json:"noise" head:"NOISE"` // of the first measurement
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
	now    *ledger.Ledger
}

// accounts are the ledgers of some jobs, as far as they can be read, and what those that pay ask
// for.
func accounts(jobs []*configs.Task, pays func(*configs.Task) bool) (out []account, err error) {
	for _, task := range jobs {
		if task.Ledger == nil || !pays(task) {
			continue
		}
		at := slices.IndexFunc(out, func(a account) bool { return a.Ledger == task.Ledger.Path() })
		if at < 0 {
			l, err := task.Ledger.Read()
			if err != nil {
				return out, err
			}
			at = len(out)
			out = append(out, account{Ledger: task.Ledger.Path(), Spent: budget(l.Spent()),
				Limit: "none", now: l})
			if limit, ok := l.LimitInForce(); ok {
				out[at].Limit = configs.LimitText(limit)
			}
		}
		out[at].Jobs++
		out[at].Total.Epsilon += task.Epsilon
		out[at].Total.Delta += task.Delta
	}
	return out, nil
}

// showPlans prints the plan of a batch.
func (b *batch) showPlans(memory int64) error {
	var out batchPlan
	for i, task := range b.work {
		n := task.Needs()
		line := plannedJob{i, task.Name, task.Method, sixDigits(task.Epsilon), sixDigits(task.Delta),
			callsOf(n.Forecast), "-", fmt.Sprint(n.Rows), n, task.Out}
		if n.Assumed {
			line.RowsText += " assumed"
		}
		at := slices.IndexFunc(n.Forecast.Noise, func(x synth.Noise) bool { return x.Sigma > 0 })
		if at >= 0 {
			x := n.Forecast.Noise[at]
			line.Noise = fmt.Sprintf("%s rows (%s)", short3(x.Sigma), x.What)
		}
		out.Jobs.items = append(out.Jobs.items, line)
	}
	var err error
	out.Ledgers.items, err = accounts(b.work, func(*configs.Task) bool { return true })
	if err == nil {
		err = b.t.print(out)
	}
	if err != nil {
		return err
	}
	limits := fmt.Sprintf("%d at a time", b.jobs)
	if memory > 0 {
		limits += ", at most " + spelling.Size(memory) + " together"
	}
	b.t.say("%s, %s; nothing was read; the forecasts go by the rows that a job says ('rows:'), not "+
		"by any file", plural(len(b.work), "job", "jobs"), limits)
	return nil
}

// warnTotals says at once which ledger will refuse the last jobs. Of one that cannot be read each
// job will tell.
func (b *batch) warnTotals(w *configs.Worker) {
	all, _ := accounts(b.selected(), w.Pays)
	for _, a := range all {
		limit, ok := a.now.LimitInForce()
		if !ok {
			continue
		}
		if runs := len(a.now.Runs()); limit.MostRuns > 0 && runs+a.Jobs > limit.MostRuns {
			b.t.say("ledger: %s takes at most %d runs and has %d: it will refuse the last of %s", a.Ledger,
				limit.MostRuns, runs, plural(a.Jobs, "job", "jobs"))
		}
		if limit.Rule == ledger.RuleBasic &&
			(a.Total.Epsilon > (limit.Budget.Epsilon-a.Spent.Epsilon)*(1+1e-12) ||
				a.Total.Delta > (limit.Budget.Delta-a.Spent.Delta)*(1+1e-12)) {
			b.t.say("ledger: %s cannot pay for all: %s ask for %v, %v of %v is spent", a.Ledger,
				plural(a.Jobs, "job", "jobs"), a.Total, a.Spent, budget(*limit.Budget))
		}
	}
}

// batchProgress is the one display of all jobs.
type batchProgress struct {
	t       *terminal
	shown   *progress
	mu      sync.Mutex
	running map[string]float64
	ended   int
	jobs    int
	failing int
	earlier int                    // done by an earlier process
	ends    map[int]configs.Record // that are not said yet, by number of the job
	said    int                    // jobs
}

func newBatchProgress(t *terminal, jobs int) *batchProgress {
	// On a terminal there is a bar; else the ends of the jobs are lines enough.
	return &batchProgress{t: t, shown: t.privateProgress(), jobs: jobs,
		running: map[string]float64{}, ends: map[int]configs.Record{}}
}

// of is the progress of one job.
func (p *batchProgress) of(name string) synth.Progress {
	return func(_ string, fraction float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running[name] = min(max(fraction, 0), 1)
		sum := float64(p.ended)
		for _, f := range p.running {
			sum += f
		}
		stage := fmt.Sprintf("%d of %d jobs, %d running", p.ended, p.jobs, len(p.running))
		if p.failing > 0 {
			stage += fmt.Sprintf(", %d not done", p.failing)
		}
		p.shown.report(stage, sum/float64(p.jobs))
	}
}

// done is the end of job number i. The ends are said in the order of the jobs: which of two ends
// first depends on their rows.
func (p *batchProgress) done(i int, r configs.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, r.Job)
	p.ended++
	if r.Status != configs.Done {
		p.failing++
	}
	p.ends[i] = r
	for ; ; p.said++ {
		next, ended := p.ends[p.said]
		if !ended {
			return
		}
		p.say(next)
		delete(p.ends, p.said)
	}
}

func (p *batchProgress) say(r configs.Record) {
	switch {
	case r.Earlier:
		p.earlier++
	case r.Status == configs.Done:
		p.t.say("done: %s", r.Job)
	default:
		p.t.say("%s: %s: %s", r.Status, r.Job, r.Error)
	}
}

func (p *batchProgress) finish() {
	for _, i := range slices.Sorted(maps.Keys(p.ends)) { // behind one that never began
		p.say(p.ends[i])
	}
	if p.earlier > 0 {
		p.t.say("done before: %s", plural(p.earlier, "job", "jobs"))
	}
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
	f, err := configs.Create("--results", b.results, nil, unprotectedMode, true)
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
