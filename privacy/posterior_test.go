package privacy_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// shares are shares to choose from, and the candidates of which Select picks θ with probability
// proportional to exp(ρ·log p(rows|θ)), ρ = ε/(2·greatest log odds): a sample of the posterior with
// a uniform prior on the grid (Wang, Fienberg, Smola 2015, arXiv 1502.07645, with temper ρ ≤ 1).
// Log odds are on the grid of weights, so that the scores are the log-likelihoods but for 2⁻¹²
// rows. The number of rows is public: neighbours replace a row.
func shares(rows int) (theta []float64, cs []privacy.Candidate, most float64) {
	for j := range 20 {
		odds := (float64(j) + .5) * 112 / 1024
		for code, sign := range []float64{-1, 1} {
			is := table.Condition{Column: 0, Allow: []bool{code == 0, code == 1}}
			theta = append(theta, 1/(1+math.Exp(-sign*odds)))
			cs = append(cs, privacy.Candidate{Query: privacy.Where{Expr: is}, Estimate: []float64{0},
				Weight: odds, Penalty: float64(rows) * math.Log1p(math.Exp(odds)) / odds})
		}
		most = odds
	}
	return theta, cs, most
}

// ill is a table of which so many are ill.
func ill(some, rows int) *table.Table {
	s := &schema.Schema{Columns: []schema.Column{{Name: "ill", Kind: schema.Boolean}}}
	codes := table.NewCodes(2, rows)
	for i := range some {
		codes.Set(i, 1)
	}
	t, err := table.FromColumns(s, []table.Codes{codes}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

func openFor(t *table.Table, epsilon float64, calls int) *privacy.Session {
	s, err := privacy.Open(context.Background(), privacy.FromTable(t), privacy.Options{
		Budget: accountant.Budget{Epsilon: epsilon * float64(calls)}, Adjacency: accountant.ReplaceOne,
		Plan: accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon}, Count: calls}}})
	if err != nil {
		panic(err)
	}
	return s
}

// One sample of the posterior of a share, on a grid, for ε = 1: the exponential mechanism with the
// log-likelihood as its score, drawn exactly. A sampler that only comes near to the posterior, as
// Markov chains do, would not be private.
func ExampleSession_posterior() {
	const rows = 20_000
	session := openFor(ill(6000, rows), 1, 1)
	theta, candidates, _ := shares(rows)
	i, err := session.Select(candidates, 1)
	if err != nil {
		panic(err)
	}
	session.Finish(nil, nil)
	fmt.Printf("a share of %.1f\n", theta[i])
	// Output: a share of 0.3
}

// TestPosteriorSample. Null: samples follow the posterior with the likelihood to the power of ρ =
// ε/(2C), C the greatest log odds (docs/claims/select.md); 30,000 samples, false-alarm rate 1e-6. ρ
// off by 30 % is rejected.
func TestPosteriorSample(t *testing.T) {
	const n, some, rows, epsilon = 30_000, 25, 60, 1.
	theta, candidates, most := shares(rows)
	session := openFor(ill(some, rows), epsilon, n)
	counts := make([]int64, len(theta))
	for range n {
		i := stattest.Must(session.Select(candidates, epsilon))
		counts[i]++
	}
	law := func(rho float64) []float64 {
		p, sum := make([]float64, len(theta)), 0.
		for i, x := range theta {
			p[i] = math.Exp(rho * (some*math.Log(x) + (rows-some)*math.Log1p(-x)))
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	rho := epsilon / (2 * most)
	if stat, limit, ok := stattest.ChiSquare(counts, law(rho)); !ok {
		t.Errorf("chi-square %v over %v", stat, limit)
	}
	for _, wrong := range []float64{.7, 1.3} {
		if _, _, ok := stattest.ChiSquare(counts, law(wrong*rho)); ok {
			t.Errorf("%v times ρ is accepted", wrong)
		}
	}
}

// The posterior of a share by Laplace noise on sufficient statistics: with a Dirichlet prior (1, 1)
// the counts are all that it depends on, and what is noisy about them costs ε = 1. Counts below 0
// are taken as 0.
func ExampleSession_MeasureLaplace() {
	s := &schema.Schema{Columns: []schema.Column{{Name: "ill", Kind: schema.Boolean}}}
	ill := table.NewCodes(2, 100_000)
	for i := range 30_000 {
		ill.Set(i, 1)
	}
	t, err := table.FromColumns(s, []table.Codes{ill}, nil)
	if err != nil {
		panic(err)
	}
	const scale = 1
	nb, q := privacy.NeighboursOf(s, accountant.AddRemove), privacy.Marginal{Cols: []int{0}}
	session, err := privacy.Open(context.Background(), privacy.FromTable(t), privacy.Options{
		Budget: accountant.Budget{Epsilon: 1},
		Plan:   accountant.Composition{{Event: nb.LaplaceEvent(q, scale), Count: 1}}})
	if err != nil {
		panic(err)
	}
	counts, err := session.MeasureLaplace(q, scale)
	if err != nil {
		panic(err)
	}
	session.Finish(nil, nil)
	a, b := 1+max(0, float64(counts[1])), 1+max(0, float64(counts[0]))
	fmt.Printf("Beta(%.0f hundred, %.0f hundred), mean %.3f\n", a/100, b/100, a/(a+b))
	// Output: Beta(300 hundred, 700 hundred), mean 0.300
}
