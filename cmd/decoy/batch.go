package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
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
	"github.com/decoy-dp/decoy/ledger/limit"
	"github.com/decoy-dp/decoy/privacy"
)

type batch struct {
	jobs, only                          int
	memory, interrupted, results, state string
	dryRun                              bool
	t                                   *terminal
	file                                *configs.Batch
	work                                []*configs.Task
	tables                              map[string]configs.Table // by ledger
	order                               []string                 // of the ledgers
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
	state, err := configs.OpenState(b.state)
	if err != nil {
		return err
	}
	if b.only < 0 {
		if err := state.ClaimResults(b.t.force, b.results, resultsPageOf(b.results)); err != nil {
			return err
		}
	}
	if err := b.setLimits(cmd.Context()); err != nil {
		return err
	}
	w := &configs.Worker{State: state, Tool: tool(), Day: time.Now(), Rerun: b.interrupted == "rerun",
		Force: b.t.force}
	b.warnTotals(w)
	signal.Ignore(syscall.SIGPIPE)
	records := b.runAll(cmd.Context(), w, memory)
	if b.only < 0 {
		if err := b.writeResults(state, records); err != nil {
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
	b.memory = cmp.Or(b.memory, b.file.Memory)
	b.interrupted = cmp.Or(b.interrupted, b.file.OnInterrupted, "stop")
	b.results = cmp.Or(b.results, b.file.Results, base+".results.csv")
	b.state = cmp.Or(b.state, base+".state")
	if !cmd.Flags().Changed("jobs") {
		b.jobs = cmp.Or(b.file.Parallel, runtime.GOMAXPROCS(0))
	}
	if memory, err = configs.ParseBytes(b.memory); err != nil {
		return 0, &configs.UsageError{Err: fmt.Errorf("--memory: %w", err)}
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
	if err := b.check(jobs); err != nil {
		return 0, err
	}
	if err := b.distinctFiles(path); err != nil {
		return 0, err
	}
	return memory, b.sortTables()
}

// check checks the jobs, several at a time. A plan takes a while, so that of a job which this
// process does not run is not made.
func (b *batch) check(jobs []configs.Job) error {
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
	for i, work := range b.work {
		if problems[i] == nil && identities[work.Identity] != "" {
			// Replicates differ by number only; so do single jobs that measure the same twice.
			problems[i] = fmt.Errorf("measures the same as job %s: %w", identities[work.Identity],
				configs.ErrConfig)
		}
		if problems[i] != nil {
			problems[i] = fmt.Errorf("job %s: %w", jobs[i].Name, problems[i])
			continue
		}
		identities[work.Identity] = work.Name
	}
	return errors.Join(problems...)
}

// distinctFiles refuses a batch that would write over a file that it reads, be it another job's, or
// write a file twice. It goes by names, with links followed: a batch has too many files to compare
// them in pairs.
func (b *batch) distinctFiles(path string) error {
	reads := map[string]configs.NamedPath{configs.Resolve(path): configs.At("the batch file", path)}
	writes := []configs.NamedPath{configs.At("--results", b.results),
		configs.At("the page of --results", resultsPageOf(b.results))}
	for _, task := range b.work {
		w, r := task.Files()
		writes = append(writes, w...)
		if task.Ledger != nil { // written too, by all jobs of its table
			r = append(r, configs.At(task.Name+"'s ledger", task.Ledger.Path()))
		}
		for _, p := range r {
			if p.Path != "" {
				reads[configs.Resolve(p.Path)] = p
			}
		}
	}
	for _, w := range writes {
		if w.Path == "" {
			continue
		}
		if other, ok := reads[configs.Resolve(w.Path)]; ok {
			return usagef("%s and %s are the same file: %s", w.Name, other.Name, w.Path)
		}
		reads[configs.Resolve(w.Path)] = w // nor is a file written twice
	}
	return nil
}

// sortTables finds the ledgers of the batch, and the table of each for its limit.
func (b *batch) sortTables() error {
	b.tables = map[string]configs.Table{}
	for _, w := range b.work {
		if w.Ledger != nil && !slices.Contains(b.order, w.Ledger.Path()) {
			b.order = append(b.order, w.Ledger.Path())
		}
	}
	for _, t := range b.file.Tables {
		ledger, err := configs.LedgerOf(cmp.Or(t.Ledger, b.file.Job.Ledger), t.Input)
		if err != nil {
			return err
		}
		if ledger == nil {
			continue
		}
		old, ok := b.tables[ledger.Path()]
		if ok && old.Limit != nil && t.Limit != nil && *old.Limit != *t.Limit {
			return usagef("tables %s and %s have other limits for one ledger: %s", old.Name, t.Name,
				ledger.Path())
		}
		if !ok || old.Limit == nil {
			b.tables[ledger.Path()] = t
		}
	}
	return nil
}

// selected are the jobs that this process carries out.
func (b *batch) selected() []*configs.Task {
	if b.only >= 0 {
		return b.work[b.only : b.only+1]
	}
	return b.work
}

// setLimits gives a ledger without a limit that of the batch file. One that has a limit keeps it: a
// batch file cannot loosen it.
func (b *batch) setLimits(ctx context.Context) error {
	for _, path := range b.order {
		table, ok := b.tables[path]
		if !ok || table.Limit == nil {
			continue
		}
		file := ledger.NewFile(path)
		l, err := file.Read()
		if err != nil {
			return err
		}
		wanted := limit.Limit{Budget: accountant.Budget{Epsilon: table.Limit.Epsilon,
			Delta: table.Limit.Delta},
			Rule: ledger.Rule(table.Limit.Rule), IfNone: true}
		if old, limited := l.LimitInForce(); limited {
			if *old.Budget != wanted.Budget {
				b.t.say("ledger: %s keeps its limit %s; 'decoy ledger limit' changes it", path,
					configs.LimitText(old))
			}
			continue
		}
		i := slices.IndexFunc(b.work, func(w *configs.Task) bool {
			return w.Ledger != nil && w.Ledger.Path() == path
		})
		w := b.work[i]
		nb := privacy.NeighboursOf(w.Domain, w.Relation())
		if err := limit.Set(ctx, file, nb.Units(w.Domain.Unit), wanted); err != nil {
			return err
		}
	}
	return nil
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
		need := needs.MemoryBytes
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
