// Package synth says what a synthesis method is. A method plans from the public schema alone, then fits on a session of the gate, and
// leaves a model that anybody may sample. Methods are listed in synth/all; synth/synthtest is the suite that each must pass.
package synth

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/decoy-dp/decoy/accountant"
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
	// Plan decides, from public knowledge only, every mechanism that a fit will run. The plan's composition is within the budget.
	Plan(s *schema.Schema, nb privacy.Neighbours, b accountant.Budget) (Plan, error)
}

// Plan is a fit that has been paid for on paper. It may be fitted any number of times, each on a session of its own.
type Plan interface {
	// Composition is what a session must reserve.
	Composition() accountant.Composition
	// Forecast says what the fit will need.
	Forecast() Forecast
	// Fit runs the plan on an open session, which the caller closes (see [Run]).
	Fit(ctx context.Context, s *privacy.Session, p Progress) (Model, error)
}

// RowsForecaster is implemented by plans whose needs grow with the number of rows.
type RowsForecaster interface {
	// ForecastRows is the forecast for a table of that many rows, a number that is public or assumed.
	ForecastRows(rows int) Forecast
}

// ForecastFor is the plan's forecast for a table of that many rows, besides the rows themselves.
func ForecastFor(p Plan, rows int) Forecast {
	if sized, ok := p.(RowsForecaster); ok {
		return sized.ForecastRows(rows)
	}
	return p.Forecast()
}

// Model is what a method releases: the parameters and the public choices behind them.
type Model struct {
	Params   release.Params
	Settings map[string]any
}

// Progress is told how far a stage is, 0 to 1. It may be nil; it is never told anything that depends on private data.
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
	What       string  `json:"what"`
	Count      int     `json:"count"`
	Sigma      float64 `json:"sigma,omitempty"`            // rows
	Multiplier float64 `json:"noise_multiplier,omitempty"` // times what one unit may add, which is known only at each step
	Eps        float64 `json:"epsilon,omitempty"`          // of a selection
}

// Run opens a session for the plan, fits, and returns the verified model: the whole road from private rows to a release.
func Run(ctx context.Context, rows *privacy.Rows, f Fitter, o RunOptions) (*release.Model, *privacy.Session, error) {
	nb := privacy.NeighboursOf(rows.Schema(), o.Adjacency)
	plan, err := WithBins(f, rows.Schema()).Plan(rows.Schema(), nb, o.Budget)
	if err != nil {
		return nil, nil, err
	}
	resumer, ok := plan.(Resumer)
	if o.Checkpoint == "" || o.Ledger == nil {
		resumer, ok = nil, false
	}
	if o.Resume && !ok {
		return nil, nil, fmt.Errorf("synth: method %s keeps no checkpoint here: %w", f.Name(), ErrCheckpoint)
	}
	options := privacy.Options{
		Budget: o.Budget, Plan: plan.Composition(), Adjacency: nb.Adjacency, Ledger: o.Ledger, Method: f.Name(), Tool: o.Tool, Run: o.Run, Resumable: ok,
	}
	s, state, err := begin(ctx, rows, plan, options, o)
	if err != nil {
		return nil, nil, err
	}
	var fitted Model
	kept := ok && (o.Resume || o.Run != "") // there is a checkpoint of this run
	if ok {
		save := func(state []byte) error {
			err := Checkpoint{s.Run(), f.Name(), state}.write(o.Checkpoint)
			kept = kept || err == nil
			return err
		}
		fitted, err = resumer.FitFrom(ctx, s, state, save, o.Progress)
	} else {
		fitted, err = plan.Fit(ctx, s, o.Progress)
	}
	if kept && status(err) == accountant.StatusCancelled {
		return nil, s, err // as if killed: the run has no end in the ledger, and can be continued once this process is gone
	}
	if err := errors.Join(err, s.Close(status(err))); err != nil {
		return nil, s, err
	}
	m, err := release.New(release.Fitted{
		Method: f.Name(), Tool: o.Tool, Budget: o.Budget, Schema: s.Schema(), Declared: rows.Schema(), Ledger: s.Ledger(), Settings: fitted.Settings, Params: fitted.Params,
	})
	if ok && err == nil {
		os.Remove(o.Checkpoint)
	}
	return m, s, err
}

// begin opens a session, or continues that of the checkpoint.
func begin(ctx context.Context, rows *privacy.Rows, plan Plan, options privacy.Options, o RunOptions) (*privacy.Session, []byte, error) {
	if !o.Resume {
		named := options.Resumable && o.Run != ""
		if named { // a process that dies before its first release then leaves what is needed to continue
			if err := (Checkpoint{Run: o.Run, Method: options.Method}).write(o.Checkpoint); err != nil {
				return nil, nil, err
			}
		}
		s, err := privacy.Open(ctx, rows, options)
		if err != nil && named {
			os.Remove(o.Checkpoint)
		}
		return s, nil, err
	}
	c, err := ReadCheckpoint(o.Checkpoint)
	if err != nil {
		return nil, nil, err
	}
	if checker, ok := plan.(StateChecker); ok {
		if err := checker.CheckState(c.State); err != nil {
			return nil, nil, err
		}
	}
	s, err := privacy.Resume(ctx, rows, c.Run, options)
	if len(c.State) == 0 {
		c.State = nil
	}
	return s, c.State, err
}

// RunOptions of [Run].
type RunOptions struct {
	Budget    accountant.Budget    // required
	Adjacency accountant.Adjacency // default accountant.AddRemove
	Ledger    *privacy.LedgerFile  // nil: in memory only
	Tool      string               // program and version
	Progress  Progress             // may be nil
	Run       string               // the run's name in the ledger (see privacy.Options); default random. A run that is continued has the checkpoint's

	// Checkpoint is a file that a method which can be continued (see [Resumer]) keeps while it fits, if there is a ledger file too. It is removed when the
	// model is there. "" keeps none. With a checkpoint, a cancelled run is not closed in the ledger: the next process can continue it.
	Checkpoint string
	Resume     bool // continue the run of the checkpoint (see privacy.Resume) in place of a new one
}

// status is how a session that ended with err is closed.
func status(err error) string {
	switch {
	case err == nil:
		return accountant.StatusDone
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return accountant.StatusCancelled
	}
	return accountant.StatusFailed
}
