package eval

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/data/table"
)

// IdenticalMatchShare is the share of synthetic rows that equal some reference
// row in every code. Take it against the training table and against a holdout:
// only the excess over the holdout speaks of copying.
//
// Name IdenticalMatchShare. Alias IMS (MOSTLY AI), exact_match (SynthEval), 1 − NewRowSynthesis
// (SDMetrics, where numbers match if they differ by 1 %; here, if they are in the same public bin).
// Range 0 to 1; goal: at most the share against a holdout of the same size.
// Source: Platzer & Reutterer 2021, arXiv 2104.00635.
func IdenticalMatchShare(reference, synthetic *table.Table) (float64, error) {
	return shareOfClasses(synthetic, reference, func(_, inReference int64) bool {
		return inReference > 0
	})
}

// UniqueExactMatches is the share of real rows that are unlike all other real
// rows and have an equal synthetic row: the people whom a copied row would point at.
//
// Name UniqueExactMatches. Alias Unique Exact Matches (SDNist), in percent there. Range 0 to 1;
// goal: 0. Source: NIST, SDNist v2 report, "Unique Exact Matches".
func UniqueExactMatches(real, synthetic *table.Table) (float64, error) {
	return shareOfClasses(real, synthetic, func(inReal, inSynthetic int64) bool {
		return inReal == 1 && inSynthetic > 0
	})
}

// shareOfClasses is the share of the rows of a table that are of a class for which it holds how
// many rows of it there are in the table and in another.
func shareOfClasses(t, other *table.Table, holds func(in, inOther int64) bool) (float64, error) {
	columns, err := compatible(t, other)
	if err != nil {
		return 0, err
	}
	count := countClasses(allColumns(len(columns)), t, other)
	rows := int64(0)
	for class, in := range count[0] {
		if holds(in, count[1][class]) {
			rows += in
		}
	}
	return float64(rows) / float64(t.Rows()), nil
}

// AttributeInference is the share of real rows of which an attacker who knows all cells but the one
// in the secret column guesses that one right: as it is in the synthetic row that is nearest in the
// other columns by Gower's distance, and where several values are as near, one of them at random.
// Take it for the training table and for a holdout: whoever has the synthetic table can predict
// people who were never in it, and only what exceeds that comes from the rows that the synthesizer
// saw.
//
// Name AttributeInference. Alias attribute inference risk (anonymeter), where the control is the
// same, and the risk is the difference over one minus the holdout's. Range 0 to 1; goal: at most
// the holdout's. Source: Giomi, Boenisch, Wehmeyer, Tasnádi 2023, PoPETs 2023(2), arXiv 2211.10459.
//
// It takes a pass over all pairs of rows. It fails for an unknown column, and a table of one.
func AttributeInference(real, synthetic *table.Table, secret string) (float64, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return 0, err
	}
	at := real.Schema().Index(secret)
	people, err := TablePoints(real, Gower, secret)
	if err != nil {
		return 0, err
	}
	all, err := TablePoints(synthetic, Gower, secret)
	if err != nil {
		return 0, err // also of an unknown column
	}
	rows := make([][]int, columns[at].size) // synthetic ones with each code
	forEachCode(synthetic.Column(at), func(row, code int) {
		rows[code] = append(rows[code], row)
	})
	// of each person: the distance to the nearest row, the values as near, and whether one is right
	type guess struct{ distance, values, right float64 }
	guesses := slices.Repeat([]guess{{distance: math.Inf(1)}}, real.Rows())
	for code, with := range rows {
		if len(with) == 0 {
			continue
		}
		nearest, _, err := Nearest(people, all.choose(with))
		if err != nil {
			return 0, err
		}
		forEachCode(real.Column(at), func(row, truth int) {
			g := &guesses[row]
			if nearest[row] < g.distance {
				*g = guess{distance: nearest[row]}
			}
			if nearest[row] == g.distance {
				g.values++
				g.right += indicator(truth == code)
			}
		})
	}
	right := 0.
	for _, g := range guesses {
		right += g.right / g.values
	}
	return right / float64(len(guesses)), nil
}

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
