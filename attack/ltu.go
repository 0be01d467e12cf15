package attack

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// Accuracy is how often an attacker who had to say which of two rows was in was right.
type Accuracy struct {
	Rounds   int     `json:"rounds"`
	Right    int     `json:"right"`
	Accuracy float64 `json:"accuracy"`
	// Privacy is min(2·(1 − accuracy), 1): 1 when the attacker guesses, 0 when he knows. The interval
	// is two standard errors √(A·(1 − A)/N) of the accuracy either way, times 2, within [0, 1].
	Privacy     float64 `json:"privacy"`
	PrivacyLow  float64 `json:"privacy_low"`
	PrivacyHigh float64 `json:"privacy_high"`
	Confidence  float64 `json:"confidence"`
	// of the expected accuracy, exact (Clopper & Pearson)
	AtLeast float64 `json:"accuracy_lower"`
	// the most that the claim allows: e^ε/(1 + e^ε) + δ
	Limit float64 `json:"accuracy_claimed"`
	// ε at the claim's δ: ln(a/(1 − a)) of a = AtLeast − δ
	Epsilon float64 `json:"epsilon_lower"`
	Refuted bool    `json:"refuted"`
}

// accuracyOf derives everything from the rounds. Each round must have a fair coin of its own.
func accuracyOf(right, rounds int, b accountant.Budget, confidence float64) Accuracy {
	a := float64(right) / float64(rounds)
	r := Accuracy{Rounds: rounds, Right: right, Accuracy: a, Privacy: min(2*(1-a), 1),
		Confidence: confidence}
	se := math.Sqrt(a * (1 - a) / float64(rounds))
	r.PrivacyLow, r.PrivacyHigh = max(0, r.Privacy-2*2*se), min(1, r.Privacy+2*2*se)
	r.AtLeast, _ = clopperPearson(right, rounds, 1-confidence)
	r.Limit = min(1, 1/(1+math.Exp(-b.Epsilon))+b.Delta)
	if p := r.AtLeast - b.Delta; p > .5 {
		r.Epsilon = math.Log(p / (1 - p))
	}
	r.Refuted = r.AtLeast > r.Limit
	return r
}

// LTU is the leave-two-unlabelled attacker (Pedersen et al., "LTU attacker for membership
// inference", Algorithms 15(7) 254, 2022) against a method: in each round two rows of the table are
// drawn, a fair coin says which of them goes with all others into a fit, and the attacker, who
// knows all rows, both candidates and the model, says which. He compares how many rows the model
// has in the cells of each candidate with how many the other rows account for.
//
// Under (ε, δ)-DP with replace-one neighbours, which is what the method is run under, he is right
// with probability at most e^ε/(1 + e^ε) + δ in every round; rounds are independent, so the test of
// that claim is exact. The table must be public or test data, with at least 3 rows and no id
// column.
func LTU(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, o Options,
) (Accuracy, error) {
	if err := o.fill(100); err != nil {
		return Accuracy{}, err
	}
	s := t.Schema()
	switch {
	case t.Rows() < 3 || s.Unit != "":
		return Accuracy{},
			fmt.Errorf("attack: a table of %d rows must have at least 3 and no id column", t.Rows())
	case len(s.Buys()) > 0:
		return Accuracy{}, fmt.Errorf("attack: %w", errBins)
	}
	run, _, _, err := fitter(f, s, accountant.ReplaceOne, b)
	if err != nil {
		return Accuracy{}, err
	}
	all := newMargins(s.Sizes())
	all.addTable(t)
	var right atomic.Int64
	err = o.each(ctx, o.Runs, func(ctx context.Context, _ int) error {
		ok, err := ltuRound(ctx, run, t, all)
		if ok {
			right.Add(1)
		}
		if err != nil {
			return fmt.Errorf("attack: %s: %w", f.Name(), err)
		}
		return nil
	}, func(done int) { o.progress(done, o.Runs) })
	if err != nil {
		return Accuracy{}, err
	}
	return accuracyOf(int(right.Load()), o.Runs, b, o.Confidence), nil
}

// ltuRound is one round: whether the attacker is right.
func ltuRound(ctx context.Context, run fitted, t *table.Table, all *margins) (bool, error) {
	n := t.Rows()
	a := rand.IntN(n)
	b := (a + 1 + rand.IntN(n-1)) % n
	in, out := a, b
	if rand.IntN(2) == 0 {
		in, out = b, a
	}
	rows := make([]int, 0, n-1)
	for r := range n {
		if r != out {
			rows = append(rows, r)
		}
	}
	params, err := run(ctx, t.Select(rows))
	if err != nil {
		return false, err
	}
	seen := newMargins(all.sizes)
	seen.addModel(params, sampledRows)
	rowA, rowB := make([]uint16, len(all.sizes)), make([]uint16, len(all.sizes))
	rowTo(rowA, t, a)
	rowTo(rowB, t, b)
	// Where the candidates share a cell it says nothing; elsewhere the other rows account for all
	// but one of all rows.
	score := 0.0
	for k := range seen.sets {
		x, y := seen.cell(k, rowA), seen.cell(k, rowB)
		if x != y {
			score += (seen.counts[k][x] - all.counts[k][x]) - (seen.counts[k][y] - all.counts[k][y])
		}
	}
	guess := a
	if score < 0 || score == 0 && rand.IntN(2) == 0 {
		guess = b
	}
	return guess == in, nil
}
