// Package synth says what a synthesis method is. A method plans from the public schema alone, then
// fits on a session of the gate, and leaves a model that anybody may sample. Methods are listed in
// synth/all; synth/synthtest is the suite that each must pass.
package synth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
)

// ErrConfig is wrapped by every error about a setting that a method refuses.
var ErrConfig = errors.New("invalid configuration")

// Fitter is a configured method.
type Fitter interface {
	// Name is the method's name on the command line.
	Name() string
	// Plan decides, from public knowledge only, every mechanism that a fit will run. The plan's
	// composition is within the budget.
	Plan(s *schema.Schema, nb privacy.Neighbours, b accountant.Budget) (Plan, error)
}

// Plan is a fit that has been paid for on paper. It may be fitted any number of times, each on a
// session of its own.
type Plan interface {
	// Composition is what a session must reserve.
	Composition() accountant.Composition
	// Forecast says what the fit will need.
	Forecast() Forecast
	// Fit runs the plan on an open session, which the caller closes (see [Run]). It must be a
	// function of what the session returns and of its Seed, on one machine: a run that was killed
	// is continued by another Fit, which is given the same answers.
	Fit(ctx context.Context, s *privacy.Session, p Progress) (Model, error)
}

// Priced is implemented by plans that closed formulas do not price, or not well: mixed and
// subsampled ones.
type Priced interface {
	// Price bounds the cost of the plan's composition.
	Price() accountant.Pricer
}

// PriceOf is what prices the plan: nil, for closed formulas, unless it says otherwise.
func PriceOf(p Plan) accountant.Pricer {
	if priced, ok := p.(Priced); ok {
		return priced.Price()
	}
	return nil
}

// rowsForecaster is implemented by plans whose needs grow with the number of rows.
type rowsForecaster interface {
	// ForecastRows is the forecast for a table of that many rows, a number that is public or
	// assumed.
	ForecastRows(rows int) Forecast
}

// ForecastFor is the plan's forecast for a table of that many rows, besides the rows themselves.
func ForecastFor(p Plan, rows int) Forecast {
	if sized, ok := p.(rowsForecaster); ok {
		return sized.ForecastRows(rows)
	}
	return p.Forecast()
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

// Forecast is what a plan expects to need, from public knowledge.
type Forecast struct {
	MemoryBytes int64   `json:"memory_bytes"` // besides the rows themselves
	Seconds     float64 `json:"seconds"`      // on one ordinary core, reading excluded
	Noise       []Noise `json:"noise"`
}

// Noise is the noise of one kind of measurement: one of the last three is not 0.
type Noise struct {
	What  string  `json:"what"`
	Count int     `json:"count"`
	Sigma float64 `json:"sigma,omitempty"` // rows
	// times what one unit may add, which is known only at each step
	Multiplier float64 `json:"noise_multiplier,omitempty"`
	Eps        float64 `json:"epsilon,omitempty"` // of a selection
}

// Seed is public randomness of a run, the same when it is continued: a hash of its name.
func Seed(s *privacy.Session) (a, b uint64) {
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
	declared := rows.Schema()
	nb := privacy.NeighboursOf(declared, o.Adjacency)
	plan, err := WithBins(f, declared).Plan(declared, nb, o.Budget)
	if err != nil {
		return nil, nil, err
	}
	if o.Forecast != nil {
		o.Forecast(plan.Forecast())
	}
	o.Progress.Report("reserving the budget", 0)
	o.Plan, o.Price, o.Method = plan.Composition(), PriceOf(plan), f.Name()
	o.Program = Program(o.Tool)
	return release.Run(ctx, privacy.Open, rows, o.Options,
		func(s *privacy.Session) (*release.Model, error) {
			fitted, err := plan.Fit(ctx, s, o.Progress)
			if err != nil {
				return nil, err
			}
			return fitted.release(s, plan, f, declared, o)
		}, o.Deliver)
}

// Program is what decides how a fit computes.
func Program(tool string) string {
	return tool + ", " + runtime.GOARCH + " with " + kernels.Best().String()
}

// release makes the model of a run from what its method released.
func (fitted Model) release(
	s *privacy.Session, plan Plan, f Fitter, declared *schema.Schema, o RunOptions,
) (*release.Model, error) {
	if o.Chosen != "" {
		fitted.Settings["chosen"] = o.Chosen
	}
	return release.New(release.Fitted{
		Method: f.Name(), Tool: o.Tool, Schema: s.Schema(), Declared: declared,
		Session: s, Price: PriceOf(plan), Settings: fitted.Settings,
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
