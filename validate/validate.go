// Package validate computes a statistic of a private table by subsample-and-aggregate: does what a
// synthetic table shows hold on the real rows? The table is split at random into disjoint blocks,
// the statistic is computed on each, and what leaves is the mean of the results, with noise, and an
// interval.
package validate

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/blocks"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
)

// ErrStatistic is wrapped by every error about a statistic that cannot be computed, or a program
// that cannot be run.
var ErrStatistic = errors.New("it cannot be computed")

// Options of [Run].
type Options struct {
	privacy.Options           // without Plan, Method and Program, which are filled in
	Statistic       Statistic // required: of [Parse] or [Program]
	Blocks          int       // default: the number of rows over Statistic.Rows
	Rows            int       // number of rows, if that is public; 0: a part of the budget buys it
	// may be nil; called from several goroutines
	Progress func(stage string, fraction float64)
	// makes the result durable: the run is closed after it. May be nil
	Deliver func(*Result) error
}

// methodName is the name of such a run in the ledger.
const methodName = "validate"

// Result is public.
type Result struct {
	Format    int     `json:"decoy_validated"`
	Tool      string  `json:"tool,omitempty"`
	Statistic string  `json:"statistic"`
	Estimate  float64 `json:"estimate"`
	Low       float64 `json:"low"` // of an interval of 95 %
	High      float64 `json:"high"`
	// standard deviation of the estimate's noise; of a quantile, at most that of the share of rows
	// that are below it
	Noise  float64 `json:"noise"`
	Spread float64 `json:"spread"` // cautious standard deviation over blocks, or of values
	// 0: counted on all rows, without blocks
	Blocks int `json:"blocks"`
	// of a mean or a quantile: how far values are from the middles of their bins, at most. The
	// interval is of the middles
	Within float64 `json:"within_bins,omitempty"`
	Rows   float64 `json:"rows"` // noisy, unless public
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	release.Paid
	Run string `json:"run"` // its name in the ledger
	release.Proof
}

// The parts of μ² that buy the number of rows and, of what is left, the squares.
const (
	rowsShare   = .02
	squareShare = .1
)

// Run opens a session on the rows, splits them, computes the statistic on each block and returns
// the noisy mean. Errors before the reservation have spent nothing; the session is nil then.
func Run(
	ctx context.Context, rows *privacy.Rows, o Options,
) (*Result, *privacy.Session, error) {
	mu, err := calibrate.Mu(o.Budget)
	if err != nil {
		return nil, nil, err
	}
	o.Plan = accountant.Composition{{Event: accountant.GDPFilter{Mu: mu}, Count: 1}}
	o.Price, o.Method, o.Program = nil, methodName, o.Tool
	return release.Run(ctx, privacy.Open, rows, o.Options,
		func(s *privacy.Session) (*Result, error) {
			r, err := measure(ctx, s, mu, o)
			if err != nil {
				return nil, err
			}
			return r, release.Seal(s, r)
		}, o.Deliver)
}

// measure buys counts of rows, or the number of rows and the mean and the squares over the blocks.
func measure(
	ctx context.Context, s *privacy.Session, mu float64, o Options,
) (*Result, error) {
	nb, n := s.Neighbours(), float64(o.Rows)
	f, done := o.Statistic.Statistic, atomic.Int64{}
	r := &Result{Format: format, Tool: o.Tool, Statistic: f.Name, Rows: n,
		Lower: f.Lower, Upper: f.Upper,
		Paid: release.PaidIn(s), Run: s.Run()}
	for i, low := range o.Statistic.column.low {
		r.Within = max(r.Within, (o.Statistic.column.high[i]-low)/2)
	}
	const below = 1 - 1e-9 // so that shares of the filter fit in after rounding
	if o.Statistic.direct != nil && o.Blocks == 0 && nb.MaxRowsPerUnit <= 1 {
		return r, o.Statistic.direct(newAsked(s, o.Statistic.column), s.FilterLeft()*below, r)
	}
	if o.Rows == 0 && o.Blocks == 0 {
		unit := nb.MeasureEvent(query.Total{}, 1).(accountant.Gaussian).NoiseMultiplier
		total, err := s.Measure(query.Total{}, 1/(mu*math.Sqrt(rowsShare)*unit))
		if err != nil {
			return nil, err
		}
		n = max(1, float64(total[0]))
		r.Rows = n
	}
	k := o.Blocks
	if k == 0 {
		k = int(max(2, min(vote.MaxShards, n/float64(o.Statistic.Rows))))
	}
	left := math.Sqrt(s.FilterLeft() * below)
	mean, square := 1/(left*math.Sqrt(1-squareShare)), 1/(left*math.Sqrt(squareShare))
	f.Of = func(t *table.Table) float64 {
		if o.Progress != nil { // before: of a block on which the statistic panics nothing is told
			o.Progress("computing blocks", float64(done.Add(1))/float64(k))
		}
		return o.Statistic.Of(t)
	}
	m, err := blocks.Measure(ctx, s, k, f, mean, square)
	if err != nil {
		return nil, err
	}
	r.Blocks = k
	r.interval(m, float64(k), mean, square)
	return r, nil
}

// z975 is a quantile of the normal distribution, for an interval of 95 %. The spread that goes into
// it is taken one standard error too large: what is known of it is noisy as well (TestCoverage).
const z975 = 1.959963984540054

// interval fills in the estimate and its interval. With x the blocks' results in half widths from
// the middle of the range, their variance is k/(k−1)·(mean of x² − (mean of x)²), of which both
// terms are known up to noise; the interval adds a standard error. k is the number of blocks.
func (r *Result) interval(m blocks.Mean, k, mean, square float64) {
	half := (r.Upper - r.Lower) / 2
	noise := 2 * mean / k // of the mean of x
	at := (m.Mean - r.Lower - half) / half
	// the square of a noisy mean is too large by the noise's variance, in expectation
	// and where noise makes the variance negative, its standard error is what is left of it
	variance := math.Max(0, m.Square-at*at+noise*noise)
	variance += math.Hypot(square/k, 2*math.Min(1, math.Abs(at))*noise)
	variance = math.Min(1, variance) * k / math.Max(1, k-1)
	r.Noise, r.Spread = half*noise, half*math.Sqrt(variance)
	wide := z975 * math.Hypot(r.Noise, r.Spread/math.Sqrt(k))
	// the mean of the results is in the range: what is cut to it is no further away
	within := func(x float64) float64 { return math.Max(r.Lower, math.Min(r.Upper, x)) }
	r.Estimate = within(m.Mean)
	r.Low, r.High = within(r.Estimate-wide), within(r.Estimate+wide)
}
