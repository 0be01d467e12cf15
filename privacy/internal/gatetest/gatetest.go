package gatetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Schema has three columns of 2, 3 and 4 codes.
func Schema(unit string, k int) *schema.Schema {
	cat := func(name string, n int) schema.Column {
		c := schema.TextColumn(name)
		for i := range n {
			c.Categories = append(c.Categories, fmt.Sprint(name, i))
		}
		return c
	}
	return &schema.Schema{
		Unit:           unit,
		MaxRowsPerUnit: k,
		Columns:        []schema.Column{cat("a", 2), cat("b", 3), cat("c", 4)},
	}
}

// Table holds rows of codes; units may be nil.
func Table(t testing.TB, s *schema.Schema, rows [][3]uint8, units []uint32) *table.Table {
	t.Helper()
	cols := make([]table.Codes, 3)
	for c := range cols {
		cols[c].U8 = make([]uint8, len(rows))
		for i, r := range rows {
			cols[c].U8[i] = r[c]
		}
	}
	tab := stattest.Must(table.FromColumns(s, cols, units))
	return tab
}

// SomeRows is n rows whose codes are spread over the cells.
func SomeRows(n int) [][3]uint8 {
	rows := make([][3]uint8, n)
	for i := range rows {
		rows[i] = [3]uint8{uint8(i % 2), uint8(i / 2 % 3), uint8(i * i % 4)}
	}
	return rows
}

// RoundedNormal is P(round(N(0, σ²)) = x).
func RoundedNormal(x int64, sigma float64) float64 {
	cdf := func(y float64) float64 { return math.Erfc(-y/(sigma*math.Sqrt2)) / 2 }
	return cdf(float64(x)+.5) - cdf(float64(x)-.5)
}

// Laplace is P(x) of the discrete Laplace distribution with this scale.
func Laplace(x int64, scale float64) float64 {
	r := math.Exp(-1 / scale)
	return (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(x)))
}

// Follows tests draws against a law on the integers, the tails beyond ±reach pooled.
func Follows(draws []int64, reach int64, law func(int64) float64) bool {
	counts, p := make([]int64, 2*reach+1), make([]float64, 2*reach+1)
	for _, d := range draws {
		counts[min(max(d, -reach), reach)+reach]++
	}
	rest := 1.0
	for x := -reach + 1; x < reach; x++ {
		p[x+reach] = law(x)
		rest -= p[x+reach]
	}
	p[0], p[2*reach] = rest/2, rest/2
	_, _, ok := stattest.ChiSquare(counts, p)
	return ok
}

// PairOf draws two neighbouring tables under a relation: up to 30 rows that they share, and the
// rows of one unit added, or replaced. In a quarter of the pairs the unit's rows are all in one
// cell, which is where sensitivities are attained.
func PairOf(u *rand.Rand, adj accountant.Adjacency, k int) (a, b [][3]uint8) {
	row := func() [3]uint8 { return [3]uint8{uint8(u.IntN(2)), uint8(u.IntN(3)), uint8(u.IntN(4))} }
	for range u.IntN(30) {
		r := row()
		a, b = append(a, r), append(b, r)
	}
	unit := func(rows [][3]uint8) [][3]uint8 {
		same, one := u.IntN(4) == 0, row()
		for range k {
			if !same {
				one = row()
			}
			rows = append(rows, one)
		}
		return rows
	}
	if adj == accountant.ReplaceOne {
		a = unit(a)
	}
	return a, unit(b)
}
