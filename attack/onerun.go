package attack

import (
	"cmp"
	"context"
	"errors"
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

// errBins is about schemas whose codes a run changes.
var errBins = errors.New("a schema that buys its bins (bins: dp) has no codes before a run: give " +
	"it bins for this attack")

// OneRunOptions of [OneRun]. The zero value is usable.
type OneRunOptions struct {
	Canaries int // default 1000, at least 20
	// made on the canaries with the most telling scores; default a tenth of the canaries
	Guesses    int
	Confidence float64 // in (0, 1); default .95
}

// OneRunResult is what one run showed.
type OneRunResult struct {
	Mechanism  string  `json:"mechanism"`
	Canaries   int     `json:"canaries"`
	Guesses    int     `json:"guesses"`
	Right      int     `json:"right"`
	Confidence float64 `json:"confidence"`
	Epsilon    float64 `json:"epsilon_lower"` // ε at the claim's δ
	Ceiling    float64 `json:"epsilon_ceiling"`
	Refuted    bool    `json:"refuted"`
}

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
	b accountant.Budget, o OneRunOptions,
) (OneRunResult, error) {
	if o.Canaries == 0 {
		o.Canaries = 1000
	}
	if o.Guesses == 0 {
		o.Guesses = o.Canaries / 10
	}
	if o.Confidence == 0 {
		o.Confidence = .95
	}
	r := OneRunResult{Mechanism: f.Name(), Canaries: o.Canaries, Guesses: o.Guesses,
		Confidence: o.Confidence}
	if o.Canaries < 20 || o.Guesses < 1 || o.Guesses > o.Canaries ||
		!(o.Confidence > 0 && o.Confidence < 1) {
		return r, fmt.Errorf("attack: %d canaries must be at least 20, %d guesses from 1 to as "+
			"many, confidence %v in (0, 1)", o.Canaries, o.Guesses, o.Confidence)
	}
	if len(s.Buys()) > 0 {
		return r, fmt.Errorf("attack: %w", errBins)
	}
	run, claim, forecast, err := fitter(f, s, adj, b)
	if err != nil {
		return r, err
	}
	nb := privacy.NeighboursOf(s, adj)
	sizes := s.Sizes()
	build, expected := newBuilder(s, nb.MaxRowsPerUnit), newMargins(sizes)
	canaries := make([]canary, o.Canaries)
	for i := range canaries {
		c := canary{in: rand.IntN(2) == 0, row: randomRow(sizes)}
		expected.add(c.row, float64(nb.MaxRowsPerUnit)/2)
		if nb.Adjacency == accountant.ReplaceOne {
			c.other = randomRow(sizes)
			expected.add(c.other, float64(nb.MaxRowsPerUnit)/2)
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
		return r, err
	}
	params, err := run(ctx, t)
	if err != nil {
		return r, fmt.Errorf("attack: %s: %w", f.Name(), err)
	}
	seen := newMargins(sizes)
	seen.addModel(params, sampledRows)
	noise := 1.0
	for _, n := range forecast.Noise {
		noise = max(noise, n.Sigma)
	}
	weight := func(set, cell int) float64 { // of the noise and of the other canaries' coins
		return 1 / (noise*noise + expected.counts[set][cell]/2)
	}
	for i, c := range canaries {
		canaries[i].score = seen.excess(expected, c.row, weight)
		if c.other != nil {
			canaries[i].score -= seen.excess(expected, c.other, weight)
		}
	}
	r.Right = right(canaries, o.Guesses)
	g := Guesses{Canaries: r.Canaries, Made: r.Guesses, Right: r.Right}
	r.Epsilon = g.Epsilon(claim.Budget.Delta, 1-o.Confidence)
	r.Ceiling = Guesses{Canaries: r.Canaries, Made: r.Guesses,
		Right: r.Guesses}.Epsilon(claim.Budget.Delta, 1-o.Confidence)
	r.Refuted = r.Epsilon > claim.Budget.Epsilon
	return r, nil
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
