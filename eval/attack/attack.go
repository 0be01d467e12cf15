// Package attack tries to prove privacy claims wrong: audits that turn runs of a method into a
// lower bound on its ε, and membership attacks against methods and synthetic tables.
//
// A guarantee of differential privacy is a statement about every pair of neighbouring tables and
// every event. No number of runs proves it; one pair of tables and one event, counted often enough,
// can refute it. Everything here has that one direction: a bound above the claim refutes the claim
// at the stated confidence, a bound below it proves nothing.
//
// There are two games, and one [Result]. [ManyRun] asks which of two tables a [Mechanism] ran on:
// [neighbours] builds worst-case ones from a public schema; [Method] and [Gate] are the mechanisms.
// [Rows] asks of every row of a table whether a [Subject] was fitted to it: a synthetic table, or a
// classifier, private or not.
//
// The package runs methods on tables that it builds, or that the caller passes as a table.Table:
// the attacks look at rows without protection. What they find of private rows is for whoever holds
// them, and no one else.
//
// Every confidence bound here is exact or conservative at every number of runs: binomial bounds are
// those of Clopper and Pearson, and what is looked at more than once is paid for by Bonferroni's
// inequality. Only what is named Gaussian assumes more.
package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// MinRuns is the fewest runs that [ManyRun] (a side) and [Rows] accept.
const MinRuns = 20

// Options of an attack. The zero value is usable.
type Options struct {
	// on each of the two tables, pilot included, default 400; of Rows, fits, default 64; at least
	// MinRuns
	Runs       int
	Canaries   int                  // of Rows: planted random rows, made even; 0: none
	Seed       uint64               // of Rows: public, decides all draws but those of noise
	Confidence float64              // of all bounds together, in (0, 1); default .95
	Progress   func(done, runs int) // may be nil; called from several goroutines

	workers int // runs at a time; default GOMAXPROCS
}

// fill checks the options and puts the defaults in.
func (o *Options) fill(runs int) error {
	o.Runs, o.Confidence = cmp.Or(o.Runs, runs), cmp.Or(o.Confidence, .95)
	o.workers = cmp.Or(o.workers, runtime.GOMAXPROCS(0))
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	switch {
	case o.Runs < MinRuns:
		return fmt.Errorf("%d runs are too few: at least %d", o.Runs, MinRuns)
	case o.Canaries < 0:
		return fmt.Errorf("%d canaries are too few: at least 0", o.Canaries)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("confidence %v must be in (0, 1)", o.Confidence)
	}
	return nil
}

// each calls do for 0 to n−1, several at a time, until one fails or ctx ends. The runs are those
// after so many of all.
func (o Options) each(
	ctx context.Context, n, before, all int, do func(ctx context.Context, i int) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.workers)
	var done atomic.Int64
	for i := range n {
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = do(ctx, i)
			}
			if err == nil {
				o.Progress(before+int(done.Add(1)), all)
			}
			return err
		})
	}
	return group.Wait()
}

// Result is what an attack found. All lower bounds hold together at the stated confidence.
type Result struct {
	Mechanism  string  `json:"mechanism"`
	Attack     string  `json:"attack,omitempty"` // of Rows
	Confidence float64 `json:"confidence,omitempty"`
	Epsilon    float64 `json:"epsilon_lower"` // ε at the claim's δ, whatever the mechanism
	Ceiling    float64 `json:"epsilon_ceiling"`
	Refuted    bool    `json:"refuted"`
	AUROC      float64 `json:"auroc,omitempty"` // of the score
	// true positives at few false ones, as counted, and corners of the whole ROC curve of Rows: shares
	// of false and of true positives
	Found []found      `json:"found,omitempty"`
	Curve [][2]float64 `json:"roc,omitempty"`

	// of runs on two tables
	Tables string `json:"tables,omitempty"`
	Runs   int    `json:"runs,omitempty"`  // a side, pilot included
	Pilot  int    `json:"pilot,omitempty"` // of them, spent on choosing the events
	// the largest μ at which μ-Gaussian DP is refuted
	Mu float64 `json:"mu_lower,omitempty"`
	// ε at the claim's δ of that μ: a bound for Gaussian mechanisms, for others an indication
	Gaussian float64 `json:"epsilon_lower_gaussian,omitempty"`
	Events   []event `json:"events,omitempty"`
	Broken   *Break  `json:"broken,omitempty"` // the point of the claim that is refuted

	Guessed  *accuracy  `json:"guessed,omitempty"`   // of Rows
	Planted  *planted   `json:"planted,omitempty"`   // of exposure
	Inverted []inverted `json:"inversion,omitempty"` // of inversion
	_        struct{}   // keyed literals only
}

