package main

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/synth"
)

// batchPlan is what a batch would do and cost.
type batchPlan struct {
	Jobs    listing[plannedJob]    `json:"jobs"`
	Ledgers listing[plannedLedger] `json:"ledgers"`
}

type plannedJob struct {
	Job     string        `json:"job"`
	Method  string        `json:"method"`
	Epsilon float64       `json:"epsilon"`
	Delta   float64       `json:"delta"`
	Calls   int           `json:"calls"`
	Noise   string        `json:"noise"` // of the first measurement
	Needs   configs.Needs `json:"needs"`
	Out     string        `json:"out"`
	number  int
}

type plannedLedger struct {
	Ledger string            `json:"ledger"`
	Jobs   int               `json:"jobs"`
	Total  accountant.Budget `json:"total"` // what the jobs ask for
	Spent  accountant.Budget `json:"spent"`
	Limit  string            `json:"limit"`
}

func (p batchPlan) text(w io.Writer) {
	p.Jobs.text(w)
	fmt.Fprintln(w)
	p.Ledgers.text(w)
}

// showPlans prints the plan of a batch.
func (b *batch) showPlans(memory int64) error {
	out := batchPlan{
		listing[plannedJob]{head: "K\tJOB\tMETHOD\tEPSILON\tDELTA\tCALLS\tNOISE\tROWS\tMEMORY\tTIME\tOUT",
			line: func(p plannedJob) string {
				rows := fmt.Sprint(p.Needs.Rows)
				if p.Needs.Assumed {
					rows += " assumed"
				}
				return row(p.number, p.Job, p.Method, configs.Short(p.Epsilon), configs.Short(p.Delta), p.Calls,
					p.Noise, rows, spelling.Size(p.Needs.MemoryBytes), spelling.Time(p.Needs.Seconds), p.Out)
			}},
		listing[plannedLedger]{head: "LEDGER\tJOBS\tTOTAL\tSPENT NOW\tLIMIT",
			line: func(p plannedLedger) string {
				return row(p.Ledger, p.Jobs, configs.BudgetText(p.Total), configs.BudgetText(p.Spent), p.Limit)
			}}}
	for i, task := range b.work {
		n := task.Needs()
		noise := "-"
		forecast := task.Planned.Forecast(n.Rows)
		for _, x := range forecast.Noise {
			if x.Sigma > 0 {
				noise = fmt.Sprintf("%s rows (%s)", short3(x.Sigma), x.What)
				break
			}
		}
		out.Jobs.items = append(out.Jobs.items, plannedJob{task.Name, task.Method, task.Epsilon,
			task.Delta, callsOf(forecast), noise, n, task.Out, i})
	}
	for _, path := range b.order {
		total, n := b.total(b.work, path, func(*configs.Task) bool { return true })
		l, err := ledger.NewFile(path).Read()
		if err != nil {
			return err
		}
		limit := "none"
		if now, ok := l.LimitInForce(); ok {
			limit = configs.LimitText(now)
		} else if t := b.tables[path]; t.Limit != nil {
			limit = configs.BudgetText(accountant.Budget{Epsilon: t.Limit.Epsilon, Delta: t.Limit.Delta}) +
				" (to be set)"
		}
		out.Ledgers.items = append(out.Ledgers.items, plannedLedger{path, n, total, l.Spent(), limit})
	}
	if err := b.t.print(out); err != nil {
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

// total is what the jobs of a ledger ask for, of all that pass only.
func (b *batch) total(
	jobs []*configs.Task, path string, only func(*configs.Task) bool,
) (sum accountant.Budget, n int) {
	for _, task := range jobs {
		if task.Ledger != nil && task.Ledger.Path() == path && only(task) {
			sum.Epsilon += task.Epsilon
			sum.Delta += task.Delta
			n++
		}
	}
	return sum, n
}

// warnTotals says at once which ledger will refuse the last jobs.
func (b *batch) warnTotals(w *configs.Worker) {
	for _, path := range b.order {
		l, err := ledger.NewFile(path).Read()
		if err != nil {
			continue // each job will say so
		}
		limit, ok := l.LimitInForce()
		need, n := b.total(b.selected(), path, w.Pays)
		if runs := len(l.Runs()); ok && limit.MostRuns > 0 && runs+n > limit.MostRuns {
			b.t.say("ledger: %s takes at most %d runs and has %d: it will refuse the last of %s", path,
				limit.MostRuns, runs, plural(n, "job", "jobs"))
		}
		if !ok || limit.Rule != ledger.RuleBasic {
			continue
		}
		spent := l.Spent()
		if left := limit.Budget.Epsilon - spent.Epsilon; n > 0 &&
			(need.Epsilon > left*(1+1e-12) || need.Delta > (limit.Budget.Delta-spent.Delta)*(1+1e-12)) {
			b.t.say("ledger: %s cannot pay for all: %s ask for %s, %s of %s is spent", path,
				plural(n, "job", "jobs"), configs.BudgetText(need), configs.BudgetText(spent),
				configs.BudgetText(*limit.Budget))
		}
	}
}

// batchProgress is the one display of all jobs.
type batchProgress struct {
	t       *terminal
	shown   *progress
	mu      sync.Mutex
	of1     map[string]float64 // running jobs
	ended   int
	jobs    int
	failing int
	earlier int                    // done by an earlier process
	ends    map[int]configs.Record // that are not said yet, by number of the job
	said    int                    // jobs
}

func newBatchProgress(t *terminal, jobs int) *batchProgress {
	// On a terminal there is a bar; else the ends of the jobs are lines enough.
	p := &batchProgress{t: t, shown: t.privateProgress(), jobs: jobs}
	p.of1, p.ends = map[string]float64{}, map[int]configs.Record{}
	return p
}

// of is the progress of one job.
func (p *batchProgress) of(name string) synth.Progress {
	return func(_ string, fraction float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.of1[name] = min(max(fraction, 0), 1)
		sum := float64(p.ended)
		for _, f := range p.of1 {
			sum += f
		}
		stage := fmt.Sprintf("%d of %d jobs, %d running", p.ended, p.jobs, len(p.of1))
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
	delete(p.of1, r.Job)
	p.ended++
	if !r.Earlier && r.Status != configs.Done {
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
		return
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

// resultColumns begin the table of results; metrics follow.
var resultColumns = []string{"job", "input", "method", "epsilon", "delta", "status", "rows", "run",
	"out", "error"}

// writeResults writes the table of results as CSV and as a page.
func (b *batch) writeResults(state configs.State, records []configs.Record) error {
	header := slices.Clone(resultColumns)
	metrics := make([]map[string]string, len(records))
	for i, r := range records {
		metrics[i] = map[string]string{}
		if b.work[i].Evaluate == nil || r.Status != configs.Done {
			continue
		}
		for _, m := range readMetrics(state.Metrics(r.Identity)) {
			metrics[i][m[0]] = m[1]
			if !slices.Contains(header, m[0]) {
				header = append(header, m[0])
			}
		}
	}
	rows := make([][]string, len(records))
	for i, r := range records {
		task := b.work[i]
		input := task.Input
		if input == "" {
			input = task.Dataset
		}
		rows[i] = []string{r.Job, input, task.Method, configs.Short(task.Epsilon),
			configs.Short(task.Delta), r.Status, strconv.Itoa(r.Rows), r.Run, task.Out, r.Error}
		for _, name := range header[len(resultColumns):] {
			rows[i] = append(rows[i], metrics[i][name])
		}
	}
	err := writeUnprotected(b.results, func(w io.Writer) error {
		c := csv.NewWriter(w)
		c.Write(header)
		c.WriteAll(rows)
		return c.Error()
	})
	if err != nil {
		return err
	}
	page := resultsPageOf(b.results)
	err = writeUnprotected(page, func(w io.Writer) error {
		return resultsPage.Execute(w, struct {
			Name   string
			Header []string
			Rows   [][]string
		}{b.file.Name, header, rows})
	})
	if err == nil {
		b.t.say("wrote %s and %s, which hold errors and metrics of real rows: keep them as safe as the "+
			"tables", b.results, page)
	}
	return err
}

// resultsPageOf is the page beside a table of results.
func resultsPageOf(path string) string { return strings.TrimSuffix(path, ".csv") + ".html" }

// writeUnprotected writes a file of the batch that only who made it may read.
func writeUnprotected(path string, to func(io.Writer) error) error {
	f, err := configs.Create("--results", path, nil, unprotectedMode, true)
	if err != nil {
		return err
	}
	defer f.Abort()
	return f.Complete(to)
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

//go:embed batch.html
var resultsText string

var resultsPage = template.Must(template.New("results").Parse(resultsText))
