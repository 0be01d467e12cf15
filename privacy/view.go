package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// View is a session on a view of linked tables: with its own schema and relation, it is the same
// run, which pays for both from one reservation. It counts marginals alone, in units of 1/Full of a
// row, by which its noise is measured, too. There are the views that the rows were opened with.
func (s *session) View(name string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	var view access.View
	if s.in.Joint != nil {
		view = s.in.Joint.Views[name]
	}
	if view.Table == nil {
		return nil, fmt.Errorf("the rows have no view %q", name)
	}
	out := &session{paying: s.paying, view: name, schema: view.Schema.Clone(),
		nb: NeighboursOf(view.Schema, s.nb.Adjacency)}
	weights := weightsOf(view.Table().Units(), out.nb.MaxRowsPerUnit, view.Full)
	out.in = access.Rows{Source: s.src, Joint: &access.Joint{
		CountTo: func(counts []int64, cols []int, offsets [][]int32) {
			countTo(counts, view.Table(), weights, cols, offsets)
		}}}
	out.in.Counts = counter(out.in)
	s.all = append(s.all, out)
	return &Session{out}, nil
}

// weightsOf is the weight of each row, given its unit: that of one of k rows of a unit is full or,
// if that is less, most/k rounded down. So those of a unit are together at most most.
func weightsOf(units []uint32, most, full int) []uint32 {
	k := map[uint32]int{}
	for _, u := range units {
		k[u]++
	}
	out := make([]uint32, len(units))
	for row, u := range units {
		out[row] = uint32(min(full, most/k[u]))
	}
	return out
}

// asked is what a call of a view is, and its key: of a view, with its name.
func asked(view, what string, of access.Key) (string, access.Key) {
	if view == "" {
		return what, of
	}
	return view + ": " + what, access.Ask("view").Text(view).Text(of.Sum())
}