// rate is a share as counted, with an interval of Clopper and Pearson, two-sided.
type rate struct {
	Count int     `json:"count"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func rateOf(count, of int, confidence float64) rate {
	low, high := clopperPearson(count, of, (1-confidence)/2)
	return rate{count, of, float64(count) / float64(of), low, high}
}

// BestOf is the same share, with an interval that holds for the best of so many at confidence c.
func (r rate) BestOf(n int, c float64) rate { return rateOf(r.Count, r.Of, 1-(1-c)/float64(n)) }

// found is what a test finds that exceeds a threshold in at most a share At of what is out.
type found struct {
	At    float64 `json:"at"`
	False rate    `json:"false_positives"`
	True  rate    `json:"true_positives"`
	Limit float64 `json:"claim_allows"` // of true positives: e^ε times the false ones, and δ
}

// planted are random rows that were planted, and how far a fit has memorised them, in bits.
type planted struct {
	Rows int      `json:"rows"`
	In   measured `json:"exposure_in"`
	Out  measured `json:"exposure_out"`
	Most float64  `json:"exposure_most"` // of a row that nothing exceeds
}

// measured is a mean with its standard error.
type measured struct {
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"standard_error"`
}

// inverted says how often a column was guessed from the others, of rows in and of rows out.
type inverted struct {
	Column    string  `json:"column"`
	In        rate    `json:"in"`
	Out       rate    `json:"out"`
	Commonest float64 `json:"commonest"` // share of its commonest value
}

// event is one event that was counted on both tables.
type event struct {
	Threshold float64 `json:"threshold"` // the event is that the score exceeds it
	// runs on the table without the target in which it happened
	Out   int   `json:"out"`
	In    int   `json:"in"`     // runs on the table with it
	Rates rates `json:"bounds"` // that hold at the confidence of the whole audit
}

// accuracy is what guesses say of an attacker.
type accuracy struct {
	guesses
	Share float64 `json:"accuracy"` // of the guesses that were right
	// the most that the claim allows of one guess: e^ε/(1 + e^ε) + δ
	Limit float64 `json:"accuracy_claimed"`
}

// guessed is the result of guesses about a mechanism with a claim.
func guessed(mechanism string, g guesses, b accountant.Budget, confidence float64) Result {
	best := g
	best.Right = best.Made
	r := Result{Mechanism: mechanism, Confidence: confidence,
		Epsilon: g.Epsilon(b.Delta, 1-confidence), Ceiling: best.Epsilon(b.Delta, 1-confidence),
		Guessed: &accuracy{guesses: g, Share: float64(g.Right) / float64(g.Made),
			Limit: min(1, 1/(1+math.Exp(-b.Epsilon))+b.Delta)}}
	r.Refuted = r.Epsilon > b.Epsilon
	return r
}

// score says how well scores tell two sides apart.
func (r *Result) score(out, in []float64, confidence float64, b accountant.Budget) (err error) {
	labels := slices.Concat(make([]bool, len(out)), slices.Repeat([]bool{true}, len(in)))
	slices.Sort(out)
	for _, at := range []float64{.001, .01} {
		f, t := exceeding(out, in, int(at*float64(len(out))))
		r.Found = append(r.Found, found{At: at, False: rateOf(f, len(out), confidence),
			True: rateOf(t, len(in), confidence), Limit: min(1, math.Exp(b.Epsilon)*at+b.Delta)})
	}
	r.AUROC, err = eval.AUROC(slices.Concat(out, in), labels)
	return err
}

// exceeding is how many of both are above the lowest threshold that at most so many of out, which
// are sorted, exceed.
func exceeding(out, in []float64, allowed int) (falsely, truly int) {
	threshold := math.Inf(-1)
	if allowed < len(out) {
		threshold = out[len(out)-1-allowed]
	}
	above := func(s float64) bool { return s > threshold }
	return floats.Count(above, out), floats.Count(above, in)
}

// curve are points of an ROC curve, evenly spaced on a log scale of false positives. out is sorted.
func curve(out, in []float64) (corners [][2]float64) {
	const points = 60
	for i := range points + 1 {
		n := int(math.Pow(float64(len(out)), float64(i)/points) + 1e-9)
		f, t := exceeding(out, in, n)
		corners = append(corners, [2]float64{float64(f) / float64(len(out)),
			float64(t) / float64(len(in))})
	}
	return slices.Compact(corners)
}

