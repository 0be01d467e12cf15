package stats

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/threshold"
)

// ErrExhausted is returned by a [Holdout] that has corrected as many answers as it may.
var ErrExhausted = fmt.Errorf("the holdout has no corrections left: %w", accountant.ErrBudget)

// HoldoutOptions says what a [Holdout] may cost and how close an answer must be. Budget and
// Corrections are required.
type HoldoutOptions struct {
	privacy.Options     // without Plan, Price and Method, which are filled in
	Corrections     int // required: how many wrong answers are paid for, 1 to 10 000
	// an answer of the synthetic table that is off by more is corrected; in (0, 1), default .05
	Tolerance float64
}

// Holdout is a private table that answers any number of questions about shares of rows, and spends
// on those only to which a synthetic table gives a wrong answer: Thresholdout of Dwork, Feldman,
// Hardt, Pitassi, Reingold & Roth 2015 (Science 349; arXiv 1506.02629), with the synthetic table as
// the training set. Questions may be chosen by the answers before. Its whole budget is reserved
// when it is opened. It is for one goroutine.
type Holdout struct {
	s         *privacy.Session
	synthetic *table.Table
	o         HoldoutOptions
	rows      float64 // noisy
	epsilon   float64 // of a round
	sigma     float64 // of a correction
	left      int     // corrections
	round     *threshold.Round
}

// Told is what a [Holdout] says.
type Told struct {
	Share float64 `json:"share"` // of the rows for which the question is true, 0 to 1
	// it comes from the private rows, with noise; else it is the synthetic table's, which is about
	// right
	Corrected bool    `json:"corrected"`
	StdErr    float64 `json:"standard_error,omitempty"` // of the noise, if it was corrected
}

// OpenHoldout reserves the budget and reads the rows. Half of ε goes to the comparisons, the rest
// to the corrections and the number of rows.
func OpenHoldout(
	ctx context.Context, rows *privacy.Rows, synthetic *table.Table, o HoldoutOptions,
) (*Holdout, error) {
	if o.Tolerance == 0 {
		o.Tolerance = .05
	}
	switch {
	case o.Corrections < 1 || o.Corrections > 10_000:
		return nil, fmt.Errorf("%d corrections, 1 to 10000 are possible", o.Corrections)
	case !(o.Tolerance > 0 && o.Tolerance < 1):
		return nil, fmt.Errorf("tolerance %v must be between 0 and 1", o.Tolerance)
	}
	if err := o.Budget.Validate(); err != nil {
		return nil, err
	}
	if err := comparable(rows.Schema(), synthetic); err != nil {
		return nil, err
	}
	nb := privacy.NeighboursOf(rows.Schema(), o.Adjacency)
	h := &Holdout{synthetic: synthetic, o: o, left: o.Corrections, epsilon: o.round()}
	at := func(z float64) accountant.Composition {
		h.sigma = z * unit(nb.MeasureEvent(privacy.Total{}, 1))
		return accountant.Composition{
			{Event: threshold.Event(h.epsilon), Count: o.Corrections},
			// and the number of rows
			{Event: nb.MeasureEvent(privacy.Total{}, h.sigma), Count: o.Corrections + 1},
		}
	}
	z, err := accountant.ScaleFor(o.Budget, nb.Adjacency, at)
	if err != nil {
		return nil, err
	}
	o.Plan, o.Adjacency, o.Method = at(z), nb.Adjacency, "holdout"
	if h.s, err = privacy.Open(ctx, rows, o.Options); err != nil {
		return nil, err
	}
	counts, err := h.s.Measure(privacy.Total{}, h.sigma)
	if err != nil {
		return nil, h.s.Finish(err, nil)
	}
	h.rows = max(1, float64(counts[0]))
	return h, nil
}

// Ask returns the share of the rows for which an expression holds. The error wraps ErrExhausted
// when a correction would be needed, or might be, and none is left.
func (h *Holdout) Ask(question table.Expr) (Told, error) {
	set, err := table.CompileExprs(h.synthetic.Schema().Sizes(), []table.Expr{question})
	if err != nil {
		return Told{}, fmt.Errorf("the question: %w", err)
	}
	if h.left == 0 {
		return Told{}, ErrExhausted
	}
	if h.round == nil {
		var err error
		if h.round, err = threshold.Open(h.s, h.o.Tolerance*h.rows, h.epsilon); err != nil {
			return Told{}, err
		}
	}
	guess := float64(h.synthetic.CountExprs(set)[0]) / float64(h.synthetic.Rows())
	query := privacy.Where{Expr: question}
	wrong, err := h.round.Ask(question, guess*h.rows)
	if err != nil {
		return Told{}, err
	}
	if !wrong {
		return Told{Share: guess}, nil
	}
	h.round = nil
	h.left--
	counts, err := h.s.Measure(query, h.sigma)
	if err != nil {
		return Told{}, err
	}
	share := min(1, max(0, float64(counts[0])/h.rows))
	return Told{Share: share, Corrected: true,
		StdErr: h.sigma / h.rows * math.Sqrt(1+share*share)}, nil
}

// round is the ε of a round of comparisons.
func (o HoldoutOptions) round() float64 { return o.Budget.Epsilon / 2 / float64(o.Corrections) }

// Noise is the standard deviation of what is added to a comparison, in rows: that of Lap(4k/ε) and
// Lap(2k/ε), see [threshold.Open]. It reads no row.
func (o HoldoutOptions) Noise(s *schema.Schema) float64 {
	k := privacy.NeighboursOf(s, o.Adjacency).MaxRowsPerUnit
	return math.Sqrt(40) * float64(max(1, k)) / o.round()
}

// Rows is the noisy number of rows, at least 1, and the standard deviation of its noise.
func (h *Holdout) Rows() (n, noise float64) { return h.rows, h.sigma }

// Left is how many corrections are left.
func (h *Holdout) Left() int { return h.left }

// Close ends the run and returns its ledger. What was not used is not given back.
func (h *Holdout) Close() (*ledger.Ledger, error) {
	err := h.s.Finish(nil, nil)
	return h.s.Ledger(), err
}
