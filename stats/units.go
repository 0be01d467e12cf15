package stats

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// UnitSizes is a bought report on the units of a table: how many have how many rows, and what
// max_rows_per_unit leaves of them. All of it is public.
type UnitSizes struct {
	Unit           string               `json:"unit"`              // id column
	MaxRowsPerUnit int                  `json:"max_rows_per_unit"` // of the schema
	Budget         accountant.Budget    `json:"budget"`            // what it cost
	Adjacency      accountant.Adjacency `json:"adjacency"`         // of that guarantee
	Sigma          float64              `json:"sigma"`             // noise of each count of units
	// upper ends of the ranges of rows: the powers of two up to 1024, and MaxRowsPerUnit
	UpTo []int `json:"up_to"`
	// noisy number of units in each range, the last with more rows than all of UpTo; may be negative
	Counts  []int64 `json:"counts"`
	Whole   float64 `json:"whole"`   // noisy number of units all of whose rows are used
	Bounded float64 `json:"bounded"` // noisy number of units some of whose rows are left out
	// rows that are left out, at least: of the ranges that stand out of the noise only
	LeftOut     float64                `json:"rows_left_out_at_least"`
	Composition accountant.Composition `json:"-"` // what was charged
}

// standsOut is how many standard deviations a count must be above zero to be taken for more than
// noise.
const standsOut = 3

// Units buys the report, with δ > 0. rows are of a schema with an id column, else the error wraps
// schema.ErrInvalid. Errors before the reservation have spent nothing; the session is nil then.
func Units(
	ctx context.Context, rows *privacy.Rows, run Run[*UnitSizes],
) (*UnitSizes, *privacy.Session, error) {
	s := rows.Schema()
	if s.Unit == "" {
		return nil, nil, fmt.Errorf(
			"the schema names no unit: every row is one, and nothing is bounded: %w",
			schema.ErrInvalid)
	}
	if run.Budget.Delta == 0 {
		return nil, nil, fmt.Errorf("the noise is Gaussian, which needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	nb := privacy.NeighboursOf(s, run.Adjacency)
	plan := func(sigma float64) accountant.Composition {
		return accountant.Composition{{Event: nb.MeasureEvent(privacy.ContributionHistogram{}, sigma),
			Count: 1}}
	}
	sigma, err := accountant.ScaleFor(run.Budget, nb.Adjacency, plan)
	if err != nil {
		return nil, nil, err
	}
	r := &UnitSizes{Unit: s.Unit, MaxRowsPerUnit: nb.MaxRowsPerUnit, Budget: run.Budget,
		Adjacency: nb.Adjacency, Sigma: sigma, Composition: plan(sigma),
		UpTo: UnitRanges(nb.MaxRowsPerUnit)}
	return run.buy(ctx, rows, "schema units", plan(sigma),
		func(session *privacy.Session) (_ *UnitSizes, err error) {
			if r.Counts, err = session.Measure(privacy.ContributionHistogram{UpTo: r.UpTo},
				sigma); err == nil {
				r.bound()
			}
			return r, err
		})
}

// UnitRanges are the upper ends of the ranges of rows that [Units] asks about: the powers of two up
// to 1024, and k.
func UnitRanges(k int) []int {
	out := []int{k}
	for n := 1; n <= 1024; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bound follows what the bound does from the counts.
func (r *UnitSizes) bound() {
	from := 1 // fewest rows of a unit in the range
	for i, n := range r.Counts {
		if from <= r.MaxRowsPerUnit {
			r.Whole += float64(n)
		} else {
			r.Bounded += float64(n)
			if float64(n) > standsOut*r.Sigma {
				r.LeftOut += float64(n) * float64(from-r.MaxRowsPerUnit)
			}
		}
		if i < len(r.UpTo) {
			from = r.UpTo[i] + 1
		}
	}
	r.Whole, r.Bounded = math.Max(0, r.Whole), math.Max(0, r.Bounded)
}
