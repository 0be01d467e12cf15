package vote

import (
	"math"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
)

// lonely is a session's shards whose teachers, k of them, all vote for class 1 but for the first
// dissenters of them, who vote for class 0.
func lonely(t *testing.T, plan accountant.Composition, k, dissenters int) *Shards[int] {
	t.Helper()
	sh := stattest.Must(Split(
		open(t, testTable(t, testSchema("", 0), someRows(10), nil), plan), k,
		func(i int) Teacher[int] { return stubborn(i >= dissenters) },
	))
	return sh
}

// stubborn is a teacher of one opinion.
type stubborn bool

func (stubborn) Train(*table.Table, int) {}

func (s stubborn) VotesTo(votes []uint8, _ int) {
	for q := range votes {
		votes[q] = 0
		if s {
			votes[q] = 1
		}
	}
}

// TestAudit_NoiseScaleInverted: γ of LNMax is in the event, 1/γ in the noise. Null: the noise on a
// count is discrete Laplace of scale 1/γ, 5000 draws at each of three γ, false-alarm rate 1e-6.
// Noise of scale γ is rejected, and it would be nearly none.
func TestAudit_NoiseScaleInverted(t *testing.T) {
	const n = 5000
	b := Ballot{Questions: n, Classes: 2}
	for _, gamma := range []float64{.5, .2, .1} {
		a := Aggregator{Laplace: 1 / gamma}
		answer, _ := Events(a, 2)
		if got := answer.(accountant.Laplace).Epsilon; math.Abs(got/gamma-1) > 1e-15 {
			t.Errorf("gamma %v: the event has epsilon %v", gamma, got)
		}
		got := stattest.Must(lonely(t, Plan(a, b, 0), 40, 10).Vote(a, b, 0))
		draws, zeros := make([]int64, n), int64(0)
		for q := range draws {
			if draws[q] = got.Counts[2*q+1] - 30; draws[q] == 0 {
				zeros++
			}
		}
		if !follows(draws, 21, func(x int64) float64 { return laplace(x, 1/gamma) }) {
			t.Errorf("gamma %v: the noise has not scale 1/gamma", gamma)
		}
		if _, _, ok := stattest.Binomial(zeros, n, laplace(0, gamma)); ok {
			t.Errorf("gamma %v: noise of scale gamma is accepted: the test shows nothing", gamma)
		}
	}
}

// TestAudit_NoiseOnLabels: noise is on the counts, so how often the winner is wrong depends on how
// divided teachers are. Null: of two classes the smaller one wins with probability P(n₁ +
// round(N(0, σ²)) ≤ n₀ − the same), 20 000 questions, false-alarm rate 1e-6. Of 200 teachers of one
// opinion, at σ = 20, it never does; noise on the winner's number would change every other label.
func TestAudit_NoiseOnLabels(t *testing.T) {
	const n, sigma = 20000, 20.0
	a, b := Aggregator{Sigma: sigma}, Ballot{Questions: n, Classes: 2}
	for _, dissenters := range []int{0, 90, 98} {
		got := stattest.Must(lonely(t, Plan(a, b, 0), 200, dissenters).Vote(a, b, 0))
		var wrong int64
		for c := range slices.Chunk(got.Counts, 2) {
			if c[0] >= c[1] {
				wrong++
			}
		}
		// Class 0 wins ties: the noise x on class 1 is at most (n₀ − n₁)/2.
		p := math.Erfc((100-float64(dissenters)-.5)/(sigma*math.Sqrt2)) / 2
		if _, _, ok := stattest.Binomial(wrong, n, p); !ok || dissenters == 0 && wrong > n/1000 {
			t.Errorf(
				"%d of 200 dissent: %d of %d winners are theirs, which has probability %v each", dissenters,
				wrong, n, p,
			)
		}
	}
}

// wrongCost is the cost of queries of LNMax by the moments accountant, ε = min over l of (α(l) +
// tail)/l, with something else in the place of ln(1/δ).
func wrongCost(queries, lambda, tail float64) float64 {
	cost := math.Inf(1)
	for l := 1.0; l <= 400; l++ {
		cost = min(cost, (queries*2*lambda*lambda*l*(l+1)+tail)/l)
	}
	return cost
}

// laplaceVotes is the cost of 100 queries of LNMax with γ = 0.01 on ten classes, at least: package
// pld is right to half a per cent.
func laplaceVotes(t *testing.T, delta float64) float64 {
	t.Helper()
	got := stattest.Must(pld.Epsilon(Plan(Aggregator{Laplace: 100},
		Ballot{Questions: 100, Classes: 10}, 0), delta, accountant.AddRemove))
	return got.Epsilon * .995
}

// TestAudit_MissingLog: without the logarithm, with δ itself, the moments accountant says less than
// half of what the votes cost; with it, more than that.
func TestAudit_MissingLog(t *testing.T) {
	const delta = 1e-5
	exact := laplaceVotes(t, delta)
	if right, wrong := wrongCost(100, .01, math.Log(1/delta)),
		wrongCost(100, .01, -delta); exact > right ||
		exact < 2*wrong {
		t.Errorf("exact cost %v; with the logarithm %v, without %v", exact, right, wrong)
	}
}

// TestAudit_TenToTheDelta: with 10^δ for δ the moments accountant says less than half of what the
// votes cost; and such a number is not taken for a δ.
func TestAudit_TenToTheDelta(t *testing.T) {
	const delta = 1e-5
	if exact, wrong := laplaceVotes(t, delta),
		wrongCost(100, .01, -math.Log(math.Pow(10, delta))); exact < 2*wrong {
		t.Errorf("exact cost %v; with 10^delta %v", exact, wrong)
	}
	for _, d := range []float64{math.Pow(10, delta), -5, 5} {
		stattest.Fails(t, (accountant.Budget{Epsilon: 1, Delta: d}).Validate(), "delta %v is accepted", d)
	}
}

// TestAudit_IgnoredDelta: the same votes cost more at a smaller δ, of either noise.
func TestAudit_IgnoredDelta(t *testing.T) {
	gaussian := Plan(Aggregator{Sigma: 100}, Ballot{Questions: 100, Classes: 10}, 0)
	last, lastGaussian := 0.0, 0.0
	for _, delta := range []float64{1e-3, 1e-5, 1e-7, 1e-9} {
		cost := laplaceVotes(t, delta)
		g, err := pld.Epsilon(gaussian, delta, accountant.AddRemove)
		if err != nil || cost < 1.1*last || g.Epsilon < 1.1*lastGaussian {
			t.Errorf(
				"delta %v: %v and %v, %v; at the one before %v and %v", delta, cost, g.Epsilon, err, last,
				lastGaussian,
			)
		}
		last, lastGaussian = cost, g.Epsilon
	}
}
