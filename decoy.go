// Package decoy makes a synthetic copy of a private table under differential privacy, says what it
// cost, and measures how good it is: what most programs need, in three calls.
//
//	stays := decoy.Source{Input: "stays.csv", HeaderIsPublic: true}
//	made, err := decoy.Generate(ctx, decoy.Job{Source: stays, Epsilon: 3, Out: "synthetic.csv",
//		Model: "stays.decoy"}, decoy.Run{})
//	found, err := decoy.Evaluate(ctx, "stays.csv", "synthetic.csv", made.Schema, decoy.Compare{})
//	proof, err := decoy.Verify("stays.decoy")
//
// They do what the verbs of the program do, on files, with the same ledger and journal. A program
// that holds its own tables, or needs single answers, uses the packages below: privacy is the gate,
// synth has the methods, eval the metrics.
package decoy

import (
	"cmp"
	"context"
	"slices"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/synth"
)

// What errors are, for errors.Is; a *[UsageError] is found by errors.As.
var (
	ErrBudget = accountant.ErrBudget // a limit would be exceeded: no row was read
	ErrLocked = ledger.ErrLocked     // another process kept the ledger locked
	ErrSchema = schema.ErrSchema     // the data break the schema
	ErrConfig = synth.ErrConfig      // an option cannot be
	ErrClaim  = release.ErrClaim     // a model does not hold what it claims
)

// UsageError is what was asked for that cannot be.
type UsageError = configs.UsageError

// A Job is what is asked for: a table and what is known of it, a budget, the outputs. Required are
// Input, Out, Epsilon, and Schema or HeaderIsPublic. It has the keys of a job in a batch file
// (docs/batch.md); Inputs, OutDir, Links and Orders are for linked tables (docs/linked.md).
type (
	Job      = configs.Job
	Source   = configs.Source
	Settings = configs.Settings
	Setting  = configs.Given
)

// Run says how a job is carried out. The zero value is usable.
type Run struct {
	Force  bool // replace files that are there
	Resume bool // go on with a run that was interrupted
	// is told what the run is doing, and what share of it is done; optional
	Progress func(stage string, fraction float64)
	Say      func(format string, args ...any) // is told what a person should know; optional
}

// Generated is what Generate has made.
type Generated struct {
	Claim  release.Claim  // the guarantee
	Rows   float64        // noisy number of real rows, or units
	Schema string         // file of the schema: that of the job, or the one that was bought
	Model  *release.Model // more rows can be drawn from it for nothing
}

// Generate carries out a job: it fits the table and writes a synthetic one. The budget is reserved
// in the ledger before a row is read. A run that ctx interrupts, or that is killed, is gone on with
// by Resume, in this package alone, and pays nothing twice.
func Generate(ctx context.Context, j Job, r Run) (*Generated, error) {
	if j.Out == "" && j.OutDir == "" {
		return nil, configs.Usagef("a job needs Out, or OutDir for linked tables")
	}
	j.Settings = slices.Clone(j.Settings)
	for i := range j.Settings {
		j.Settings[i].From = cmp.Or(j.Settings[i].From, "Settings")
	}
	t, err := configs.Check(j.WithDefaults())
	if err == nil && t.Domain == nil {
		err = t.Buy(ctx)
	}
	if err != nil {
		return nil, err
	}
	made := &Generated{Schema: cmp.Or(j.Schema, t.Bought)}
	w := configs.Runner{Tool: "decoy (package)", Force: r.Force, Resume: r.Resume, Say: r.Say,
		Tell: func(_ *configs.Task, m configs.Made) []string {
			if m.Model != nil {
				made.Model, made.Claim, made.Rows = m.Model, m.Model.Claim, m.Model.Rows
			}
			return nil
		}}
	err = w.Run(ctx, "generate", t, &configs.Record{}, synth.Progress(r.Progress))
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Compare says how Evaluate compares. The zero value is usable.
type Compare struct {
	Holdout        string // file of real rows that were not fitted; without it much is left out
	report.Options        // target to predict, seed, confidence level
}

// Evaluate compares a synthetic table with the real one. What it finds depends on every real row,
// without noise: keep it as safe as the table. The report writes itself as text, JSON or a page.
func Evaluate(
	ctx context.Context, real, synthetic, schemaFile string, c Compare,
) (*report.Report, error) {
	s, err := configs.LoadSchema(schemaFile)
	if err != nil {
		return nil, err
	}
	var in report.Tables
	for _, one := range []struct {
		path string
		to   *report.Table
	}{{real, &in.Train}, {synthetic, &in.Synthetic}, {c.Holdout, &in.Holdout}} {
		if one.path == "" || err != nil {
			continue
		}
		of := s
		if one.to == &in.Synthetic {
			of = s.ForSynthetic()
		}
		*one.to, _, err = report.Read(ctx, one.path, of, false)
	}
	if err != nil {
		return nil, err
	}
	return report.Compute(ctx, in, c.Options)
}

// Verify recomputes the claim of a model file from what is in it: anyone can, without the data. An
// error that wraps [ErrClaim] says what does not hold.
func Verify(model string) (release.Verification, error) {
	m, err := release.Open(model)
	if err != nil {
		return release.Verification{}, err
	}
	return m.Verify(pld.Epsilon)
}
