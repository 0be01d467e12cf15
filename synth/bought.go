package synth

import (
	"context"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// Continuer is a method that may fit a table whose schema is bought in the same session.
type Continuer interface {
	Fitter
	// Unseen reports whether the method as configured can fit columns of which nothing but the names
	// is known yet, and which of them is its target, or "". A target that is then not in the bought
	// schema is passed over by Plan. The error wraps ErrConfig.
	Unseen(columns []string) (target string, err error)
}

// Purchase is how a run buys a schema for its table.
type Purchase struct {
	Plan accountant.Composition // of the whole run
	// Buy asks for what the schema takes of it, which leaves a part
	Buy func(s *text.Session, progress func(float64)) (Bought, error)
	// makes the schema durable, before the model is. May be nil
	Deliver func() error
}

// Bought is the schema of tables, and the noisy counts that bought it as one-way marginals of the
// columns of the first.
type Bought interface {
	Linked() *schema.Linked
	Measurements() ([]marginal.Measurement, error)
}

// RunBought is [Run] on a table that nobody has described: one reservation, of which a part buys a
// schema, and the rest fits f on the rows in its codes. The noisy counts that bought the schema are
// measurements of the fit. An error that wraps [release.ErrNothing] is one whose run is over.
func RunBought(
	ctx context.Context, t *text.Table, buy Purchase, f Continuer, o RunOptions,
) (*release.Model, *text.Session, error) {
	if _, err := f.Unseen(t.Names()); err != nil {
		return nil, nil, err
	}
	o.Progress.Report("reserving the budget", 0)
	o.Plan, o.Price, o.Method, o.Program = buy.Plan, nil, f.Name(), Program(o.Tool)+o.Program
	return release.Run(ctx, text.Open, t, o.Options,
		func(texts *text.Session) (*release.Model, error) {
			bought, err := buy.Buy(texts,
				func(done float64) { o.Progress.Report("buying a schema", done) })
			if err != nil {
				return nil, err
			}
			known, err := bought.Measurements()
			if err != nil {
				return nil, err
			}
			tables := bought.Linked()
			s, err := texts.As(ctx, tables)
			if err != nil {
				return nil, err
			}
			rest, err := planOf(f, tables, termsOf(s, known))
			if err != nil {
				return nil, err
			}
			if o.Forecast != nil {
				o.Forecast(rest.Forecast(0))
			}
			fitted, err := rest.Fit(ctx, s, o.Progress)
			if err != nil {
				return nil, err
			}
			return fitted.release(s, f, nil, o)
		}, func(m *release.Model) error {
			if buy.Deliver != nil {
				if err := buy.Deliver(); err != nil {
					return err
				}
			}
			if o.Deliver != nil {
				return o.Deliver(m)
			}
			return nil
		})
}
