package marginal

import (
	"context"
	"errors"
	"math/rand/v2"
)

// ErrModel is wrapped by every error of UnmarshalBinary.
var ErrModel = errors.New("invalid model")

var errTODO = errors.New("marginal: not implemented")

// Measurement is one noisy marginal table.
type Measurement struct {
	Cols   []int     // distinct columns, any order; empty = a noisy total (one count)
	Counts []float64 // noisy counts, row-major over Cols as listed, last fastest
	Sigma  float64   // standard deviation of the noise of each cell, > 0
	Sigmas []float64 // optional: standard deviation per cell; overrides Sigma
}

// Options of Fit; the zero value is the default.
type Options struct {
	Iterations int                   // cap on iterations; 0 = default
	Total      float64               // known number of rows; 0 = estimate from the measurements
	Progress   func(done, total int) // optional; called at most about ten times a second
	MaxCells   int                   // limit on the cells of the junction tree; 0 = 1e8
	Warm       *Model                // optional: start from this model; its cliques may differ
}

// Model is a distribution over the columns that factors over a junction tree,
// with a total number of rows.
type Model struct{}

// Fit estimates a model.
func Fit(ctx context.Context, sizes []int, ms []Measurement, o Options) (*Model, error) {
	return nil, errTODO
}

// Sizes returns the number of codes of each column.
func (m *Model) Sizes() []int { return nil }

// Total returns the number of rows that the model stands for.
func (m *Model) Total() float64 { return 0 }

// Cliques returns the cliques of the junction tree.
func (m *Model) Cliques() [][]int { return nil }

// MarginalTo writes the expected counts over cols, row-major in the order of
// cols, last fastest.
func (m *Model) MarginalTo(dst []float64, cols []int) error { return errTODO }

// Sample draws n rows, column-major.
func (m *Model) Sample(n int, u *rand.Rand) [][]uint16 { return nil }

// MarshalBinary encodes the model.
func (m *Model) MarshalBinary() ([]byte, error) { return nil, errTODO }

// UnmarshalBinary decodes a model; hostile input is an error.
func (m *Model) UnmarshalBinary(data []byte) error { return errTODO }

// Grouping merges rare codes of each column.
type Grouping struct{}

// NewGrouping merges the codes of each column whose noisy count is below k·σ.
func NewGrouping(sizes []int, oneWay []Measurement, k float64) (*Grouping, error) {
	return nil, errTODO
}

// Sizes returns the number of groups of each column.
func (g *Grouping) Sizes() []int { return nil }

// Group returns the group of a code of a column.
func (g *Grouping) Group(col int, code uint16) uint16 { return code }

// GroupMeasurement returns the measurement over groups.
func (g *Grouping) GroupMeasurement(m Measurement) Measurement { return m }

// Expand replaces, in place, the groups of sampled columns by codes.
func (g *Grouping) Expand(samples [][]uint16, u *rand.Rand) {}
