package privacy

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Query is a question that counting answers: a [Marginal], [Total], [Where], [Scores] or
// [ContributionHistogram]. It is a value, and all of it is public. It knows how far a unit moves
// its counts, and how to count itself.
type Query interface {
	kind() access.Kind
	// compile has it check itself against the number of codes of each column; units says whether the
	// schema names a unit. What it returns shares no memory with it.
	compile(sizes []int, units bool) (access.Counted, error)
}

// compileAll compiles queries, of which there is at least one. No row is read.
func compileAll(sizes []int, units bool, qs []Query) ([]access.Counted, error) {
	if len(qs) == 0 {
		return nil, errors.New("there is no query")
	}
	out := make([]access.Counted, len(qs))
	for i, q := range qs {
		if q == nil {
			return nil, fmt.Errorf("query %d: there is none", i)
		}
		var err error
		if out[i], err = q.compile(sizes, units); err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
	}
	return out, nil
}

// compile compiles queries for the schema of the session.
func (s *session) compile(qs []Query) ([]access.Counted, error) {
	return compileAll(s.schema.Sizes(), s.schema.Unit != "", qs)
}

// maxRemembered is how many cells of true counts a session keeps: 32 MiB.
const maxRemembered = 1 << 22

// counter returns a function that counts queries and remembers their counts: a method that selects
// among the same candidates round after round reads the rows once for each. It stands behind a
// function, so that printing a session shows no count; the counts never leave the gate, and which
// of them are remembered depends on public sizes only. Its caller has been charged, and holds the
// session's lock.
func counter(rows access.Rows) func(qs []access.Counted) [][]int64 {
	known, cells := map[string][]int64{}, 0 // with their keys, at eight bytes a cell
	return func(qs []access.Counted) [][]int64 {
		out := make([][]int64, len(qs))
		var todo []int
		for i, q := range qs {
			if out[i] = known[q.Key]; out[i] == nil {
				todo = append(todo, i)
			}
		}
		var wg sync.WaitGroup
		var ended atomic.Int64
		workers := min(runtime.GOMAXPROCS(0), len(todo))
		for w := range workers {
			wg.Go(func() {
				defer func() { _ = recover() }()
				for k := w; k < len(todo); k += workers {
					q := qs[todo[k]]
					counts := make([]int64, q.Cells)
					switch {
					case q.Count != nil:
						counts = q.Count(rows)
					case rows.Joint != nil:
						rows.Joint.CountTo(counts, q.Cols, q.Offsets)
					default:
						countTo(counts, rows.Table(), nil, q.Cols, q.Offsets)
					}
					out[todo[k]] = counts
				}
				ended.Add(1)
			})
		}
		if wg.Wait(); ended.Load() < int64(workers) {
			panic("a query was not counted") // to the caller's own guard
		}
		for _, i := range todo {
			q := qs[i]
			size := q.Cells + len(q.Key)/8
			if known[q.Key] == nil && cells+size <= maxRemembered {
				known[q.Key] = out[i]
				cells += size
			}
		}
		return out
	}
}
