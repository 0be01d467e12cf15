package privacy

import (
	"runtime"
	"sync"

	"github.com/decoy-dp/decoy/table"
)

// maxRemembered is how many cells of true counts a session keeps: 8 MiB.
const maxRemembered = 1 << 20

// counts returns the true counts of queries, which the caller must not change. It holds the
// session's lock and has been charged.
func (s *session) counts(qs []compiled) ([][]int64, error) {
	if s.exact == nil {
		s.exact = newCounter(s)
	}
	return s.exact(qs)
}

// newCounter returns a function that counts queries and remembers their counts: a method that
// selects among the same candidates round after round reads the rows once for each. It stands
// behind a function, so that printing a session shows no count; the counts never leave the gate,
// and which of them are remembered depends on public sizes only.
func newCounter(s *session) func(qs []compiled) ([][]int64, error) {
	known, cells := map[string][]int64{}, 0 // with their keys, at eight bytes a cell
	return func(qs []compiled) ([][]int64, error) {
		out := make([][]int64, len(qs))
		var rest, wheres []int // to be counted
		var exprs []table.Expr
		for i, q := range qs {
			if out[i] = known[q.key]; out[i] != nil && !q.code {
				continue
			}
			if q.where != nil {
				wheres, exprs = append(wheres, i), append(exprs, q.where)
			} else {
				rest = append(rest, i)
			}
		}
		if len(rest)+len(wheres) == 0 {
			return out, nil
		}
		t := s.data()
		if len(wheres) > 0 {
			set, err := table.CompileExprs(s.schema.Sizes(), exprs)
			if err != nil {
				return nil, err
			}
			for k, n := range t.CountExprs(set) {
				out[wheres[k]] = []int64{n}
			}
		}
		var wg sync.WaitGroup
		workers := min(runtime.GOMAXPROCS(0), len(rest))
		for w := range workers {
			wg.Go(func() {
				for k := w; k < len(rest); k += workers {
					out[rest[k]] = qs[rest[k]].count(s, t)
				}
			})
		}
		wg.Wait()
		for _, i := range append(rest, wheres...) {
			q := qs[i]
			size := q.cells + len(q.key)/8
			if known[q.key] == nil && !q.code && cells+size <= maxRemembered {
				known[q.key] = out[i]
				cells += size
			}
		}
		return out, nil
	}
}
