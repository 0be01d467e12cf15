package attack

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

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
	run, claim, _, err := fitter(f, s, adj, b)
	if err != nil {
		return Result{}, err
	}
	queries := drawQueries(len(sizes))
	adj = privacy.NeighboursOf(s, adj).Adjacency
	// The tables of the pair only say which side a run is on.
	with := reference.Select(rand.Perm(reference.Rows()))
	pair := &Pair{Name: "samples of the reference", Out: reference, In: with, Strong: with,
		Strength: 1}
	return ManyRun(ctx, Mechanism{Name: f.Name(), Claim: claim,
		Run: func(ctx context.Context, side *table.Table) ([]float64, error) {
			b := newBuilder(s, 1)
			for i, r := range rand.Perm(reference.Rows())[:o.Rows] {
				row := rowOf(reference, r)
				if i == 0 && side == with && adj == accountant.ReplaceOne {
					copy(row, target)
				}
				b.add(row, 1)
			}
			if side == with && adj == accountant.AddRemove {
				b.add(target, 1)
			}
			t, err := b.table()
			if err != nil {
				return nil, err
			}
			params, err := run(ctx, t)
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
	sample := p.Sample(n, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
	out := make([]float64, len(queries))
	for r := range n {
	query:
		for q, cols := range queries {
			for _, c := range cols {
				if sample[c][r] != target[c] {
					continue query
				}
			}
			out[q] += 1 / float64(n)
		}
	}
	return out
}
