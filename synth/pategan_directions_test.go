package synth

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestDirectionsArePaid states by hand what votes cost: a vector of k histograms moves by √(2k), so
// that it costs a μ of √(2k)/σ, or an ε of 2k/b.
func TestDirectionsArePaid(t *testing.T) {
	c := PATEGAN{Directions: 10, Rounds: 4, Questions: 105}
	const k = 400 // questions: 4 rounds of 10 rows in 10 directions
	s := synthtest.Schema(3)
	p := planned(t, c, s, budget)
	whole := stattest.Must(accountant.MuFor(budget))
	if got, want := 2*k/(p.votes.Sigma*p.votes.Sigma), .1*whole*whole; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("votes take μ² = %v, a tenth is %v", got, want)
	}
	c.Aggregator = vote.LNMax
	made := stattest.Must(NewPlan(checked(&c), schema.One(s),
		privacy.NeighboursOf(s, 0), budget))
	p = made.Plan.(*patePlan)
	votes := made.Reserve[1]
	if e, ok := votes.Event.(accountant.Laplace); !ok || votes.Count != k ||
		math.Abs(e.Epsilon*p.votes.Laplace/2-1) > 1e-9 {
		t.Errorf("votes with Laplace noise of %v cost %+v", p.votes.Laplace, votes)
	}
}

// TestSlope compares the gradient of a teacher with differences of its score between rows that
// differ in one cell, which is exact where no hidden unit changes its side.
func TestSlope(t *testing.T) {
	offsets := []int{0, 2, 5}
	teach := newTeacher(3, offsets, 2)
	u := rand.New(rand.NewPCG(1, 2))
	for i := range teach.weights {
		teach.weights[i] = float32(u.NormFloat64() / 8)
	}
	bias, _, _ := teach.tail(teach.weights)
	for j := range bias {
		bias[j] = 5 // every unit is on
	}
	slope := make([]float32, 5)
	teach.slopeTo(slope, []int32{0, 3})
	if length := square(slope); math.Abs(length-1) > 1e-5 {
		t.Errorf("its length is %v", math.Sqrt(length))
	}
	rise := func(a, b int32) float64 {
		return float64(teach.score([]int32{a, b}) - teach.score([]int32{0, 3}))
	}
	first, second := float64(slope[1]-slope[0])/rise(1, 3), float64(slope[4]-slope[3])/rise(0, 4)
	if !(first > 0) || math.Abs(first/second-1) > 1e-4 {
		t.Errorf("differences of scores are slopes times %v and %v", 1/first, 1/second)
	}
	// A vote is for the bin that holds the coordinate, and for the outermost beyond the range.
	votes := make([]uint8, 3)
	along := make([][]float32, 3)
	for j, scale := range []float32{1, -1, 0} {
		along[j] = make([]float32, 5)
		for c, s := range slope {
			along[j][c] = 2 * scale * s
		}
	}
	teach.directionsTo(votes, []int32{0, 3}, along)
	if votes[0] != directionBins-1 || votes[1] != 0 || votes[2] != directionBins/2 {
		t.Errorf("votes %v", votes)
	}
}
