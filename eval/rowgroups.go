package eval

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/table"
)

// inParallel does the numbers below n on all processors, each once: worker is called once for each
// goroutine, and gives what does a number there.
func inParallel(n int, worker func() func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// groupRows numbers the distinct rows of tables with the same columns, looking at
// cols only: rows of any of them get the same number if and only if they have
// the same codes. Numbers count up from 0; the result has one slice for each table.
func groupRows(cols []int, tables ...*table.Table) (groups [][]uint32, count int) {
	groups = make([][]uint32, len(tables))
	for i, t := range tables {
		groups[i] = make([]uint32, t.Rows())
	}
	// Column by column: rows stay together if they were together and have the same code.
	count = 1
	for _, c := range cols {
		number := make(map[uint64]uint32, count)
		for i, t := range tables {
			forEachCode(t.Column(c), func(row, code int) {
				key := uint64(groups[i][row])<<16 | uint64(code)
				g, ok := number[key]
				if !ok {
					g = uint32(len(number))
					number[key] = g
				}
				groups[i][row] = g
			})
		}
		count = len(number)
	}
	return groups, count
}

// groupSizes counts the rows of every group.
func groupSizes(groups []uint32, count int) []int {
	out := make([]int, count)
	for _, g := range groups {
		out[g]++
	}
	return out
}

// allColumns returns 0 to n−1.
func allColumns(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
