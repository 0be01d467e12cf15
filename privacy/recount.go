package privacy

import (
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/decoy-dp/decoy/table"
)

// maxRecount is how many cells of true counts a session keeps: 8 MiB.
const maxRecount = 1 << 20

// newRecount returns a function that counts marginals of the rows and remembers their counts: a method that selects among the same candidates round
// after round reads the rows once for each. It stands behind a function, so that printing a session shows no count; the counts never leave the
// gate, and which of them are remembered depends on public sizes only. The caller holds the session's lock and must not change what it gets.
func newRecount(data func() *table.Table) func(ms []Marginal, cs []counter) [][]int64 {
	known, cells := map[string][]int64{}, 0
	return func(ms []Marginal, cs []counter) [][]int64 {
		out, keys := make([][]int64, len(cs)), make([]string, len(cs))
		var todo []int
		for i := range cs {
			keys[i] = keyOf(ms[i])
			if out[i] = known[keys[i]]; out[i] == nil {
				todo = append(todo, i)
			}
		}
		t := data()
		var wg sync.WaitGroup
		workers := min(runtime.GOMAXPROCS(0), len(todo))
		for w := range workers {
			wg.Go(func() {
				for k := w; k < len(todo); k += workers {
					out[todo[k]] = cs[todo[k]].count(t)
				}
			})
		}
		wg.Wait()
		for _, i := range todo {
			if known[keys[i]] == nil && cells+len(out[i]) <= maxRecount {
				known[keys[i]] = out[i]
				cells += len(out[i])
			}
		}
		return out
	}
}

// keyOf tells marginals apart.
func keyOf(m Marginal) string {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(m.Cols)))
	for i, c := range m.Cols {
		b = le.AppendUint32(b, uint32(c))
		if m.Groups == nil || m.Groups[i] == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for _, g := range m.Groups[i] { // as many as the column has codes
			b = le.AppendUint16(b, g)
		}
	}
	return string(b)
}
