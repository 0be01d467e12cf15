package analysis

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// InferencePlan is the purchase of a schema on paper: what a session must reserve for it. All noise
// is Gaussian and is taken from one filter (accountant.GDPFilter), so that what one question leaves
// pays for the next.
type InferencePlan struct {
	Budget     accountant.Budget // of the whole run
	Neighbours privacy.Neighbours
	Columns    int     // that are asked about
	Mu         float64 // of the filter that is reserved
	// part of Mu² that the schema may take, 0 < Share ≤ 1. The rest is for what is asked in the same
	// session afterwards
	Share float64
	Delta float64 // for the texts of one column that only one unit has
}

const (
	deltaShare = 0.5 // of δ, for texts that only one unit has; noise has the rest

	// The first question, about kinds, takes kindShare of the schema's part of Mu². If the rows are
	// less than fewRows times its noise, it is asked once more with againShare.
	kindShare  = 0.15
	againShare = 0.25
	fewRows    = 50
)

// PlanInference is the plan for a table with so many columns to ask about, which takes all of the
// budget; δ > 0. The errors are those of accountant.ScaleFor, and one that wraps schema.ErrInvalid.
func PlanInference(columns int, nb privacy.Neighbours, b accountant.Budget) (InferencePlan, error) {
	p := InferencePlan{Budget: b, Neighbours: nb, Columns: columns, Share: 1,
		Delta: b.Delta * deltaShare / float64(max(1, columns))}
	if err := b.Validate(); err != nil {
		return p, err
	}
	switch {
	case b.Delta == 0:
		return p, fmt.Errorf("infer: categories can only be found with delta > 0: %w",
			accountant.ErrBudgetRange)
	case columns < 1:
		return p, fmt.Errorf("infer: there is no column: %w", schema.ErrInvalid)
	}
	scale, err := accountant.ScaleFor(b, nb.Adjacency, func(scale float64) accountant.Composition {
		p.Mu = 1 / scale
		return p.Composition()
	})
	p.Mu = 1 / scale
	return p, err
}

// Composition is what a session must reserve.
func (p InferencePlan) Composition() accountant.Composition {
	return accountant.Composition{
		{Event: accountant.GDPFilter{Mu: p.Mu}, Count: 1},
		{Event: accountant.Approx{Delta: p.Delta}, Count: p.Columns},
	}
}

// sigma is the noise, in rows, of each of n equal questions that together take a part of what the
// schema may take.
func (p InferencePlan) sigma(part float64, n int) float64 {
	unit := 1 / p.Neighbours.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier
	return unit * math.Sqrt(float64(n)/(p.Share*part)) / p.Mu * (1 + 1e-9)
}

// values is the noise of the second question if the first was asked once, or twice, and so many
// more questions than columns are asked.
func (p InferencePlan) values(again bool, questions int) text.Selection {
	part := 1 - kindShare
	if again {
		part -= againShare
	}
	return text.Selection{Sigma: p.sigma(part, questions), Delta: p.Delta}
}

// Needs is how many rows the steps of a purchase need, each to come out nearly always. It follows
// from the plan alone.
type Needs struct {
	// of a column, that are not missing: fewer, and its kind is not seen, so that it is left out
	Kind float64
	// numbers of a column within a few powers of two: fewer, and there are no bounds
	Bounds float64
	// rows of a table: fewer, and its bounds are powers of two
	Fine float64
	// rows with a text: fewer, and it is joined with others
	Category float64
}

// surely is how far above a limit, in standard deviations, a count must be to pass it 98 times in a
// hundred.
const surely = 2

// Needs are those of a small table: a large one needs fewer rows for a kind.
func (p InferencePlan) Needs() Needs {
	v := p.values(true, p.Columns)
	return Needs{
		Kind:     (clear + surely) * p.sigma(kindShare+againShare, p.Columns),
		Bounds:   (core + surely) * 2 * v.Sigma, // four cells
		Fine:     coarseRows * v.Sigma,
		Category: float64(text.SelectionThreshold(p.Neighbours, v)) + surely*v.Sigma,
	}
}
