package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// OneRun audits a method from a single run (Steinke, Nasr, Jagielski 2023, arXiv 2305.08846): the
// table is made of canaries, units of random rows of the schema, and a fair coin for each says
// whether it is in (under replace-one: which of two rows it is). From the model the auditor guesses
// the coins of that tenth of the canaries whose cells hold the most too many or too few rows, and
// an exact bound on ε follows.
//
// One run is cheap and sees little: the canaries drown each other as well as the noise. It finds
// noise that is missing altogether; a factor of 2 needs [ManyRun].
func OneRun(
	ctx context.Context, f synth.Fitter, s *schema.Schema, adj accountant.Adjacency,
	b accountant.Budget, o Options,
) (Result, error) {
	if err := cmp.Or(o.fill(400), fixedCodes(s)); err != nil {
		return Result{}, err
	}
	m, err := newMethod(f, s, adj, b)
	if err != nil {
		return Result{}, err
	}
	sizes, k := s.Sizes(), m.nb.MaxRowsPerUnit
	expected, units := newMargins(sizes), [][]uint16(nil)
	canaries, made := make([]canary, o.Canaries), o.Canaries/10
	for i := range canaries {
		c := canary{in: rand.IntN(2) == 0, row: randomRow(sizes)}
		expected.count(c.row, float64(k)/2)
		if m.nb.Adjacency == accountant.ReplaceOne {
			c.other = randomRow(sizes)
			expected.count(c.other, float64(k)/2)
		}
		switch {
		case c.in:
			units = append(units, c.row)
		case c.other != nil:
			units = append(units, c.other)
		}
		canaries[i] = c
	}
	t, err := tableOf(s, k, units)
	if err != nil {
		return Result{}, err
	}
	params, err := m.fit(ctx, t)
	if err != nil {
		return Result{}, err
	}
	seen, noise := sampled(params, sizes), max(1, m.noise)
	weight := func(set, cell int) float64 { // of the noise and of the other canaries' coins
		return 1 / (noise*noise + expected.counts[set][cell]/2)
	}
	for i, c := range canaries {
		canaries[i].score = seen.excess(expected, c.row, weight)
		if c.other != nil {
			canaries[i].score -= seen.excess(expected, c.other, weight)
		}
	}
	return guessed(m.name, guesses{o.Canaries, made, right(canaries, made)}, b,
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
func right(canaries []canary, made int) (n int) {
	sorted := slices.SortedFunc(slices.Values(canaries),
		func(a, b canary) int { return cmp.Compare(a.score, b.score) })
	median := sorted[len(sorted)/2].score
	slices.SortStableFunc(sorted, func(a, b canary) int {
		return cmp.Compare(math.Abs(b.score-median), math.Abs(a.score-median))
	})
	for _, c := range sorted[:made] {
		if (c.score > median) == c.in {
			n++
		}
	}
	return n
}

// LTU is the leave-two-unlabelled attacker (Pedersen et al., "LTU attacker for membership
// inference", Algorithms 15(7) 254, 2022) against a method: in each round two rows of the table are
// drawn, a fair coin says which of them goes with all others into a fit, and the attacker, who
// knows all rows, both candidates and the model, says which. He compares how many rows the model
// has in the cells of each candidate with how many the other rows account for.
//
// Under (ε, δ)-DP with replace-one neighbours, which is what the method is run under, he is right
// with probability at most e^ε/(1 + e^ε) + δ in every round, and [guesses] bounds ε. The table must
// be public or test data, with at least 3 rows and no id column.
func LTU(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, o Options,
) (Result, error) {
	if err := cmp.Or(o.fill(100), attackable(t, 3)); err != nil {
		return Result{}, err
	}
	m, err := newMethod(f, t.Schema(), accountant.ReplaceOne, b)
	if err != nil {
		return Result{}, err
	}
	all := newMargins(t.Schema().Sizes())
	all.addTable(t)
	var right atomic.Int64
	err = o.each(ctx, o.Runs, 0, o.Runs, func(ctx context.Context, _ int) error {
		ok, err := m.ltuRound(ctx, t, all)
		if ok {
			right.Add(1)
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return guessed(m.name, guesses{o.Runs, o.Runs, int(right.Load())}, b, o.Confidence), nil
}

// ltuRound is one round: whether the attacker is right.
func (m *method) ltuRound(ctx context.Context, t *table.Table, all *margins) (bool, error) {
	rows := rand.Perm(t.Rows())
	in, out := rows[0], rows[1]
	params, err := m.fit(ctx, t.Select(slices.Delete(rows, 1, 2)))
	if err != nil {
		return false, err
	}
	seen := sampled(params, all.sizes)
	rowIn, rowOut := rowOf(t, in), rowOf(t, out)
	// Where the candidates share a cell it says nothing; elsewhere the other rows account for all
	// but one of all rows.
	score := seen.excess(all, rowIn, evenly) - seen.excess(all, rowOut, evenly)
	return score > 0 || score == 0 && rand.IntN(2) == 0, nil
}

// evenly weights all cells alike.
func evenly(set, cell int) float64 { return 1 }

// What the shadow attacker looks at in each run.
const (
	shadowQueries = 48    // counting queries on the synthetic rows
	shadowWidth   = 3     // most columns of a query
	shadowRows    = 2_000 // synthetic rows, or as many as the table has if those are more
)

// Shadow is a membership attack with shadow models: the attacker has a reference table and wants to
// know of one target row (nil: that with the last code in every column) whether it was in. He fits
// the method many times on samples of the reference, with and without the target, and learns from
// the synthetic rows alone to tell the two: his features are counts of rows that equal the target
// in random sets of columns (Stadler, Oprisanu, Troncoso, "Synthetic data - anonymisation groundhog
// day", USENIX Security 2022; with the query features of TAPAS, Houssiau et al. 2022, arXiv
// 2211.06550). His classifier is a linear discriminant.
//
// Half of the runs are for learning, the others for the result, which is that of [ManyRun]: a
// mixture of neighbouring tables is as hard to tell apart as the worst pair of them, so the bounds
// hold. This is a realistic attacker; [ManyRun] on [Method] is the stronger one. The reference must
// be public or test data, without an id column.
func Shadow(
	ctx context.Context, f synth.Fitter, reference *table.Table, target []uint16,
	adj accountant.Adjacency, b accountant.Budget, o Options,
) (Result, error) {
	s := reference.Schema()
	sizes := s.Sizes()
	o.Rows, o.pilot = cmp.Or(o.Rows, reference.Rows()/2), .5
	if target == nil {
		target = lastCodes(sizes)
	}
	if err := attackable(reference, 1); err != nil {
		return Result{}, err
	}
	if len(target) != len(sizes) || o.Rows < 1 || o.Rows > reference.Rows() {
		return Result{}, fmt.Errorf("attack: a target of %d codes in a table of %d columns, tables of "+
			"%d rows drawn from %d", len(target), len(sizes), o.Rows, reference.Rows())
	}
	for i, code := range target {
		if int(code) >= sizes[i] {
			return Result{}, fmt.Errorf("attack: code %d of the target's column %d must be below %d", code,
				i, sizes[i])
		}
	}
	m, err := newMethod(f, s, adj, b)
	if err != nil {
		return Result{}, err
	}
	queries := drawQueries(len(sizes))
	// The tables of the pair only say which side a run is on.
	with := reference.Select(rand.Perm(reference.Rows()))
	pair := &Pair{Name: "samples of the reference", Out: reference, In: with, Strong: with,
		Strength: 1}
	return ManyRun(ctx, Mechanism{Name: m.name, Claim: m.claim,
		Run: func(ctx context.Context, side *table.Table) ([]float64, error) {
			var rows [][]uint16
			for _, r := range rand.Perm(reference.Rows())[:o.Rows] {
				rows = append(rows, rowOf(reference, r))
			}
			if side == with && m.nb.Adjacency == accountant.ReplaceOne {
				rows = rows[1:]
			}
			if side == with {
				rows = append(rows, target)
			}
			t, err := tableOf(s, 1, rows)
			if err != nil {
				return nil, err
			}
			params, err := m.fit(ctx, t)
			if err != nil {
				return nil, err
			}
			return answers(params, target, queries, max(o.Rows, shadowRows)), nil
		}}, pair, o)
}

// drawQueries draws sets of columns: every column by itself first, then random ones.
func drawQueries(columns int) [][]int {
	out := make([][]int, shadowQueries)
	for i := range out {
		out[i] = []int{i}
		if i >= columns {
			out[i] = rand.Perm(columns)[:1+rand.IntN(min(shadowWidth, columns))]
		}
	}
	return out
}

// answers are the shares of n synthetic rows that equal the target in the columns of each query.
func answers(p release.Params, target []uint16, queries [][]int, n int) []float64 {
	out := make([]float64, len(queries))
	for _, row := range drawn(p, n) {
		for q, cols := range queries {
			if !slices.ContainsFunc(cols, func(c int) bool { return row[c] != target[c] }) {
				out[q] += 1 / float64(n)
			}
		}
	}
	return out
}

// distance attacks a synthetic table of any origin by the distance to the closest record: rows that
// are nearer to a synthetic row are taken for training rows. Training and holdout rows are paired
// at random, and of each pair the attacker must say which was in.
//
// The claim under test is (ε, δ)-DP with replace-one neighbours for the budget. If training and
// holdout rows were split at random, each pair has a fair coin of its own, and the one-run theorem
// ([guesses.pValue]) makes the bound on ε valid for one synthetic table, however the rows depend on
// each other through it. The larger of the two real tables is cut to the size of the smaller.
// Confidence is in (0, 1), .95 if 0. Errors are those of package eval for tables that cannot be
// compared.
func distance(
	train, holdout, synthetic *table.Table, b accountant.Budget, confidence float64,
) (Result, error) {
	o := Options{Confidence: confidence}
	if err := o.fill(MinRuns); err != nil {
		return Result{}, err
	}
	to, err := eval.TablePoints(synthetic, eval.Gower)
	if err != nil {
		return Result{}, err
	}
	n := min(train.Rows(), holdout.Rows())
	var nearness [2][]float64 // of training and holdout rows
	for side, t := range []*table.Table{train, holdout} {
		points, err := eval.TablePoints(t.Select(rand.Perm(t.Rows())[:n]), eval.Gower)
		if err != nil {
			return Result{}, err
		}
		nearest, _, err := eval.Nearest(points, to)
		if err != nil {
			return Result{}, err
		}
		for _, d := range nearest {
			nearness[side] = append(nearness[side], -d)
		}
	}
	right := 0
	for i, in := range nearness[0] {
		if out := nearness[1][i]; in > out || in == out && rand.IntN(2) == 0 {
			right++
		}
	}
	r := guessed("", guesses{n, n, right}, b, o.Confidence)
	return r, r.score(nearness[1], nearness[0])
}

// DistanceOf is a distance attack against a method: the rows of a table are split in two halves at
// random, the method is fitted once to the one under replace-one, as many synthetic rows are drawn,
// and the attacker must tell the halves apart. The table must be public or test data, with at least
// 2 rows and no id column.
func DistanceOf(
	ctx context.Context, f synth.Fitter, t *table.Table, b accountant.Budget, confidence float64,
) (Result, error) {
	if err := attackable(t, 2); err != nil {
		return Result{}, err
	}
	s, n := t.Schema(), t.Rows()/2
	m, err := newMethod(f, s, accountant.ReplaceOne, b)
	if err != nil {
		return Result{}, err
	}
	order := rand.Perm(t.Rows())
	train := t.Select(order[:n])
	params, err := m.fit(ctx, train)
	if err != nil {
		return Result{}, err
	}
	synthetic, err := tableOf(s, 1, drawn(params, n))
	if err != nil {
		return Result{}, err
	}
	r, err := distance(train, t.Select(order[n:2*n]), synthetic, b, confidence)
	r.Mechanism = m.name
	return r, err
}
