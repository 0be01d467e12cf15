package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// OneRun audits a method from a single run (Steinke, Nasr, Jagielski 2023, arXiv 2305.08846): the
// table is made of canaries, units of random rows of the schema, and a fair coin for each says
// whether it is in (under replace-one: which of two rows it is). From the model the auditor guesses
// the coins of those canaries whose cells hold the most too many or too few rows, and
// [Guesses.Epsilon] bounds ε.
//
// One run is cheap and sees little: the canaries drown each other as well as the noise. It finds
// noise that is missing altogether; a factor of 2 needs [ManyRun].
func OneRun(
	ctx context.Context, f synth.Fitter, s *schema.Schema, adj accountant.Adjacency,
	b accountant.Budget, o Options,
) (Result, error) {
	o.Canaries, o.Confidence = cmp.Or(o.Canaries, 1000), cmp.Or(o.Confidence, .95)
	o.Guesses = cmp.Or(o.Guesses, o.Canaries/10)
	if o.Canaries < 20 || o.Guesses < 1 || o.Guesses > o.Canaries {
		return Result{}, fmt.Errorf("attack: %d canaries must be at least 20, %d guesses from 1 to as "+
			"many", o.Canaries, o.Guesses)
	}
	if err := checkConfidence(o.Confidence); err != nil {
		return Result{}, err
	}
	if err := fixedCodes(s); err != nil {
		return Result{}, err
	}
	run, _, forecast, err := fitter(f, s, adj, b)
	if err != nil {
		return Result{}, err
	}
	nb := privacy.NeighboursOf(s, adj)
	sizes := s.Sizes()
	build, expected := newBuilder(s, nb.MaxRowsPerUnit), newMargins(sizes)
	canaries := make([]canary, o.Canaries)
	for i := range canaries {
		c := canary{in: rand.IntN(2) == 0, row: randomRow(sizes)}
		expected.count(c.row, float64(nb.MaxRowsPerUnit)/2)
		if nb.Adjacency == accountant.ReplaceOne {
			c.other = randomRow(sizes)
			expected.count(c.other, float64(nb.MaxRowsPerUnit)/2)
		}
		switch {
		case c.in:
			build.add(c.row, 1)
		case c.other != nil:
			build.add(c.other, 1)
		}
		canaries[i] = c
	}
	t, err := build.table()
	if err != nil {
		return Result{}, err
	}
	params, err := run(ctx, t)
	if err != nil {
		return Result{}, err
	}
	seen, noise := sampled(params, sizes), max(1, widest(forecast))
	weight := func(set, cell int) float64 { // of the noise and of the other canaries' coins
		return 1 / (noise*noise + expected.counts[set][cell]/2)
	}
	for i, c := range canaries {
		canaries[i].score = seen.excess(expected, c.row, weight)
		if c.other != nil {
			canaries[i].score -= seen.excess(expected, c.other, weight)
		}
	}
	return guessed(f.Name(), Guesses{o.Canaries, o.Guesses, right(canaries, o.Guesses)}, b,
		o.Confidence), nil
}

// canary is a unit that a coin puts in or not.
type canary struct {
	row, other []uint16
	in         bool
	score      float64
}

// right counts the right guesses about those canaries whose score is farthest from the median: in
// above it, out below it.
func right(canaries []canary, guesses int) (n int) {
	sorted := slices.SortedFunc(slices.Values(canaries),
		func(a, b canary) int { return cmp.Compare(a.score, b.score) })
	median := sorted[len(sorted)/2].score
	slices.SortStableFunc(sorted, func(a, b canary) int {
		return cmp.Compare(math.Abs(b.score-median), math.Abs(a.score-median))
	})
	for _, c := range sorted[:guesses] {
		if (c.score > median) == c.in {
			n++
		}
	}
	return n
}

func randomRow(sizes []int) []uint16 {
	row := make([]uint16, len(sizes))
	for i, n := range sizes {
		row[i] = uint16(rand.IntN(n))
	}
	return row
}

// RandomTable is n units of a schema, each of one row (with an id column, of as many equal rows as
// an id may have), with every code equally likely: a public table for attacks.
func RandomTable(s *schema.Schema, n int) (*table.Table, error) {
	b := newBuilder(s, privacy.NeighboursOf(s, accountant.AddRemove).MaxRowsPerUnit)
	for range n {
		b.add(randomRow(b.sizes), 1)
	}
	return b.table()
}
