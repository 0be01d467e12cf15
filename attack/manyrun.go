package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

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
	Runs int
	// of Shadow: of the table of a run, drawn from the reference without replacement; default half
	// of the reference
	Rows     int
	Canaries int // of OneRun: default 1000, at least 20
	// of OneRun: made on the canaries with the most telling scores; default a tenth of the canaries
	Guesses    int
	Confidence float64              // of all bounds together, in (0, 1); default .95
	Workers    int                  // runs at a time; default GOMAXPROCS
	Progress   func(done, runs int) // may be nil; called from several goroutines

	pilot float64 // share of the runs; default a quarter
}

// fill checks the options and puts the defaults in.
func (o *Options) fill(runs int) error {
	o.Runs, o.Confidence = cmp.Or(o.Runs, runs), cmp.Or(o.Confidence, .95)
	o.Workers, o.pilot = cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), cmp.Or(o.pilot, .25)
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if o.Runs < MinRuns {
		return fmt.Errorf("attack: %d runs are too few: at least %d", o.Runs, MinRuns)
	}
	return checkConfidence(o.Confidence)
}

func checkConfidence(x float64) error {
	if !(x > 0 && x < 1) {
		return fmt.Errorf("attack: confidence %v must be in (0, 1)", x)
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

// Result is what an attack found. All lower bounds hold together at the stated confidence.
type Result struct {
	Mechanism  string  `json:"mechanism"`
	Confidence float64 `json:"confidence"`
	Epsilon    float64 `json:"epsilon_lower"` // ε at the claim's δ, whatever the mechanism
	Ceiling    float64 `json:"epsilon_ceiling"`
	Refuted    bool    `json:"refuted"`
	AUROC      float64 `json:"auroc,omitempty"` // of the score
	// true positives at 1 % false ones, as counted
	TPR float64 `json:"tpr_at_1pct_fpr,omitempty"`

	// of runs on two tables
	Tables string `json:"tables,omitempty"`
	Runs   int    `json:"runs,omitempty"`  // a side, pilot included
	Pilot  int    `json:"pilot,omitempty"` // of them, spent on choosing the events
	// the largest μ at which μ-Gaussian DP is refuted
	Mu float64 `json:"mu_lower,omitempty"`
	// ε at the claim's δ of that μ: a bound for Gaussian mechanisms, for others an indication
	Gaussian float64 `json:"epsilon_lower_gaussian,omitempty"`
	Events   []Event `json:"events,omitempty"`
	Broken   *Break  `json:"broken,omitempty"` // the point of the claim that is refuted

	Guessed *accuracy `json:"guessed,omitempty"` // of the others
	_       struct{}  // keyed literals only
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
	pilot, err := o.run(ctx, m, 0, r.Pilot, p.Out, p.Strong)
	if err != nil {
		return r, err
	}
	d := learn(pilot[0], pilot[1], p.Strength)
	n := o.Runs - r.Pilot
	tail := (1 - o.Confidence) / 4
	at := d.thresholds(n, tail, m.Claim.Budget.Delta)
	runs, err := o.run(ctx, m, 2*r.Pilot, n, p.Out, p.In)
	if err != nil {
		return r, err
	}
	out, in := d.scores(runs[0]), d.scores(runs[1])
	for _, t := range at {
		above := func(s float64) bool { return s > t }
		e := Event{Threshold: t, Out: floats.Count(above, out), In: floats.Count(above, in)}
		_, e.Rates.Out = clopperPearson(e.Out, n, tail)
		e.Rates.In, _ = clopperPearson(e.In, n, tail)
		r.Events = append(r.Events, e)
	}
	r.Ceiling = Ceiling(n, tail, m.Claim.Budget.Delta)
	return r.conclude(m.Claim, out, in)
}

// conclude derives everything from the counted events.
func (r Result) conclude(c Claim, out, in []float64) (Result, error) {
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
	return r, r.score(out, in)
}

// score says how well scores tell two sides apart.
func (r *Result) score(out, in []float64) (err error) {
	labels := slices.Concat(make([]bool, len(out)), slices.Repeat([]bool{true}, len(in)))
	r.TPR = tprAt(out, in, .01)
	r.AUROC, err = eval.AUROC(slices.Concat(out, in), labels)
	return err
}

// tprAt is the share of scores of the one side that are above the lowest threshold which at most a
// share fpr of those of the other exceeds. It is NaN without scores of one side.
func tprAt(out, in []float64, fpr float64) float64 {
	if len(out) == 0 {
		return math.NaN()
	}
	threshold := math.Inf(-1)
	if allowed := int(fpr * float64(len(out))); allowed < len(out) {
		threshold = slices.Sorted(slices.Values(out))[len(out)-1-allowed]
	}
	hits := floats.Count(func(s float64) bool { return s > threshold }, in)
	return float64(hits) / float64(len(in))
}

// run runs the mechanism on each table, several at a time, and returns the features of each. The
// tables take turns, so that what changes with time changes for all.
func (o Options) run(
	ctx context.Context, m Mechanism, before, runs int, tables ...*table.Table,
) ([][][]float64, error) {
	out := make([][][]float64, len(tables))
	for k := range out {
		out[k] = make([][]float64, runs)
	}
	n := len(tables)
	err := o.each(ctx, n*runs, func(ctx context.Context, i int) (err error) {
		out[i%n][i/n], err = m.Run(ctx, tables[i%n])
		return err
	}, func(done int) { o.Progress(before+done, 2*o.Runs) })
	return out, err
}

// each calls do for 0 to n−1, several at a time, until one fails or ctx ends, and finished after
// each.
func (o Options) each(
	ctx context.Context, n int, do func(ctx context.Context, i int) error, finished func(done int),
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Workers)
	var done atomic.Int64
	for i := range n {
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = do(ctx, i)
			}
			if err != nil {
				return err
			}
			finished(int(done.Add(1)))
			return nil
		})
	}
	return group.Wait()
}
