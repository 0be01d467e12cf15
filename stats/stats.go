// Package stats buys what is no table: a classifier ([Train]), a statistic and its interval
// ([Validate]), an evaluation of a synthetic table that may be published ([Publish]), answers to
// questions of which only those are paid for to which a synthetic table gives a wrong answer
// ([Holdout]), and one randomised answer of a respondent ([Form.Answer]).
//
// A classifier is the yardstick beside a table: who wants to predict one column, and nothing else,
// may be better off with it. A statistic says whether what a synthetic table shows holds on the
// real rows. An evaluation should ask rows that the synthesizer did not see, if there are any: on
// its training rows a method that copies looks best. It is not for choosing among many tables by
// asking again and again at a small ε each, for every run costs.
//
// A report says how many rows the units of a table have ([Units]).
//
// A form is a survey whose asker is not trusted: what is asked of a respondent, the line that a
// respondent hands over, and the tables that many such lines estimate ([Tally]). A respondent's row
// is seen by package privacy/randomized only; lines are public.
package stats

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Run says at what price an analysis is bought, and where that is written down.
type Run[R any] struct {
	privacy.Options // without Plan, Price, Method and Program, which are filled in
	// may be nil; called from several goroutines
	Progress func(stage string, fraction float64)
	// makes the result durable: the run is closed after it. May be nil
	Deliver func(R) error
}

// buy is the run of an analysis. Errors before the reservation have spent nothing; the session is
// nil then.
func (r Run[R]) buy(
	ctx context.Context, rows *privacy.Rows, method string, plan accountant.Composition,
	ask func(*privacy.Session) (R, error),
) (R, *privacy.Session, error) {
	r.Plan, r.Price, r.Method, r.Program = plan, nil, method, r.Tool+r.Program
	return release.Run(ctx, privacy.Open, rows, r.Options, ask, r.Deliver)
}

func (r Run[R]) report(stage string, fraction float64) {
	if r.Progress != nil {
		r.Progress(stage, fraction)
	}
}

// format is the version of the JSON of every result.
const format = 1

// Read reads the JSON of a [Classifier], [Validated] or [Published]. It verifies nothing: see
// [release.Verify]. The error of another file wraps [release.ErrFormat].
func Read(r io.Reader) (release.File, error) {
	return release.ReadFile(r, map[string]release.File{"decoy_classifier": &Classifier{},
		"decoy_validated": &Validated{}, "decoy_published": &Published{}})
}

// pool is the plan of a run that pays for all it asks from one filter of μ.
func pool(mu float64) accountant.Composition {
	return accountant.Composition{{Event: accountant.GDPFilter{Mu: mu}, Count: 1}}
}

// below leaves a hair of a filter, so that shares of it fit in after rounding.
const below = 1 - 1e-9

// unit is the noise at which something is 1-GDP, by its event with noise 1.
func unit(e accountant.Event) float64 { return 1 / e.(accountant.Gaussian).NoiseMultiplier }

// rowsShare is the part of μ² that buys the number of rows where it is not public.
const rowsShare = .02

// countRows is the number of rows if it is public, above 0, and else buys it for that part of a
// filter of μ.
func countRows(s *privacy.Session, mu float64, public int) (float64, error) {
	if public > 0 {
		return float64(public), nil
	}
	each := unit(s.Neighbours().MeasureEvent(privacy.Total{}, 1))
	total, err := s.Measure(privacy.Total{}, each/(mu*math.Sqrt(rowsShare)))
	if err != nil {
		return 0, err
	}
	return max(1, float64(total[0])), nil
}

// columnOf is the number of a column whose codes are known before anything is bought.
func columnOf(s *schema.Schema, name string) (int, error) {
	at := s.Index(name)
	switch {
	case at < 0:
		return at, fmt.Errorf("the schema has no column %q%s", name, s.Hint(name))
	case s.Columns[at].BuyBins > 0:
		return at, fmt.Errorf("column %q has bins that are bought (bins: dp): write bins, or leave it "+
			"out", name)
	}
	return at, nil
}
