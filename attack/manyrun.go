package attack

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/table"
)

// MinRuns is the fewest runs that [ManyRun] (a side) and [LTU] accept.
const MinRuns = 20

// Options of an audit. The zero value is usable.
type Options struct {
	// on each of the two tables, pilot included, default 400; of LTU, rounds, default 100; at least
	// MinRuns
	Runs       int
	Confidence float64              // of all bounds together, in (0, 1); default .95
	Workers    int                  // runs at a time; default GOMAXPROCS
	Progress   func(done, runs int) // may be nil; called from several goroutines

	pilot float64 // share of the runs; default a quarter
}

// fill checks the options and puts the defaults in.
func (o *Options) fill(runs int) error {
	if o.Runs == 0 {
		o.Runs = runs
	}
	if o.Confidence == 0 {
		o.Confidence = .95
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.pilot == 0 {
		o.pilot = .25
	}
	if o.Runs < MinRuns {
		return fmt.Errorf("attack: %d runs are too few: at least %d", o.Runs, MinRuns)
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return fmt.Errorf("attack: confidence %v must be in (0, 1)", o.Confidence)
	}
	return nil
}

// Event is one event that was counted on both tables.
type Event struct {
	Threshold float64 `json:"threshold"` // the event is that the score exceeds it
	// runs on the table without the target in which it happened
	Out   int   `json:"out"`
	In    int   `json:"in"`     // runs on the table with it
	Rates Rates `json:"bounds"` // that hold at the confidence of the whole audit
}

// Result is what an audit found. All lower bounds hold together at the stated confidence.
type Result struct {
	Mechanism  string  `json:"mechanism"`
	Tables     string  `json:"tables"`
	Runs       int     `json:"runs"`  // a side, pilot included
	Pilot      int     `json:"pilot"` // of them, spent on choosing the events
	Confidence float64 `json:"confidence"`
	Epsilon    float64 `json:"epsilon_lower"` // ε at the claim's δ, whatever the mechanism
	Ceiling    float64 `json:"epsilon_ceiling"`
	// the largest μ at which μ-Gaussian DP is refuted
	Mu float64 `json:"mu_lower"`
	// ε at the claim's δ of that μ: a bound for Gaussian mechanisms, for others an indication
	Gaussian float64 `json:"epsilon_lower_gaussian"`
	AUROC    float64 `json:"auroc"` // of the score
	// true positives at 1 % false ones, as counted
	TPR     float64  `json:"tpr_at_1pct_fpr"`
	Events  []Event  `json:"events"`
	Broken  *Break   `json:"broken"` // the point of the claim that is refuted, or null
	Refuted bool     `json:"refuted"`
	_       struct{} // keyed literals only
}

// ManyRun audits a mechanism on a pair of neighbouring tables.
//
// A quarter of the runs is a pilot, on Out and on Strong: it learns a linear score and picks two
// events, one for ε and one for μ. The others run on Out and on In and count how often each event
// happens. Of each event both rates are bounded by Clopper and Pearson at a tail of (1 −
// confidence)/4, so that all four bounds hold together, and everything in the result follows from
// them.
//
// Errors: options out of range, those of the mechanism, ctx's.
func ManyRun(ctx context.Context, m Mechanism, p *Pair, o Options) (Result, error) {
	r := Result{Mechanism: m.Name, Tables: p.Name}
	if err := o.fill(400); err != nil {
		return r, err
	}
	r.Runs, r.Pilot, r.Confidence = o.Runs, max(int(o.pilot*float64(o.Runs)), 8), o.Confidence
	pilot, err := o.run(ctx, m, 0, []batch{{p.Out, r.Pilot}, {p.Strong, r.Pilot}})
	if err != nil {
		return r, err
	}
	d := learn(pilot[0], pilot[1], p.Strength)
	n := o.Runs - r.Pilot
	tail := (1 - o.Confidence) / 4
	at := d.thresholds(n, tail, m.Claim.Budget.Delta)
	runs, err := o.run(ctx, m, 2*r.Pilot, []batch{{p.Out, n}, {p.In, n}})
	if err != nil {
		return r, err
	}
	scores := make([]float64, 0, 2*n)
	labels := make([]bool, 0, 2*n)
	for side, features := range runs {
		for _, x := range features {
			scores = append(scores, d.score(x))
			labels = append(labels, side == 1)
		}
	}
	for _, t := range at {
		r.Events = append(r.Events, count(scores, labels, t, tail))
	}
	r.Ceiling = Ceiling(n, tail, m.Claim.Budget.Delta)
	return r.conclude(m.Claim, scores, labels)
}

// count counts the event "score > t" and bounds its rates.
func count(scores []float64, labels []bool, t, tail float64) Event {
	e := Event{Threshold: t}
	n := [2]int{}
	for i, s := range scores {
		switch {
		case labels[i]:
			n[1]++
			if s > t {
				e.In++
			}
		default:
			n[0]++
			if s > t {
				e.Out++
			}
		}
	}
	_, e.Rates.Out = clopperPearson(e.Out, n[0], tail)
	e.Rates.In, _ = clopperPearson(e.In, n[1], tail)
	return e
}

// conclude derives everything from the counted events.
func (r Result) conclude(c Claim, scores []float64, labels []bool) (Result, error) {
	for _, e := range r.Events {
		r.Epsilon = max(r.Epsilon, e.Rates.Epsilon(c.Budget.Delta))
		r.Mu = max(r.Mu, e.Rates.Mu())
		if b := c.Broken(e.Rates); b != nil &&
			(r.Broken == nil || b.Shown-b.Claimed > r.Broken.Shown-r.Broken.Claimed) {
			r.Broken = b
		}
	}
	r.Refuted = r.Broken != nil
	if c.Budget.Delta > 0 {
		r.Gaussian = accountant.GDPEpsilon(r.Mu, c.Budget.Delta)
	}
	var err error
	if r.AUROC, err = eval.AUROC(scores, labels); err != nil {
		return r, err
	}
	r.TPR = tprAt(scores, labels, .01)
	return r, nil
}

// tprAt is the share of positives that score above the lowest threshold which at most a share fpr
// of the negatives exceeds. It panics unless labels has one element a score, and is NaN without
// positives or without negatives.
func tprAt(scores []float64, labels []bool, fpr float64) float64 {
	if len(scores) != len(labels) {
		panic(fmt.Sprintf("attack: %d scores, %d labels", len(scores), len(labels)))
	}
	var negatives []float64
	for i, s := range scores {
		if !labels[i] {
			negatives = append(negatives, s)
		}
	}
	if len(negatives) == 0 {
		return math.NaN()
	}
	slices.Sort(negatives)
	threshold := math.Inf(-1)
	if allowed := int(fpr * float64(len(negatives))); allowed < len(negatives) {
		threshold = negatives[len(negatives)-1-allowed]
	}
	hits := 0
	for i, s := range scores {
		if labels[i] && s > threshold {
			hits++
		}
	}
	return float64(hits) / float64(len(scores)-len(negatives))
}

// batch is a number of runs on one table.
type batch struct {
	table *table.Table
	runs  int
}

// run runs the mechanism on all batches, several at a time, and returns the features of each. The
// runs of the batches take turns, so that what changes with time changes for all.
func (o Options) run(
	ctx context.Context, m Mechanism, before int, batches []batch,
) ([][][]float64, error) {
	out := make([][][]float64, len(batches))
	type job struct{ batch, run int }
	var jobs []job
	for b, bt := range batches {
		out[b] = make([][]float64, bt.runs)
	}
	for i := range maxRuns(batches) {
		for b, bt := range batches {
			if i < bt.runs {
				jobs = append(jobs, job{b, i})
			}
		}
	}
	err := o.each(ctx, len(jobs), func(ctx context.Context, i int) error {
		x, err := m.Run(ctx, batches[jobs[i].batch].table)
		out[jobs[i].batch][jobs[i].run] = x
		return err
	}, func(done int) { o.progress(before+done, 2*o.Runs) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

func maxRuns(batches []batch) (n int) {
	for _, b := range batches {
		n = max(n, b.runs)
	}
	return n
}

func (o Options) progress(done, runs int) {
	if o.Progress != nil {
		o.Progress(done, runs)
	}
}

// each calls do for 0 to n−1, several at a time, until one fails or ctx ends, and finished after
// each.
func (o Options) each(
	ctx context.Context, n int, do func(ctx context.Context, i int) error, finished func(done int),
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(o.Workers, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
				finished(int(done.Add(1)))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
