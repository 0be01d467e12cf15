package attack

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// Mechanism is what an audit runs: anything that reads a table and releases something, with the
// claim made for it. Run is called from several goroutines.
type Mechanism struct {
	Name  string
	Claim Claim
	// Run runs it once on a table and returns what an auditor computes from the release: a number
	// of features that is the same in every run.
	Run func(ctx context.Context, t *table.Table) ([]float64, error)
}

// fitted runs a method once and returns the parameters that it would write to a model file.
type fitted func(ctx context.Context, t *table.Table) (release.Params, error)

// fitter plans a method once, for all runs.
func fitter(
	f synth.Fitter, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget,
) (fitted, Claim, synth.Forecast, error) {
	nb := privacy.NeighboursOf(s, adj)
	plan, err := synth.NewPlan(f, s, nb, b)
	if err != nil {
		return nil, Claim{}, synth.Forecast{}, err
	}
	claim, err := ClaimOf(b, nb.Adjacency, plan.Reserve)
	run := func(ctx context.Context, t *table.Table) (release.Params, error) {
		session, err := privacy.Open(ctx, privacy.FromTable(t), privacy.Options{
			Budget: b, Plan: plan.Reserve, Adjacency: nb.Adjacency, Method: f.Name(),
			Tool: "audit", Price: plan.Price,
		})
		if err != nil {
			return nil, err
		}
		model, err := plan.Fit(ctx, session, nil)
		if err := errors.Join(err, session.Finish(nil, nil)); err != nil {
			return nil, fmt.Errorf("attack: %s: %w", f.Name(), err)
		}
		return model.Params, nil
	}
	return run, claim, plan.Forecast(0), err
}

// widest is the standard deviation of the widest noise.
func widest(f synth.Forecast) (sigma float64) {
	for _, n := range f.Noise {
		sigma = max(sigma, n.Sigma)
	}
	return sigma
}

// fixedCodes refuses a schema whose codes a run changes.
func fixedCodes(s *schema.Schema) error {
	if len(s.Buys()) > 0 {
		return errors.New("attack: a schema that buys its bins (bins: dp) has no codes before a run: " +
			"give it bins for this attack")
	}
	return nil
}

// attackable checks a table whose rows are attacked: it must have so many rows at least,
// no id column, and codes that stay.
func attackable(t *table.Table, rows int) error {
	if t.Rows() < rows || t.Schema().Unit != "" {
		return fmt.Errorf("attack: a table of %d rows must have at least %d and no id column",
			t.Rows(), rows)
	}
	return fixedCodes(t.Schema())
}

// Method is a method of package synth on neighbours of a shape, with the claim of its plan. The
// tables are large enough for counts to be well above the planned noise: of rows rows, or of 40
// standard deviations of the widest noise, from 400 to 20 000, if rows is 0.
func Method(
	f synth.Fitter, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget, shape string,
	rows int,
) (Mechanism, *Pair, error) {
	run, claim, forecast, err := fitter(f, s, adj, b)
	if err != nil {
		return Mechanism{}, nil, err
	}
	if rows == 0 {
		rows = int(min(max(400, math.Ceil(40*widest(forecast))), 20_000))
	}
	pair, err := Neighbours(s, adj, shape, rows)
	if err != nil {
		return Mechanism{}, nil, err
	}
	return Mechanism{Name: f.Name(), Claim: claim,
		Run: func(ctx context.Context, t *table.Table) ([]float64, error) {
			params, err := run(ctx, t)
			if err != nil {
				return nil, err
			}
			return view(params, pair.Target, pair.Corner)
		}}, pair, nil
}
