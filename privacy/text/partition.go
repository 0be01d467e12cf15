package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxSelected is the longest text, in bytes, that [Session.PartitionSelection] may release; longer
// ones are never candidates.
const MaxSelected = 200

// Found is a text that occurs often, and its noisy number of rows.
type Found struct {
	Text string
	Rows int64
}

// Selection says how much noise [Session.PartitionSelection] adds, and with what probability it may
// release a text of one unit alone.
type Selection struct {
	Sigma float64 // standard deviation of the noise, in rows: > 0
	Delta float64 // 1e-100 ≤ δ < 1/2
}

// PartitionSelection returns the texts of a column whose number of rows plus round(N(0, sigma²)) is
// at least the threshold of [SelectionThreshold], with these noisy numbers, in the order of their
// bytes (docs/claims/partitionselection.md). Texts that do not occur are never drawn for: that is
// what δ pays for. Events: [SelectionEvents], both.
func (s *session) PartitionSelection(column int, d Selection) ([]Found, error) {
	g, err := noise.NewRoundedGaussian(d.Sigma)
	if err != nil {
		return nil, err
	}
	if !(d.Delta >= 1e-100 && d.Delta < .5) {
		return nil, fmt.Errorf("privacy: delta %v must be from 1e-100 to below 1/2", d.Delta)
	}
	if err := s.column(column); err != nil {
		return nil, err
	}
	threshold := SelectionThreshold(s.Neighbours(), d)
	c := access.Call{
		What: fmt.Sprintf("frequent texts of column %d", column+1),
		Of:   access.Ask("discover").Ints(int64(column)).Floats(d.Sigma, d.Delta),
		Cost: SelectionEvents(s.Neighbours(), d),
	}
	c.Draw = func(in access.Rows, _ func(accountant.Charge) error) ([]byte, error) {
		return json.Marshal(s.texts().cols[column].frequent(g, threshold, in.Source))
	}
	answer, err := access.Run(s.s, c)
	if err != nil {
		return nil, err
	}
	var kept []found
	if err := json.Unmarshal(answer, &kept); err != nil {
		return nil, fmt.Errorf("privacy: frequent texts of column %d: %w", column+1, privacy.ErrResume)
	}
	var out []Found
	for _, f := range kept {
		out = append(out, Found{string(f.Text), f.Rows})
	}
	return out, nil
}

// frequent is the texts whose noisy number of rows reaches the threshold, in the order of their
// bytes.
func (c textColumn) frequent(g *noise.RoundedGaussian, threshold int64, src *noise.Source) []found {
	var out []found
	for i, rows := range c.counts() {
		if rows == 0 || len(c.of[i]) > MaxSelected {
			continue
		}
		if noisy := rows + g.Sample(src); noisy >= threshold {
			out = append(out, found{[]byte(c.of[i]), noisy})
		}
	}
	slices.SortFunc(out, func(a, b found) int { return bytes.Compare(a.Text, b.Text) })
	return out
}

// found is a [Found] whose text, which need not be UTF-8, survives the journal.
type found struct {
	Text []byte
	Rows int64
}

// SelectionEvents is the events of [Session.PartitionSelection]: Gaussian noise on disjoint counts,
// and δ for the texts that only one unit has.
func SelectionEvents(nb privacy.Neighbours, d Selection) accountant.Composition {
	return accountant.Composition{
		{Event: nb.MeasureEvent(privacy.Marginal{}, d.Sigma), Count: 1},
		{Event: accountant.Approx{Delta: d.Delta}, Count: 1},
	}
}

// SelectionThreshold is the smallest threshold, in rows, at which a text that only one unit has is
// released with probability at most δ: with f(c) = P(c + round(N(0, σ²)) ≥ τ) the probability that
// some of the unit's texts is released is at most max(f(k), k·f(1)) ≤ δ, k the unit's rows, as f is
// convex below τ (docs/claims/partitionselection.md).
func SelectionThreshold(nb privacy.Neighbours, d Selection) int64 {
	k := float64(max(1, nb.MaxRowsPerUnit))
	fails := func(threshold float64) bool {
		return releaseProbability(threshold-k, d.Sigma) > d.Delta ||
			k*releaseProbability(threshold-1, d.Sigma) > d.Delta
	}
	lo, hi := k, k+1 // f(k) ≥ 1/2 at τ = k
	for fails(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := math.Floor((lo + hi) / 2); fails(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return int64(hi)
}

// releaseProbability is P(round(N(0, σ²)) ≥ m) = P(N ≥ m − ½) for a whole m ≥ 0, rounded up.
func releaseProbability(m, sigma float64) float64 {
	return math.Erfc((m-.5)/sigma/math.Sqrt2) / 2 * (1 + 1e-9)
}
