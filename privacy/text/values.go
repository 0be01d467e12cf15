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
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// MaxSelected is the longest text, in bytes, that [Session.Values] may release; longer ones are
// never candidates.
const MaxSelected = 200

// Found is a text that occurs often, and its noisy number of rows.
type Found struct {
	Text string
	Rows int64
}

// Selection says how much noise [Session.Values] adds, and with what probability it may release a
// text of one unit alone.
type Selection struct {
	Sigma float64 // standard deviation of the noise, in rows: > 0
	Delta float64 // 1e-100 ≤ δ < 1/2; 0: no text is released
}

// Values returns what the cells of a column hold: how many have each of the magnitudes m, and of
// those that have none the texts that occur often, with their numbers of rows; each number has its
// own round(N(0, sigma²)) added. A text is released if its noisy number is at least the threshold
// of [SelectionThreshold]; they come in the order of their bytes. Texts that do not occur are never
// drawn for: that is what δ pays for. The zero m has no magnitudes: every cell is a text
// (docs/claims/values.md). Events: [SelectionEvents], all.
func (s *session) Values(column int, m schema.Magnitudes, d Selection) ([]int64, []Found, error) {
	g, err := noise.NewRoundedGaussian(d.Sigma)
	if err != nil {
		return nil, nil, err
	}
	texts, n := d.Delta != 0, m.Len()
	switch {
	case texts && !(d.Delta >= 1e-100 && d.Delta < .5):
		return nil, nil, fmt.Errorf("privacy: delta %v must be from 1e-100 to below 1/2", d.Delta)
	case n == 0 && (!texts || m != schema.Magnitudes{}):
		return nil, nil, fmt.Errorf("privacy: %+v are no magnitudes", m)
	}
	if err := s.column(column); err != nil {
		return nil, nil, err
	}
	threshold := int64(math.MaxInt64)
	if texts {
		threshold = SelectionThreshold(s.Neighbours(), d)
	}
	c := access.Call{
		What: fmt.Sprintf("values of column %d, %d magnitudes", column+1, n),
		Of: access.Ask("values").Ints(int64(column), int64(m.Kind), int64(m.PerPower)).
			Text(m.Format).Floats(d.Sigma, d.Delta),
		Cost: SelectionEvents(s.Neighbours(), d),
	}
	c.Draw = func(in access.Rows, _ func(accountant.Charge) error) ([]byte, error) {
		counts, found := values(s.texts().Columns[column], m, g, threshold, in.Source)
		frequent, err := json.Marshal(found)
		return append(access.Bytes(counts...), frequent...), err
	}
	answer, err := access.Runner(s.s)(c)
	if err != nil {
		return nil, nil, err
	}
	var kept []found
	counts, err := access.Ints(answer[:min(8*n, len(answer))], n)
	if err != nil || json.Unmarshal(answer[8*n:], &kept) != nil {
		return nil, nil, fmt.Errorf("privacy: values of column %d: %w", column+1, privacy.ErrResume)
	}
	var out []Found
	for _, f := range kept {
		out = append(out, Found{string(f.Text), f.Rows})
	}
	return counts, out, nil
}

// values is the noisy counts of the magnitudes, and of the texts that have none those whose noisy
// number of rows reaches the threshold, in the order of their bytes.
func values(
	c table.TextColumn, m schema.Magnitudes, g *noise.RoundedGaussian, threshold int64,
	src *noise.Source,
) (magnitudes []int64, frequent []found) {
	magnitudes = make([]int64, m.Len())
	for i, rows := range counts(c) {
		text := []byte(c.Texts[i])
		if at, ok := m.Of(text); ok {
			magnitudes[at] += rows
			continue
		}
		if rows == 0 || len(text) > MaxSelected {
			continue
		}
		if noisy := rows + g.Sample(src); noisy >= threshold {
			frequent = append(frequent, found{text, noisy})
		}
	}
	g.AddTo(magnitudes, src)
	slices.SortFunc(frequent, func(a, b found) int { return bytes.Compare(a.Text, b.Text) })
	return magnitudes, frequent
}

// found is a [Found] whose text, which need not be UTF-8, survives the journal.
type found struct {
	Text []byte
	Rows int64
}

// SelectionEvents is the events of [Session.Values]: Gaussian noise on disjoint counts, and δ for
// the texts that only one unit has, if texts are released.
func SelectionEvents(nb privacy.Neighbours, d Selection) accountant.Composition {
	c := access.Once(nb.MeasureEvent(privacy.Marginal{}, d.Sigma))
	if d.Delta == 0 {
		return c
	}
	return append(c, accountant.Charge{Event: accountant.Approx{Delta: d.Delta}, Count: 1})
}

// SelectionThreshold is the smallest threshold, in rows, at which a text that only one unit has is
// released with probability at most δ: with f(c) = P(c + round(N(0, σ²)) ≥ τ) the probability that
// some of the unit's texts is released is at most max(f(k), k·f(1)) ≤ δ, k the unit's rows, as f is
// convex below τ (docs/claims/values.md).
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
