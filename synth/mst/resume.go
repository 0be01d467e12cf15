package mst

import (
	"encoding/json"
	"fmt"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/synth"
)

// tape holds the releases of a fit in the order in which the plan asks for them: the counts of a marginal, or the number of a chosen pair. All else
// that a fit does follows from them, so a later process plays back what an earlier one has paid for and goes on from there.
type tape struct {
	Releases [][]int64 `json:"releases"` // nil for one that was lost with its process
	played   int
	resumed  bool                     // releases may have been lost
	save     func(state []byte) error // nil records nothing
}

// newTape reads what an earlier process saved; nil is an empty tape. begun tells that the session has charges already.
func newTape(state []byte, begun bool, save func([]byte) error) (*tape, error) {
	t := &tape{save: save, resumed: state != nil || begun}
	if state != nil {
		if err := json.Unmarshal(state, t); err != nil {
			return nil, fmt.Errorf("mst: the state is damaged: %w", synth.ErrCheckpoint)
		}
	}
	return t, nil
}

// next is the next release: played back, or bought by fresh and saved. nil is a lost one: a resumed session has no call left for it.
func (t *tape) next(left int, fresh func() ([]int64, error)) ([]int64, error) {
	if t.played < len(t.Releases) {
		t.played++
		return t.Releases[t.played-1], nil
	}
	var r []int64
	if left > 0 || !t.resumed {
		var err error
		if r, err = fresh(); err != nil {
			return nil, err
		}
	}
	t.Releases = append(t.Releases, r)
	t.played++
	if t.save == nil {
		return r, nil
	}
	state, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return r, t.save(state)
}

// counted is a release as a measurement, nil if its length is not that of the marginal.
func counted(cols []int, sizes []int, counts []int64, sigma float64) *marginal.Measurement {
	cells := 1
	for _, c := range cols {
		cells *= sizes[c]
	}
	if len(counts) != cells {
		return nil
	}
	m := &marginal.Measurement{Cols: cols, Sigma: sigma, Counts: make([]float64, cells)}
	for i, c := range counts {
		m.Counts[i] = float64(c)
	}
	return m
}

// fillLost puts a uniform distribution, so uncertain that any pair outweighs it, where the marginal of a column was lost.
func fillLost(oneWay []*marginal.Measurement, sizes []int) ([]marginal.Measurement, error) {
	total, n := 0.0, 0.0
	for _, m := range oneWay {
		if m != nil {
			n++
			for _, c := range m.Counts {
				total += c
			}
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("mst: every marginal was lost with an earlier process: %w", synth.ErrCheckpoint)
	}
	out := make([]marginal.Measurement, len(oneWay))
	for i, m := range oneWay {
		if m == nil {
			m = &marginal.Measurement{Cols: []int{i}, Sigma: max(1, total/n), Counts: make([]float64, sizes[i])}
			for k := range m.Counts {
				m.Counts[k] = total / n / float64(sizes[i])
			}
		}
		out[i] = *m
	}
	return out, nil
}
