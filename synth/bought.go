package synth

import (
	"context"
	"errors"

	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/release"
)

// Continuer is a method that may fit a table whose schema is bought in the same session.
type Continuer interface {
	Fitter
	// Unseen reports whether the method as configured can fit columns of which nothing but the names
	// is known yet, and which of them is its target, or "". A target that is then not in the bought
	// schema is passed over by Plan. The error wraps ErrConfig.
	Unseen(columns []string) (target string, err error)
}

// RunBought is [Run] on a table that nobody has described: one reservation, of which plan.Share
// buys a schema, and the rest fits f on the rows in its codes. The noisy counts that bought the
// schema are measurements of the fit. buy.Deliver, which may be nil, makes the schema durable
// before o.Deliver does so with the model; of buy, Options is not used. An error that wraps
// infer.ErrNothing is one whose run is over.
func RunBought(
	ctx context.Context, t *text.Table, plan infer.Plan, buy infer.Options, f Continuer, o RunOptions,
) (*release.Model, *text.Session, error) {
	var err error
	if buy.Target, err = f.Unseen(t.Names()); err != nil {
		return nil, nil, err
	}
	o.Progress.Report("reserving the budget", 0)
	o.Plan, o.Price, o.Method, o.Program = plan.Composition(), nil, f.Name(), Program(o.Tool)
	buy.Options = o.Options
	buy.Progress = func(done float64) { o.Progress.Report("buying a schema", done) }
	var bought *infer.Result
	var unusable error // which is an end all the same
	m, texts, err := release.Run(ctx, text.Open, t, o.Options,
		func(texts *text.Session) (m *release.Model, err error) {
			bought, m, err = buyAndFit(ctx, t, plan, buy, f, o, texts)
			if errors.Is(err, infer.ErrNothing) {
				unusable, err = err, nil
			}
			return m, err
		}, func(m *release.Model) error {
			if unusable == nil && buy.Deliver != nil {
				if err := buy.Deliver(bought); err != nil {
					return err
				}
			}
			if unusable == nil && o.Deliver != nil {
				return o.Deliver(m)
			}
			return nil
		})
	return m, texts, errors.Join(unusable, err)
}

func buyAndFit(
	ctx context.Context, t *text.Table, plan infer.Plan, buy infer.Options, f Continuer,
	o RunOptions, texts *text.Session,
) (*infer.Result, *release.Model, error) {
	bought, err := plan.Buy(ctx, t, texts, buy)
	if err != nil {
		return nil, nil, err
	}
	known, err := bought.Measurements()
	if err != nil {
		return nil, nil, err
	}
	s, err := texts.As(bought.Schema())
	if err != nil {
		return nil, nil, err
	}
	rest, err := f.Plan(termsOf(s, known))
	if err != nil {
		return nil, nil, err
	}
	if o.Forecast != nil {
		o.Forecast(rest.Forecast(0))
	}
	fitted, err := rest.Fit(ctx, s, o.Progress)
	if err != nil {
		return nil, nil, err
	}
	m, err := fitted.release(s, f, nil, o)
	return bought, m, err
}

// joined joins measured one-way marginals with those that are known already.
func joined(measured, known []marginal.Measurement) []marginal.Measurement {
	out := append([]marginal.Measurement(nil), measured...)
	for i, m := range out {
		for _, k := range known {
			if k.Cols[0] == m.Cols[0] {
				out[i] = marginal.Refine(m, k)
			}
		}
	}
	return out
}
