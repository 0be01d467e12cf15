package infer

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// InferencePlan is the purchase of a schema on paper: what a session must reserve for it. All noise
// is Gaussian and is taken from one filter (accountant.GDPFilter), so that what one question leaves
// pays for the next.
type InferencePlan struct {
	Budget     accountant.Budget // of the whole run
	Neighbours privacy.Neighbours
	Columns    int     // that are asked about
	Mu         float64 // of the filter that is reserved
	// part of Mu² that the schema may take, 0 < Share ≤ 1, and of which or of the rest rules take at
	// most a twentieth. The rest is for what is asked in the same session afterwards
	Share float64
	Delta float64 // for the texts of one column that only one unit has, in one question of two
}

const (
	deltaShare = 0.5 // of δ, for texts that only one unit has; noise has the rest

	// The first question, about kinds, takes kindShare of the schema's part of Mu². If the rows are
	// less than fewRows times its noise, it is asked once more with againShare.
	kindShare  = 0.15
	againShare = 0.25
	fewRows    = 50

	// Of what a column of numbers, dates or times gets afterwards, fineShare at most is for
	// fineQuestions last questions, about parts of its magnitudes and heaps: less where the rows are
	// more than fineRows times the noise, and nothing where they are less than leastRows times.
	partsShare     = 0.25
	partsQuestions = 2
	manyRows       = 60
	leastRows      = 20
)

// PlanInference is the plan for a table with so many columns to ask about, which takes all of the
// budget; δ > 0. The errors are those of accountant.ScaleFor, and one that wraps schema.ErrInvalid.
func PlanInference(columns int, nb privacy.Neighbours, b accountant.Budget) (InferencePlan, error) {
	p := InferencePlan{Budget: b, Neighbours: nb, Columns: columns, Share: 1,
		Delta: b.Delta * deltaShare / float64(textQuestions*max(1, columns))}
	if err := b.Validate(); err != nil {
		return p, err
	}
	switch {
	case b.Delta == 0:
		return p, fmt.Errorf("categories can only be found with delta > 0: %w",
			accountant.ErrBudgetRange)
	case columns < 1:
		return p, fmt.Errorf("there is no column: %w", schema.ErrInvalid)
	}
	scale, err := accountant.ScaleFor(b, nb.Adjacency, func(scale float64) accountant.Composition {
		p.Mu = 1 / scale
		return p.Composition()
	})
	p.Mu = 1 / scale
	return p, err
}

// textQuestions is how often the texts of a column may be asked for: among its numbers, or for
// their heaps, and if it turns out to be of texts.
const textQuestions = 2

// Composition is what a session must reserve.
func (p InferencePlan) Composition() accountant.Composition {
	return accountant.Composition{
		{Event: accountant.GDPFilter{Mu: p.Mu}, Count: 1},
		{Event: accountant.Approx{Delta: p.Delta}, Count: textQuestions * p.Columns},
	}
}

// sigma is the noise, in rows, of each of n equal questions that together take a part of what the
// schema may take.
func (p InferencePlan) sigma(part float64, n int) float64 {
	return p.noiseOf(part*min(p.Share, 1-rulesShare), n)
}

// noiseOf is the noise, in rows, of each of n equal questions that together take a part of Mu².
func (p InferencePlan) noiseOf(part float64, n int) float64 {
	unit := 1 / p.Neighbours.MeasureEvent(privacy.Marginal{}, 1).(accountant.Gaussian).NoiseMultiplier
	return unit * math.Sqrt(float64(n)/part) / p.Mu * (1 + 1e-9)
}

// values is the noise of the kinds, which were asked for once or twice, and of what is asked after
// them of so many columns.
func (p InferencePlan) values(again bool, rows float64, questions int) (n noise) {
	kinds := kindShare
	if again {
		kinds += againShare
	}
	part := 1 - kinds
	n.Kinds = p.sigma(kinds, p.Columns)
	n.Texts = text.Selection{Sigma: p.sigma(part, questions), Delta: p.Delta}
	if ratio := rows / n.Texts.Sigma; ratio > leastRows {
		n.partsMu2 = part * min(partsShare, manyRows/ratio)
	}
	n.Values = text.Selection{Sigma: p.sigma(part-n.partsMu2, questions), Delta: p.Delta}
	n.partsMu2 /= float64(questions)
	return n
}

// Needs is how many rows the steps of a purchase need, each to come out nearly always. It follows
// from the plan alone.
type Needs struct {
	// of a column, that are not missing: fewer, and its kind is not seen, so that it is left out
	Kind float64
	// numbers of a column within a few powers of two: fewer, and there are no bounds
	Bounds float64
	// rows with a text: fewer, and it is joined with others
	Category float64
}

// marginSigmas is how far above a limit, in standard deviations, a count must be to pass it 98
// times in a hundred.
const marginSigmas = 2

// Needs are those of a small table: a large one needs fewer rows for a kind.
func (p InferencePlan) Needs() Needs {
	n := p.values(true, 0, p.Columns)
	return Needs{
		Kind:     (clearSigmas + marginSigmas) * n.Kinds,
		Bounds:   (coreSigmas + marginSigmas) * 2 * n.Values.Sigma, // four cells
		Category: float64(text.SelectionThreshold(p.Neighbours, n.Texts)) + marginSigmas*n.Texts.Sigma,
	}
}
