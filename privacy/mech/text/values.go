package text

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// maxSelected is the longest text, in bytes, that [Session.Values] may release; longer ones are
// never candidates.
const maxSelected = engine.MaxText

// The texts of a call have so much room in the journal, whatever is drawn, in bytes: those of a
// column, and all. It is more than the categories that a column may have take.
const (
	columnRoom = 96 << 10
	callRoom   = 1 << 26
)

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

// Question is a column that [Session.Values] is asked about.
type Question struct {
	Column     int
	Magnitudes schema.Magnitudes // the zero one has none: every cell is a text
	Texts      bool              // the frequent ones of those without a magnitude
}

// Answer is what the cells of a column hold, in numbers of rows with noise.
type Answer struct {
	Magnitudes []int64
	Texts      []Found // in the order of their bytes
}

// Values returns what the cells of some columns hold: how many have each of the magnitudes, and of
// those that have none the texts that occur often, with their numbers of rows; each number has its
// own round(N(0, sigma²)) added. A text is released if its noisy number is at least the threshold
// of [SelectionThreshold]; of a column with very many of them, the most frequent ones are returned.
// Texts that do not occur are never drawn for: that is what δ pays for.
// (docs/claims/values.md) Events: those of selectionEvents for each column, with δ = 0 where no
// text is wanted.
func (s *session) Values(of []Question, d Selection) ([]Answer, error) {
	g, err := noise.NewRoundedGaussian(d.Sigma)
	if err != nil {
		return nil, err
	}
	if of, err = s.askable(of, d); err != nil {
		return nil, err
	}
	c := access.Call{What: fmt.Sprintf("values of %d columns", len(of)),
		Of: access.Ask("values").Floats(d.Sigma, d.Delta)}
	threshold := int64(0) // of the texts that are wanted
	for _, w := range of {
		texts, own := int64(0), Selection{Sigma: d.Sigma}
		if w.Texts {
			texts, own, threshold = 1, d, SelectionThreshold(s.Neighbours(), d)
		}
		c.Of = c.Of.Ints(int64(w.Column), int64(w.Magnitudes.Kind), int64(w.Magnitudes.PerPower),
			texts).Text(w.Magnitudes.Format).Floats(w.Magnitudes.Edges...).Floats(w.Magnitudes.Steps...)
		c.Cost = append(c.Cost, selectionEvents(s.Neighbours(), own)...)
		c.Length += w.Magnitudes.Len()
	}
	room := min(columnRoom, callRoom/max(1, len(of)))
	if c.Text = threshold > 0; c.Text {
		c.Room = base64.StdEncoding.EncodedLen(8*c.Length+len(of)*(room+listBytes)) + listBytes
	}
	c.Draw = func(in access.Rows, _ func(accountant.Charge) error) (a access.Released, err error) {
		exact, err := s.values(of)
		if err != nil {
			return a, err
		}
		frequent := make([][]other, len(of))
		for i := range exact {
			frequent[i] = exact[i].addTo(g, threshold, in.Source)
			a.Ints = append(a.Ints, exact[i].magnitudes...)
		}
		if !c.Text {
			return a, nil
		}
		found, err := s.spell(of, frequent, room)
		if err != nil {
			return a, err
		}
		a.Text, err = json.Marshal(found)
		return a, err
	}
	answer, err := access.Do(s.s, c)
	if err != nil {
		return nil, err
	}
	kept := make([][]found, len(of))
	if c.Text && json.Unmarshal(answer.Text, &kept) != nil || len(kept) != len(of) {
		return nil, fmt.Errorf("%s: %w", c.What, privacy.ErrResume)
	}
	counts, out := answer.Ints, make([]Answer, len(of))
	for i, w := range of {
		n := w.Magnitudes.Len()
		out[i].Magnitudes, counts = counts[:n:n], counts[n:]
		for _, f := range kept[i] {
			out[i].Texts = append(out[i].Texts, Found{string(f.Text), f.Rows})
		}
	}
	return out, nil
}

