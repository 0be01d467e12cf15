package privacy

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// maxRemembered is how many cells of true counts a session keeps: 8 MiB.
const maxRemembered = 1 << 20

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
		var failed atomic.Bool
		workers := min(runtime.GOMAXPROCS(0), len(todo))
		for w := range workers {
			wg.Go(func() {
				ended := access.Guard(func() {
					for k := w; k < len(todo); k += workers {
						out[todo[k]] = qs[todo[k]].Count(rows)
					}
				})
				if !ended {
					failed.Store(true)
				}
			})
		}
		if wg.Wait(); failed.Load() {
			panic("a query did not count itself") // to the caller's own guard
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
