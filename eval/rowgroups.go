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

// countClasses counts the rows of each class in tables with the same columns: rows of any of them
// are of one class if and only if they have the same codes in cols.
func countClasses(cols []int, tables ...*table.Table) [][]int64 {
	class := make([][]uint32, len(tables))
	for i, t := range tables {
		class[i] = make([]uint32, t.Rows())
	}
	// Column by column: rows stay together if they were together and have the same code.
	classes := 1
	for _, c := range cols {
		number := make(map[uint64]uint32, classes)
		for i, t := range tables {
			forEachCode(t.Column(c), func(row, code int) {
				key := uint64(class[i][row])<<16 | uint64(code)
				g, ok := number[key]
				if !ok {
					g = uint32(len(number))
					number[key] = g
				}
				class[i][row] = g
			})
		}
		classes = len(number)
	}
	out := make([][]int64, len(tables))
	for i := range tables {
		out[i] = make([]int64, classes)
		for _, g := range class[i] {
			out[i][g]++
		}
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
