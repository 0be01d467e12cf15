package configs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
)

// DefaultDelta is δ where none is asked for.
const DefaultDelta = 1e-9

// MaxEpsilon is the largest ε of a run. Beyond it the promise is empty, and somewhere beyond it the
// noise is smaller than the samplers draw: the run would fail after its budget is spent.
const MaxEpsilon = 10000

// Job is one run, from a private table to a synthetic one. As YAML it is also a config file of
// decoy generate, which has its keys as flags. Paths are relative to the current folder.
type Job struct {
	// in a batch: unique; default from table, method, epsilon and replicate
	Name string `mapstructure:"name" json:"name,omitempty"`
	// private table, .csv or .parquet; or Dataset
	Input string `mapstructure:"input" json:"input,omitempty"`
	// embedded example, with its own schema
	Dataset string `mapstructure:"dataset" json:"dataset,omitempty"`
	// schema file; required with Input
	Schema string `mapstructure:"schema" json:"schema,omitempty"`
	// in a batch: a row that breaks the schema fails the job; default: tables are read leniently
	Strict bool `mapstructure:"strict" json:"strict,omitempty"`
	// default: that of the preset, else the usual one
	Method string `mapstructure:"method" json:"method,omitempty"`
	// defaults for a kind of table
	Preset   string         `mapstructure:"preset" json:"preset,omitempty"`
	Settings map[string]any `mapstructure:"settings" json:"settings,omitempty"` // of the method
	// budget; required, > 0
	Epsilon float64 `mapstructure:"epsilon" json:"epsilon,omitempty"`
	// default that of the preset, else 1e-9
	Delta float64 `mapstructure:"delta" json:"delta,omitempty"`
	// add-remove (default) or replace-one
	Adjacency string `mapstructure:"adjacency" json:"adjacency,omitempty"`
	Ledger    string `mapstructure:"ledger" json:"ledger,omitempty"` // default INPUT.ledger
	// synthetic rows; default the noisy row count
	Rows int `mapstructure:"rows" json:"rows,omitempty"`
	// public seed of the sampling; in a batch 0 means one from the job's identity
	Seed uint64 `mapstructure:"seed" json:"seed,omitempty"`
	// synthetic table, .csv or .parquet; required
	Out   string `mapstructure:"out" json:"out,omitempty"`
	Model string `mapstructure:"model" json:"model,omitempty"` // also keep the model here
	// compare with real rows afterwards: not private
	Evaluate *Evaluate `mapstructure:"evaluate" json:"evaluate,omitempty"`
}

// Evaluate asks for metrics that compare the synthetic table with real rows. They are computed
// without any protection.
type Evaluate struct {
	// real rows that were not fitted; required
	Holdout string   `mapstructure:"holdout" json:"holdout,omitempty"`
	Args    []string `mapstructure:"args" json:"args,omitempty"` // further flags of decoy evaluate
}

// Resolved is the job with the defaults of its preset and of decoy filled in, checked as far as its
// own text goes.
func (j Job) Resolved() (Job, error) {
	if j.Preset != "" {
		p, err := PresetOf(j.Preset)
		if err != nil {
			return j, err
		}
		j.Method, j.Delta = cmp.Or(j.Method, p.Method), cmp.Or(j.Delta, p.Delta)
	}
	j.Method, j.Delta = cmp.Or(j.Method, all.Default), cmp.Or(j.Delta, DefaultDelta)
	j.Adjacency = cmp.Or(j.Adjacency, accountant.AddRemove.String())
	var adjacency accountant.Adjacency
	wrong := ""
	switch {
	case (j.Input == "") == (j.Dataset == ""):
		wrong = "one of input and dataset is required"
	case j.Input == "-" || j.Out == "-":
		wrong = "standard input and output are not for jobs"
	case j.Input != "" && j.Schema == "":
		wrong = "schema is required"
	case j.Dataset != "" && j.Schema != "":
		wrong = "a dataset has its own schema"
	case j.Out == "":
		wrong = "out is required"
	case !(j.Epsilon > 0 && j.Epsilon <= MaxEpsilon):
		wrong = fmt.Sprintf("epsilon %v must be above 0 and at most %d", j.Epsilon, MaxEpsilon)
	case (accountant.Budget{Epsilon: j.Epsilon, Delta: j.Delta}).Validate() != nil:
		wrong = fmt.Sprintf("delta %v must be from 0 to %v", j.Delta, accountant.MaxDelta)
	case adjacency.UnmarshalText([]byte(j.Adjacency)) != nil:
		wrong = fmt.Sprintf("adjacency %q must be add-remove or replace-one", j.Adjacency)
	case j.Rows < 0 || j.Rows > math.MaxInt32:
		wrong = fmt.Sprintf("rows %d must be from 0 to %d", j.Rows, math.MaxInt32)
	case j.Evaluate != nil && (j.Evaluate.Holdout == "" || j.Input == ""):
		wrong = "evaluate needs an input and a holdout"
	}
	if _, err := json.Marshal(j.Settings); err != nil {
		wrong = "settings must be finite numbers, texts, true or false, and lists of them"
	}
	if wrong != "" {
		return j, fmt.Errorf("%s: %w", wrong, ErrConfig)
	}
	return j, nil
}

// Budget is what the job may spend.
func (j Job) Budget() accountant.Budget {
	return accountant.Budget{Epsilon: j.Epsilon, Delta: j.Delta}
}

// Neighbours is the job's adjacency; the job is resolved.
func (j Job) Neighbours() (a accountant.Adjacency) {
	if err := a.UnmarshalText([]byte(j.Adjacency)); err != nil {
		panic("configs: the job is not resolved")
	}
	return a
}

// Fitter is the job's method with its settings. The job is resolved.
func (j Job) Fitter() (synth.Fitter, error) {
	given, err := j.given()
	if err != nil {
		return nil, err
	}
	return all.New(j.Method, Decoder(j.Method, given))
}

func (j Job) given() ([]Given, error) {
	var given []Given
	if j.Preset != "" {
		p, err := PresetOf(j.Preset)
		if err != nil {
			return nil, err
		}
		given = p.Given(j.Preset, j.Method)
	}
	var own []Given
	for key, value := range j.Settings {
		own = append(own, Given{Key: key, Value: value, From: "settings"})
	}
	slices.SortFunc(own, func(a, b Given) int { return strings.Compare(a.Key, b.Key) })
	return append(given, own...), nil
}

// Identity names what the job spends: 64 hexadecimal digits of everything that decides what is
// measured in which table under which account. Where and how often the model is sampled is not part
// of it, so that a job whose output moves is not paid twice. schemaSHA256 is the fingerprint of the
// schema's text. The job is resolved.
func (j Job) Identity(batch, schemaSHA256 string) string {
	j.Rows, j.Seed, j.Out, j.Model, j.Evaluate, j.Schema = 0, 0, "", "", nil, schemaSHA256
	text, err := json.Marshal(struct {
		Batch string
		Job   Job
	}{batch, j})
	if err != nil {
		panic("configs: the job is not resolved")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Run names an attempt at the job in a ledger: the same attempt has the same name on every machine,
// and a ledger takes a name once.
func Run(identity string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s attempt %d", identity, attempt))
	return hex.EncodeToString(sum[:8])
}