// askable is a copy of what is asked, by the columns of all tables, if it can be.
func (s *session) askable(of []Question, d Selection) ([]Question, error) {
	of = slices.Clone(of) // what is asked stays what was paid for, whatever the caller does meanwhile
	for i := range of {
		of[i].Column += s.first
		of[i].Magnitudes = of[i].Magnitudes.Clone()
		w := of[i]
		switch {
		case w.Texts && !(d.Delta >= 1e-100 && d.Delta < .5):
			return nil, fmt.Errorf("delta %v must be from 1e-100 to below 1/2", d.Delta)
		case w.Magnitudes.Len() == 0 && (!w.Texts || w.Magnitudes.Kind != 0):
			return nil, fmt.Errorf("%+v are no magnitudes", w.Magnitudes)
		case slices.ContainsFunc(of[:i], func(b Question) bool { return b.Column == w.Column }):
			return nil, fmt.Errorf("column %d is named twice", w.Column)
		}
		if err := s.column(w.Column - s.first); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// exact is what the cells of a column hold, and private.
type exact struct {
	magnitudes []int64
	others     []other // of which every one has a row
}

// other is a text without a magnitude, and its number of rows.
type other struct {
	cell int64 // its place in the dictionary, or what it is called elsewhere
	rows int64
}

// values counts: rows of each magnitude, and of each text that has none, where texts are wanted.
func (s *session) values(of []Question) ([]exact, error) {
	if s.far != nil {
		return s.far.values(of)
	}
	out := make([]exact, len(of))
	for i, w := range of {
		out[i] = valuesOf(s.texts().Columns[w.Column], w)
	}
	return out, nil
}

func valuesOf(c table.TextColumn, w Question) exact {
	e := exact{magnitudes: make([]int64, w.Magnitudes.Len())}
	for i, rows := range c.Counts() {
		text := []byte(c.Texts[i])
		if at, ok := w.Magnitudes.Of(text); ok {
			e.magnitudes[at] += rows
			continue
		}
		if rows == 0 || len(text) > maxSelected || !w.Texts {
			continue
		}
		e.others = append(e.others, other{int64(i), rows})
	}
	return e
}

// addTo adds noise to the counts, and returns the texts whose noisy number of rows reaches the
// threshold, with that.
func (e *exact) addTo(
	g *noise.RoundedGaussian, threshold int64, src *noise.Source,
) (frequent []other) {
	for _, c := range e.others {
		if c.rows += g.Sample(src); c.rows >= threshold {
			frequent = append(frequent, c)
		}
	}
	g.AddTo(e.magnitudes, src)
	return frequent
}

// spell gives the texts that are released of each column, with their noisy numbers of rows, in the
// order of their bytes: the most frequent ones for which there is room.
func (s *session) spell(of []Question, frequent [][]other, room int) ([][]found, error) {
	out := make([][]found, len(of))
	var texts map[int64][]byte
	if s.far != nil {
		var err error
		if texts, err = s.far.spell(of, frequent); err != nil {
			return nil, err
		}
	}
	for i, w := range of {
		for _, c := range frequent[i] {
			text, there := texts[c.cell]
			if s.far == nil {
				text, there = []byte(s.texts().Columns[w.Column].Texts[c.cell]), true
			}
			if there {
				out[i] = append(out[i], found{text, c.rows})
			}
		}
		byText := func(a, b found) int { return bytes.Compare(a.Text, b.Text) }
		slices.SortFunc(out[i], func(a, b found) int { // not as the rows come
			return cmp.Or(cmp.Compare(b.Rows, a.Rows), byText(a, b))
		})
		left := room
		out[i] = slices.DeleteFunc(out[i], func(f found) bool {
			left -= listBytes + base64.StdEncoding.EncodedLen(len(f.Text))
			return left < 0
		})
		slices.SortFunc(out[i], byText)
	}
	return out, nil
}

// found is a [Found] whose text, which need not be UTF-8, survives the journal. It takes at most
// listBytes there besides the text, and so does the list that it is in.
type found struct {
	Text []byte
	Rows int64
}

const listBytes = 48

// selectionEvents is the events of [Session.Values]: Gaussian noise on disjoint counts, and δ for
// the texts that only one unit has, if texts are released.
func selectionEvents(nb privacy.Neighbours, d Selection) accountant.Composition {
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
