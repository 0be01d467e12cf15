package privacy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
)

// MaxDiscovered is the longest text, in bytes, that [TextSession.Discover] may release; longer ones are never candidates.
const MaxDiscovered = 200

// Found is a text that occurs often, and its noisy number of rows.
type Found struct {
	Text string
	Rows int64
}

// Discovery says how much noise [TextSession.Discover] adds, and with what probability it may release a text of one unit alone.
type Discovery struct {
	Sigma float64 // standard deviation of the noise, in rows: > 0
	Delta float64 // 1e-100 ≤ δ < 1/2
}

// Discover returns the texts of a column whose number of rows plus round(N(0, sigma²)) is at least the threshold of
// [Neighbours.DiscoverThreshold], with these noisy numbers, in the order of their bytes (docs/claims/discover.md). Texts that do not
// occur are never drawn for: that is what δ pays for. Events: [Neighbours.DiscoverEvents], both.
func (s *TextSession) Discover(l label, column int, d Discovery) ([]Found, error) {
	g, err := noise.NewRoundedGaussian(d.Sigma)
	if err != nil {
		return nil, err
	}
	if !(d.Delta >= 1e-100 && d.Delta < .5) {
		return nil, fmt.Errorf("privacy: %s: delta %v must be from 1e-100 to below 1/2", l, d.Delta)
	}
	if err := s.column(l, column); err != nil {
		return nil, err
	}
	threshold := s.s.nb.DiscoverThreshold(d)
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	for _, c := range s.s.nb.DiscoverEvents(d) {
		if err := s.s.charge(l, c.Event); err != nil {
			return nil, err
		}
	}
	var out []Found
	c := s.texts().cols[column]
	for i, rows := range c.counts() {
		if rows == 0 || len(c.of[i]) > MaxDiscovered {
			continue
		}
		if noisy := rows + g.Sample(s.s.src); noisy >= threshold {
			out = append(out, Found{Text: strings.Clone(c.of[i]), Rows: noisy})
		}
	}
	slices.SortFunc(out, func(a, b Found) int { return strings.Compare(a.Text, b.Text) })
	return out, nil
}

// DiscoverEvents is the events of [TextSession.Discover]: Gaussian noise on disjoint counts, and δ for the texts that only one unit has.
func (nb Neighbours) DiscoverEvents(d Discovery) accountant.Composition {
	return accountant.Composition{{Event: nb.CountsEvent(d.Sigma), Count: 1}, {Event: accountant.Approx{Delta: d.Delta}, Count: 1}}
}

// DiscoverThreshold is the smallest threshold, in rows, at which a text that only one unit has is released with probability at most δ: with
// f(c) = P(c + round(N(0, σ²)) ≥ τ) the probability that some of the unit's texts is released is at most max(f(k), k·f(1)) ≤ δ, k the unit's
// rows, as f is convex below τ (docs/claims/discover.md).
func (nb Neighbours) DiscoverThreshold(d Discovery) int64 {
	k := nb.k()
	fails := func(threshold float64) bool {
		return releaseProbability(threshold-k, d.Sigma) > d.Delta || k*releaseProbability(threshold-1, d.Sigma) > d.Delta
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
