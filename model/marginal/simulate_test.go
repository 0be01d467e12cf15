package marginal

import "math/rand/v2"

// simulate returns measurements with noise of standard deviation sigma of n rows drawn from a
// random chain over the columns: column c mostly follows c-1.
func simulate(sizes []int, cliques [][]int, n int, sigma float64, u *rand.Rand) []Measurement {
	rows := make([][]uint16, len(sizes))
	for c, s := range sizes {
		rows[c] = make([]uint16, n)
		for i := range n {
			x := int(float64(s) * u.Float64() * u.Float64())
			if c > 0 && u.Float64() < 0.7 {
				x = int(rows[c-1][i]) * s / sizes[c-1]
			}
			rows[c][i] = uint16(x)
		}
	}
	var ms []Measurement
	for _, q := range cliques {
		counts := countRows(sizes, rows, q)
		for i := range counts {
			counts[i] += sigma * u.NormFloat64()
		}
		ms = append(ms, Measurement{Cols: q, Counts: counts, Sigma: sigma})
	}
	return ms
}

// countRows counts the rows in each cell of the table over cols.
func countRows(sizes []int, rows [][]uint16, cols []int) []float64 {
	out := make([]float64, int(cellsOf(sizes, cols)))
	if len(rows) == 0 {
		return out
	}
	for i := range rows[0] {
		k := 0
		for _, c := range cols {
			k = k*sizes[c] + int(rows[c][i])
		}
		out[k]++
	}
	return out
}

// treeProblem is MST-shaped: 15 columns of up to 100 codes, 14 pairs.
func treeProblem() (sizes []int, ms []Measurement) {
	u := rand.New(rand.NewPCG(8, 8))
	sizes = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 99, 99, 42, 2, 60}
	var cliques [][]int
	for c := range sizes {
		cliques = append(cliques, []int{c})
		if c > 0 {
			cliques = append(cliques, []int{max(0, c-1-u.IntN(2)), c})
		}
	}
	return sizes, simulate(sizes, cliques, 50_000, 40, u)
}

// binaryProblem has d binary columns, all pairs and many triples.
func binaryProblem(d int) (sizes []int, ms []Measurement) {
	u := rand.New(rand.NewPCG(9, 9))
	var cliques [][]int
	for a := range d {
		sizes = append(sizes, 2)
		cliques = append(cliques, []int{a})
		for b := range a {
			cliques = append(cliques, []int{b, a})
			if c := u.IntN(d); c != a && c != b {
				cliques = append(cliques, []int{a, b, c})
			}
		}
	}
	return sizes, simulate(sizes, cliques, 20_000, 40, u)
}

// must is a value of which a test is sure.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
