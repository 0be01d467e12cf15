// Package synth is the synthesis methods. A method plans from the public schema alone, then fits on
// a session of the gate, and leaves a model that anybody may sample. Each is a file, with a struct
// of its settings, and a line in the table of methods.go.
package synth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// ErrConfig is wrapped by every error about a setting that a method refuses.
var ErrConfig = errors.New("invalid configuration")

// Fitter is a configured method.
type Fitter interface {
	// Name is the method's name on the command line.
	Name() string
	// Reserve is what a run of the method sets aside of a budget before it reads. A part of it, before
	// in μ², is for what is bought first: bins, in the same session. The Pricer is nil for closed
	// formulas.
	Reserve(t Terms, b accountant.Budget, before float64) (
		accountant.Composition, accountant.Pricer, error)
	// Plan decides what a fit will ask, with the noise that is left for it.
	Plan(t Terms) (Plan, error)
}

// Terms are what a method plans from. All of it is public.
type Terms struct {
	View       *schema.View // of linked tables, which is planned; nil: one table
	Schema     *schema.Schema
	Neighbours privacy.Neighbours
	Left       accountant.Account
	// noisy one-way marginals of some of the columns, perhaps over groups of codes, which are paid for
	Known []marginal.Measurement
}

// termsOf are those of an open session.
func termsOf(s *privacy.Session, known []marginal.Measurement) Terms {
	t := Terms{nil, s.Schema(), s.Neighbours(), s.Left(), known}
	t.Left.Mu2 *= 1 - 1e-9
	return t
}

// Plan is a fit that is paid for by an account.
type Plan interface {
	// Forecast says what the fit will need for a table of so many rows, a number that is public or
	// assumed; 0: unknown.
	Forecast(rows int) Forecast
	// Fit asks an open session, which the caller closes (see [Run]). It must be a function of what the
	// session returns and of its Seed, on one machine: a run that was killed is continued by another
	// Fit, which is given the same answers.
	Fit(ctx context.Context, s *privacy.Session, p Progress) (Model, error)
}

// planOf plans the fit of tables.
func planOf(f Fitter, tables *schema.Linked, t Terms) (Plan, error) {
	if tables.Single() {
		return f.Plan(t)
	}
	return planViews(f, tables, t)
}

// gaussian is embedded in methods all of whose calls are Gaussian-DP.
type gaussian struct{}

// Reserve is one filter of the largest μ that the budget allows.
func (gaussian) Reserve(_ Terms, b accountant.Budget, _ float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	if b.Delta == 0 {
		return nil, nil, fmt.Errorf("its noise is Gaussian and needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	mu, err := accountant.MuFor(b)
	return accountant.Composition{{Event: accountant.GDPFilter{Mu: mu}, Count: 1}}, nil, err
}

// pure is what methods reserve whose calls are pure-DP: equal steps of the largest ε that the
// budget allows, beside a filter for what is bought before.
func pure(t Terms, b accountant.Budget, before float64, steps int) (
	accountant.Composition, accountant.Pricer, error,
) {
	var c accountant.Composition
	if before > 0 {
		c = accountant.Composition{{Event: accountant.GDPFilter{Mu: math.Sqrt(before)}, Count: 1}}
	}
	at := func(scale float64) accountant.Composition {
		step := accountant.Laplace{Epsilon: 1 / scale}
		return append(c[:len(c):len(c)], accountant.Charge{Event: step, Count: steps})
	}
	scale, err := accountant.ScaleFor(b, t.Neighbours.Adjacency, at)
	if err != nil {
		return nil, nil, err
	}
	return at(scale), nil, nil
}

// Model is what a method releases: the parameters and the public choices behind them.
type Model struct {
	Params   release.Params
	Settings map[string]any
	Summed   release.Summed // of sums over several parties
}

// Progress is told how far a stage is, 0 to 1. It may be nil; it is never told anything that
// depends on private data.
type Progress func(stage string, fraction float64)

// Report calls p unless it is nil.
func (p Progress) Report(stage string, fraction float64) {
	if p != nil {
		p(stage, fraction)
	}
}

// publicSeed is public randomness of a run, the same when it is continued: a hash of its name.
func publicSeed(s *privacy.Session) (a, b uint64) {
	sum := sha256.Sum256([]byte("decoy public seed " + s.Run()))
	return binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])
}

// Run opens a session for the plan, fits, and returns the verified model: the whole road from
// private rows to a release.
//
// With a journal, a run that is not done is left to be continued, whatever ended it: an interrupt,
// an error, a full disk. It is done, and closed in the ledger, when RunOptions.Deliver has made its
// output durable.
func Run(
	ctx context.Context, rows *privacy.Rows, f Fitter, o RunOptions,
) (*release.Model, *privacy.Session, error) {
	tables := rows.Tables()
	declared := tables.Tables[0].Schema
	plan, err := NewPlan(f, tables, privacy.NeighboursOf(declared, o.Adjacency), o.Budget)
	if err != nil {
		return nil, nil, err
	}
	if o.Forecast != nil {
		o.Forecast(plan.Forecast(0))
	}
	o.Progress.Report("reserving the budget", 0)
	o.Plan, o.Price, o.Method = plan.Reserve, plan.Price, f.Name()
	o.Program = Program(o.Tool) + o.Program
	return release.Run(ctx, privacy.Open, rows, o.Options,
		func(s *privacy.Session) (*release.Model, error) {
			fitted, err := plan.Fit(ctx, s, o.Progress)
			if err != nil {
				return nil, err
			}
			return fitted.release(s, f, declared, o)
		}, o.Deliver)
}

// Program is what decides how a fit computes.
func Program(tool string) string {
	return tool + ", " + runtime.GOARCH + " with " + kernels.Unit()
}

// release makes the model of a run from what its method released.
func (fitted Model) release(
	s *privacy.Session, f Fitter, declared *schema.Schema, o RunOptions,
) (*release.Model, error) {
	if o.Chosen != "" {
		fitted.Settings["chosen"] = o.Chosen
	}
	return release.New(release.Fitted{
		Method: f.Name(), Tool: o.Tool, Schema: s.Schema(), Declared: declared,
		Session: s, Price: o.Price, Settings: fitted.Settings,
		Params: fitted.Params, Summed: fitted.Summed,
	})
}

// RunOptions of [Run].
type RunOptions struct {
	// the budget, the account, and how the run is continued; Plan, Price, Method and Program are of
	// the method, and filled in
	privacy.Options
	Chosen   string         // what chose the method, for the model; "" if a person named it
	Progress Progress       // may be nil
	Forecast func(Forecast) // is told what the plan expects to need, before anything is reserved
	// makes what the run is for durable: the run is closed after it. nil: the caller keeps the model
	Deliver func(*release.Model) error
}
