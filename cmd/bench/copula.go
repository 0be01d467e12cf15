package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// columnsShare is the share of the budget that a copula's columns have.
const columnsShare = .35

// copula is the simple way to compare with: noisy counts of each column, and of each pair of
// columns cut into at most so many groups of about equal mass; the correlation of normal scores of
// the groups, drawn to zero by its noise (James, Stein); and rows of a normal distribution with
// these correlations, cut to the codes of each column. It reads a public table, with the noise that
// a private one would have: neighbours differ by a row.
type copula int

// name is that of the way.
func (groups copula) name() string { return map[copula]string{2: "copula", 4: "copula 4"}[groups] }

var copulas = []copula{2, 4}

// scored scores what it draws.
func (groups copula) scored(t *testTable, b accountant.Budget) (out scores, err error) {
	start, used := time.Now(), cpu()
	mu, err := accountant.MuFor(b)
	if err != nil {
		return out, err
	}
	syn, err := groups.drawn(t.train, mu)
	if err != nil {
		return out, err
	}
	out[5], out[6] = time.Since(start).Seconds(), cpu()-used
	return out, t.score(syn, &out)
}

// latent is a column as cuts of a normal distribution.
type latent struct {
	order  []int     // codes, those of a group after each other
	ends   []float64 // cumulative shares, in that order
	group  []uint16  // of each code
	scores []float64 // of the groups, with mean 0 and variance 1
}

// drawn is as many rows as t has.
func (groups copula) drawn(t *table.Table, mu float64) (*table.Table, error) {
	d := len(t.Schema().Columns)
	pairs := float64(d*(d-1)) / 2
	columns := make([]latent, d)
	for c := range columns {
		counts := noisy(t.Counts(c), math.Sqrt(float64(d)/columnsShare)/mu)
		columns[c] = latentOf(counts, int(groups), t.Schema().Columns[c].Kind.Ordered())
	}
	sigma := math.Sqrt(pairs/(1-columnsShare)) / mu
	r := mat.NewSymDense(d, nil)
	for i, a := range columns {
		r.SetSym(i, i, 1)
		for j, b := range columns[:i] {
			x, square := 0., 0.
			fine, width := t.Counts(i, j), t.Schema().Sizes()[j]
			cells := make([]int64, len(a.scores)*len(b.scores))
			for cell, n := range fine {
				cells[int(a.group[cell/width])*len(b.scores)+int(b.group[cell%width])] += n
			}
			for cell, n := range noisy(cells, sigma) {
				w := a.scores[cell/len(b.scores)] * b.scores[cell%len(b.scores)] / float64(t.Rows())
				x, square = x+w*n, square+w*w*sigma*sigma
			}
			x *= max(0, 1-square/(x*x+1e-12))
			r.SetSym(i, j, min(max(x, -.97), .97))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(r, true) {
		panic("bench: the eigenvalues of a correlation matrix")
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	for k, x := range eigen.Values(nil) { // rows of v·√λ are the columns as sums of normal numbers
		for i := range d {
			v.Set(i, k, v.At(i, k)*math.Sqrt(max(x, .02)))
		}
	}
	codes := make([]table.Codes, d)
	for c, size := range t.Schema().Sizes() {
		codes[c] = table.NewCodes(size, t.Rows())
	}
	z := make([]float64, d)
	for row := range t.Rows() {
		for k := range z {
			z[k] = rand.NormFloat64()
		}
		for c, of := range columns {
			x := floats.Dot(v.RawRowView(c), z) / floats.Norm(v.RawRowView(c), 2)
			at, _ := slices.BinarySearch(of.ends, distuv.UnitNormal.CDF(x))
			codes[c].Set(row, uint16(of.order[min(at, len(of.order)-1)]))
		}
	}
	return table.FromColumns(t.Schema(), codes, nil)
}

// noisy adds normal noise.
func noisy(counts []int64, sigma float64) []float64 {
	out := make([]float64, len(counts))
	for k, n := range counts {
		out[k] = float64(n) + sigma*rand.NormFloat64()
	}
	return out
}

// latentOf cuts a column with these noisy counts, of which the closest that are not negative are
// taken. Codes with an order make up runs, of others the most frequent are groups of their own.
func latentOf(counts []float64, groups int, ordered bool) (out latent) {
	p, code := slices.Clone(counts), 0
	slices.SortFunc(p, func(a, b float64) int { return cmp.Compare(b, a) })
	sum, total := 0., max(floats.Sum(p), 1)
	over := 0.
	for k, x := range p {
		if sum += x; x > (sum-total)/float64(k+1) {
			over = (sum - total) / float64(k+1)
		}
	}
	for k, x := range counts {
		out.order = append(out.order, k)
		p[k] = max(0, x-over) / total
	}
	if !ordered {
		slices.SortStableFunc(out.order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	}
	out.group = make([]uint16, len(p))
	shares, end := make([]float64, groups), 0.
	for code = range out.order {
		c := out.order[code]
		g := min(code, groups-1)
		if ordered {
			g = min(int((end+p[c]/2)*float64(groups)), groups-1)
		}
		out.group[c] = uint16(g)
		shares[g] += p[c]
		end += p[c]
		out.ends = append(out.ends, end)
	}
	before, mean, square := 0., 0., 0.
	for _, s := range shares {
		z := distuv.UnitNormal.Quantile(min(max(before+s/2, 1e-3), 1-1e-3))
		out.scores = append(out.scores, z)
		before, mean = before+s, mean+s*z
	}
	for g := range out.scores {
		out.scores[g] -= mean
		square += shares[g] * out.scores[g] * out.scores[g]
	}
	if square > 1e-9 {
		floats.Scale(1/math.Sqrt(square), out.scores)
	}
	return out
}
