package stats

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// ErrStatistic is wrapped by every error about a statistic that cannot be computed, or a program
// that cannot be run.
var ErrStatistic = errors.New("it cannot be computed")

// Validation is what is computed.
type Validation struct {
	Statistic Statistic // required: of [ParseStatistic] or [Program]
	Blocks    int       // default: the number of rows over Statistic.Rows
	Rows      int       // number of rows, if that is public; 0: a part of the budget buys it
}

// validated is the name of such a run in the ledger.
const validated = "validate"

// Validated is a statistic: all of it may be given away.
type Validated struct {
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

// States are the claim and the program that the file names.
func (r *Validated) States() (release.Claim, string) { return r.Claim(), r.Tool }

// Check returns an error for a ledger of another run.
func (r *Validated) Check(run ledger.VerifiedRun) error {
	if run.Method != validated || run.Reserve.Run != r.Run {
		return errors.New("the ledger is of another run")
	}
	return nil
}

// squareShare is the part of μ² that buys the squares, of what the number of rows leaves.
const squareShare = .1

// Validate computes a statistic by subsample-and-aggregate: the table is split at random into
// disjoint blocks, the statistic is computed on each, and what leaves is the mean of the results,
// with noise, and an interval. A mean or a quantile, where each unit is one row, comes from counts
// of all rows instead. Errors before the reservation have spent nothing; the session is nil then.
func Validate(
	ctx context.Context, rows *privacy.Rows, o Validation, r Run[*Validated],
) (*Validated, *privacy.Session, error) {
	mu, err := accountant.MuFor(r.Budget)
	if err != nil {
		return nil, nil, err
	}
	return r.buy(ctx, rows, validated, pool(mu), func(s *privacy.Session) (*Validated, error) {
		out, err := o.compute(ctx, s, mu, r.report)
		if err != nil {
			return nil, err
		}
		out.Tool = r.Tool
		return out, release.Seal(s, out)
	})
}

// compute computes the statistic on a session that has a filter of μ.
func (o Validation) compute(
	ctx context.Context, s *privacy.Session, mu float64, report func(string, float64),
) (*Validated, error) {
	f := o.Statistic
	out := &Validated{Format: format, Statistic: f.Name, Rows: float64(o.Rows), Lower: f.Lower,
		Upper: f.Upper, Paid: release.PaidIn(s), Run: s.Run()}
	for i, low := range f.column.low {
		out.Within = max(out.Within, (f.column.high[i]-low)/2)
	}
	if f.direct != nil && o.Blocks == 0 && s.Neighbours().MaxRowsPerUnit <= 1 {
		return out, f.direct(newAsked(s, f.column), s.Left().Mu2*below, out)
	}
	return out, out.inBlocks(ctx, s, mu, o, report)
}

// inBlocks buys the number of rows, and the mean and the squares over the blocks.
func (r *Validated) inBlocks(
	ctx context.Context, s *privacy.Session, mu float64, o Validation, report func(string, float64),
) (err error) {
	k := o.Blocks
	if k == 0 {
		if r.Rows, err = countRows(s, mu, o.Rows); err != nil {
			return err
		}
		k = int(max(2, min(vote.MaxShards, r.Rows/float64(o.Statistic.Rows))))
	}
	left := math.Sqrt(s.Left().Mu2 * below)
	mean, square := 1/(left*math.Sqrt(1-squareShare)), 1/(left*math.Sqrt(squareShare))
	f, done := o.Statistic.Statistic, atomic.Int64{}
	f.Of = func(t *table.Table) float64 {
		// before: of a block on which the statistic panics nothing is told
		report("computing blocks", float64(done.Add(1))/float64(k))
		return o.Statistic.Of(t)
	}
	m, err := vote.Blocks(ctx, s, k, f, mean, square)
	if err != nil {
		return err
	}
	r.Blocks = k
	r.interval(m, float64(k), mean, square)
	return nil
}

// z975 is a quantile of the normal distribution, for an interval of 95 %. The spread that goes into
// it is taken one standard error too large: what is known of it is noisy as well (TestCoverage).
const z975 = 1.959963984540054

// interval fills in the estimate and its interval. With x the blocks' results in half widths from
// the middle of the range, their variance is k/(k−1)·(mean of x² − (mean of x)²), of which both
// terms are known up to noise; the interval adds a standard error. k is the number of blocks.
func (r *Validated) interval(m vote.Mean, k, mean, square float64) {
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
