package release

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// MethodCollect is the method of a model of randomised answers.
const MethodCollect = "collect"

const (
	// collectSigmas is the noisy count, in standard deviations, below which codes are merged.
	collectSigmas = 2
	// collectSignal is how far a pair must be from independence, in units of the noise of all its
	// cells together, to be fitted. The noise alone gets there once in some twenty pairs. (Adult at ε
	// = 2, 10,000 and 48,842 answers: two-way error .238 and .151, with 0 in its place .258 and .170,
	// with 1.5 .232 and .142; nltcs, of two codes a column: .045, .038 and .041. Means of four runs.)
	collectSignal = 1
	// maxJointCells bounds the junction tree: what a fit takes time for.
	maxJointCells = 1 << 21
)

// LocalClaim is the guarantee of one answer to a randomised question, and of a model of many.
func LocalClaim(epsilon float64) Claim {
	return Claim{Epsilon: epsilon, Adjacency: accountant.ReplaceOne, Local: true}
}

// Collected is what randomised answers estimate.
type Collected struct {
	Schema   *schema.Schema
	Claim    Claim                  // of each answer: of LocalClaim
	Answers  int                    // ≥ 1; their number is public
	Measured []marginal.Measurement // columns and pairs, in rows of Answers, each with one Sigma
	Tool     string
	Created  time.Time     // the day
	Progress func(float64) // optional
}

// Collect fits a model to them: codes that the noise hides are merged, and pairs that stand out of
// it are fitted, those with the strongest association first, as far as a junction tree of
// maxJointCells goes; what other pairs say of their columns goes to these. Post-processing: the
// answers are noise already, and there is no ledger.
func Collect(ctx context.Context, c Collected) (*Model, error) {
	sizes := c.Schema.Sizes()
	pairs := slices.DeleteFunc(slices.Clone(c.Measured),
		func(m marginal.Measurement) bool { return len(m.Cols) < 2 })
	columns := columnsOf(sizes, c.Measured)
	n := float64(c.Answers)
	for col := range columns {
		if columns[col].Cols == nil { // nothing is known of it
			even := slices.Repeat([]float64{n / float64(sizes[col])}, sizes[col])
			columns[col] = marginal.Measurement{Cols: []int{col}, Counts: even, Sigma: n}
		}
	}
	grouping, err := marginal.NewGrouping(sizes, columns, collectSigmas)
	if err != nil {
		return nil, err
	}
	var shares [][]float64 // of the groups of each column
	for _, m := range columns {
		counts := slices.Clone(grouping.GroupMeasurement(m).Counts)
		for i, x := range counts {
			counts[i] = max(x, 1)
		}
		floats.Scale(1/floats.Sum(counts), counts)
		shares = append(shares, counts)
	}
	order := make([]int, len(pairs))
	signals := make([]float64, len(pairs)) // by how many rows they differ from independent columns
	for i, m := range pairs {
		grouped := grouping.GroupMeasurement(m)
		second := shares[m.Cols[1]]
		for k, x := range grouped.Counts {
			expected := float64(n * shares[m.Cols[0]][k/len(second)] * second[k%len(second)])
			signals[i] += math.Abs(x-expected) - math.Sqrt(2/math.Pi)*grouped.SigmaOf(k)
		}
		if !(signals[i] > collectSignal*grouped.Noise()) {
			signals[i] = 0
		}
	}
	floats.ArgsortStable(signals, order)
	var fitted []marginal.Measurement
	var cliques [][]int
	for i, k := range slices.Backward(order) {
		if cols := pairs[k].Cols; signals[i] > 0 &&
			marginal.Beside(grouping.Sizes(), cliques)(cols, maxJointCells) {
			fitted, cliques = append(fitted, pairs[k]), append(cliques, cols)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(c.Measured), func(m marginal.Measurement) bool {
		return slices.ContainsFunc(fitted, func(f marginal.Measurement) bool {
			return slices.Equal(f.Cols, m.Cols)
		})
	})
	params := &Marginal{Grouping: grouping, Measured: fitted}
	for _, m := range columnsOf(sizes, rest) {
		if m.Cols != nil {
			params.Measured = append(params.Measured, m)
		}
	}
	var ms []marginal.Measurement
	for i := range params.Measured {
		counts := params.Measured[i].Counts
		for k := range counts {
			counts[k] = math.Round(counts[k]) // as the file has them
		}
		ms = append(ms, grouping.GroupMeasurement(params.Measured[i]))
	}
	o := marginal.Options{Total: n, Grouping: grouping}
	if c.Progress != nil {
		o.Progress = func(done, total int) { c.Progress(float64(done) / float64(total)) }
	}
	if params.Model, err = marginal.Fit(ctx, grouping.Sizes(), ms, o); err != nil {
		return nil, err
	}
	m := &Model{schema: c.Schema, params: params, Manifest: Manifest{Tool: c.Tool,
		Created: c.Created, Method: MethodCollect, Claim: c.Claim}}
	return m.complete(nil, nil)
}

// verifyCollected is [Model.Verify] of a model of randomised answers. There is no account to check:
// each respondent has their own.
func (m *Model) verifyCollected() error {
	if m.Method != MethodCollect || len(m.Ledger) > 0 || m.Claim != LocalClaim(m.Claim.Epsilon) ||
		(accountant.Budget{Epsilon: m.Claim.Epsilon}).Validate() != nil || m.DeclaredYAML != "" ||
		m.SchemaSHA256 != m.schema.Fingerprint() || m.schema.Unit != "" {
		return fail(ErrClaim, "a local claim is of rows without an id, which each answered under "+
			"replace-one and delta 0, and there is no ledger")
	}
	return nil
}

// columnsOf is what measurements say of each column by itself, averaged: without columns where
// there is nothing.
func columnsOf(sizes []int, ms []marginal.Measurement) []marginal.Measurement {
	out := make([]marginal.Measurement, len(sizes))
	for _, m := range ms {
		for at, col := range m.Cols {
			one := m.Sum(sizes, at)
			if out[col].Cols != nil {
				one = marginal.Refine(out[col], one)
			}
			out[col] = one
		}
	}
	return out
}