// Mechanism is what an audit runs: anything that reads a table and releases something, with the
// claim made for it. Run is called from several goroutines.
type Mechanism struct {
	Name  string
	Claim Claim
	// Run runs it once on a table and returns what an auditor computes from the release: a number
	// of features that is the same in every run.
	Run func(ctx context.Context, t *table.Table) ([]float64, error)
}

// method is a method of package synth that has been planned once, for all runs.
type method struct {
	name  string
	nb    privacy.Neighbours
	claim Claim
	noise float64 // the widest: a standard deviation
	// fit runs it once and returns the parameters that it would write to a model file
	fit func(ctx context.Context, t *table.Table) (release.Params, error)
}

func newMethod(
	f synth.Fitter, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget,
) (*method, error) {
	m := &method{name: f.Name(), nb: privacy.NeighboursOf(s, adj)}
	plan, err := synth.NewPlan(f, schema.One(s), m.nb, b)
	if err != nil {
		return nil, err
	}
	for _, n := range plan.Forecast(0).Noise {
		m.noise = max(m.noise, n.Sigma)
	}
	o := privacy.Options{Budget: b, Plan: plan.Reserve, Adjacency: m.nb.Adjacency, Method: m.name,
		Price: plan.Price}
	m.fit = func(ctx context.Context, t *table.Table) (release.Params, error) {
		model, err := asked(ctx, t, o, func(s *privacy.Session) (synth.Model, error) {
			return plan.Fit(ctx, s, nil)
		})
		return model.Params, err
	}
	m.claim, err = ClaimOf(b, m.nb.Adjacency, plan.Reserve)
	return m, err
}

// asked is a run on a table, and what it asks.
func asked[R any](
	ctx context.Context, t *table.Table, o privacy.Options, ask func(*privacy.Session) (R, error),
) (R, error) {
	o.Tool = "audit"
	out, _, err := release.Run(ctx, privacy.Open, privacy.FromTable(t), o, ask, nil)
	if err != nil {
		return out, fmt.Errorf("%s: %w", o.Method, err)
	}
	return out, nil
}

// attackable checks a table whose rows are attacked: it must have so many rows at least,
// no id column, and codes that a run does not change.
func attackable(t *table.Table, rows int) error {
	switch s := t.Schema(); {
	case t.Rows() < rows || s.Unit != "":
		return fmt.Errorf("a table of %d rows must have at least %d and no id column", t.Rows(),
			rows)
	case len(s.Buys()) > 0:
		return errors.New("a schema that buys its bins (bins: dp) has no codes before a run: " +
			"give it bins for this attack")
	}
	return nil
}

// Method is a method of package synth on neighbours of a shape, with the claim of its plan. The
// tables are large enough for counts to be well above the planned noise: of rows rows, or of 40
// standard deviations of the widest noise, from 400 to 20 000, if rows is 0.
func Method(
	f synth.Fitter, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget, shape string,
	rows int,
) (Mechanism, *Pair, error) {
	m, err := newMethod(f, s, adj, b)
	if err != nil {
		return Mechanism{}, nil, err
	}
	rows = cmp.Or(rows, int(min(max(400, math.Ceil(40*m.noise)), 20_000)))
	pair, err := neighbours(s, adj, shape, rows)
	return Mechanism{Name: m.name, Claim: m.claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			params, err := m.fit(ctx, t)
			if err != nil {
				return nil, err
			}
			return view(params, pair.Target, pair.Corner)
		}}, pair, err
}

// canary is a row that a coin puts in or not, with the attacker's score of it.
type canary struct {
	in    bool
	score float64
}

// right counts the right guesses about those canaries whose score is farthest from the median: in
// above it, out below it.
func right(canaries []canary, made int) (n int) {
	sorted := slices.SortedFunc(slices.Values(canaries),
		func(a, b canary) int { return cmp.Compare(a.score, b.score) })
	median := sorted[len(sorted)/2].score
	slices.SortStableFunc(sorted, func(a, b canary) int {
		return cmp.Compare(math.Abs(b.score-median), math.Abs(a.score-median))
	})
	for _, c := range sorted[:made] {
		if (c.score > median) == c.in {
			n++
		}
	}
	return n
}
