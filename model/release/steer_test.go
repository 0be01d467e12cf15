package release

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/model/marginal"
)

// TestSteeredMarginal: rows of a chain of columns are closer to its columns, pairs and triples when
// they are steered. Triples are .70 as far as before, and .88 where a row that has a rare code does
// not keep it. Not steered are rows of models of one clique, and of too many cells.
func TestSteeredMarginal(t *testing.T) {
	chain := func(sizes []int, cliques ...[]int) *Marginal {
		u, tables := rand.New(rand.NewPCG(3, 4)), make([][]float64, len(cliques))
		for i, cols := range cliques {
			tables[i] = make([]float64, sizes[cols[0]]*sizes[cols[1]])
			for k := range tables[i] {
				tables[i][k] = math.Exp(1.5 * u.NormFloat64())
			}
		}
		m := must(marginal.FromFactors(sizes, cliques, tables, 500))
		return &Marginal{Model: m, Grouping: marginal.NoGroups(sizes)}
	}
	draw := func(p *Marginal, n int) [][]uint16 { return p.Sample(n, rand.New(rand.NewPCG(5, 6))) }
	same := func(a, b [][]uint16) bool { return slices.EqualFunc(a, b, slices.Equal[[]uint16]) }

	p := chain([]int{4, 5, 4, 3}, []int{0, 1}, []int{1, 2}, []int{2, 3})
	again := must(decodeParams(kindMarginal, must(p.MarshalBinary()))).(*Marginal)
	// the mean total variation distance of sets of columns
	apart := func(rows [][]uint16, sets ...[]int) (sum float64) {
		for _, cols := range sets {
			cells := 1
			for _, c := range cols {
				cells *= p.Sizes()[c]
			}
			want := make([]float64, cells)
			check(t, p.Model.MarginalTo(want, cols))
			got := make([]float64, cells)
			for r := range rows[0] {
				cell := 0
				for _, c := range cols {
					cell = cell*p.Sizes()[c] + int(rows[c][r])
				}
				got[cell]++
			}
			for i := range got {
				sum += math.Abs(got[i]/float64(len(rows[0]))-want[i]/500) / 2 / float64(len(sets))
			}
		}
		return sum
	}
	steered, plain := draw(again, 500), p.unsteered(500, rand.New(rand.NewPCG(5, 6)))
	for limit, sets := range map[float64][][]int{.8: {{0}, {1}, {2}, {3}},
		.7:  {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
		.75: {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}},
	} {
		if a, b := apart(steered, sets...), apart(plain, sets...); a > limit*b {
			t.Errorf("%v: %.4f steered, %.4f before", sets, a, b)
		}
	}
	if !same(steered, draw(p, 500)) || !same(plain, p.Model.Sample(500, rand.New(rand.NewPCG(5, 6)))) {
		t.Error("rows are not those of the model")
	}
	for name, p := range map[string]*Marginal{
		"one clique": chain([]int{4, 5}, []int{0, 1}),
		"many cells": chain([]int{3, steeredCells, 3}, []int{0, 1}, []int{1, 2}),
	} {
		if !same(draw(p, 200), p.Model.Sample(200, rand.New(rand.NewPCG(5, 6)))) {
			t.Errorf("%s: rows are steered", name)
		}
	}
}
