package pategan

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestDirectionsConform(t *testing.T) {
	quick, err := New(Config{Rounds: 2, Questions: 8, Directions: 4, WarmSteps: 2, GeneratorSteps: 2,
		PostSteps: 2, Batch: 16})
	if err != nil {
		t.Fatal(err)
	}
	good := synthtest.Must(New(Config{Directions: 10}))
	synthtest.RunFit(t, quick, good)
	if _, err := New(Config{Directions: 300}); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("more directions than questions: %v", err)
	}
}

// TestDirectionsArePaid states by hand what votes cost: a vector of k histograms moves by √(2k), so
// that it costs a μ of √(2k)/σ.
func TestDirectionsArePaid(t *testing.T) {
	f := synthtest.Must(New(Config{Directions: 10, Rounds: 4, Questions: 105, ColdStart: true}))
	s := synthtest.Schema(3)
	made, err := f.Plan(s, privacy.NeighboursOf(s, 0), accountant.Budget{Epsilon: 1, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*plan)
	const k = 400 // questions: 4 rounds of 10 rows in 10 directions
	want := 1/(p.total*p.total) + 2*k/(p.votes*p.votes)
	got := 0.0
	for _, c := range p.Composition() {
		z := c.Event.(accountant.Gaussian).NoiseMultiplier
		got += float64(c.Count) / (z * z)
	}
	if math.Abs(got/want-1) > 1e-9 {
		t.Errorf("the plan has μ² = %v, want %v", got, want)
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
