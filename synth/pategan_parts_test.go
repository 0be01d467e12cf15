package synth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/gan/critic"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestStudentIsHeardWhenItKnows: a student is trusted after votes that follow the rows, and not
// after votes of noise alone, or of a constant.
func TestStudentIsHeardWhenItKnows(t *testing.T) {
	e := stattest.Must(critic.NewEncoderOf([]int{2, 3, 4}))
	const teachers, sd = 100, 20.
	run := func(seed uint64, vote func(row []int32) float64) float32 {
		u := rand.New(rand.NewPCG(seed, 1))
		s := stattest.Must(newStudent(e, 8, 16, u))
		for range 6 {
			asked := cells{columns: 3}
			for range 200 {
				asked.at = append(asked.at, int32(u.IntN(2)), int32(2+u.IntN(3)),
					int32(5+u.IntN(4)))
			}
			votes := make([]int64, 200)
			for i := range votes {
				votes[i] = int64(math.Round(teachers*vote(asked.row(i)) + sd*u.NormFloat64()))
			}
			s.keep(asked, votes, teachers)
			s.learn(300, sd/teachers, u)
		}
		return s.trust(sd / teachers)
	}
	if got := run(1, func(row []int32) float64 { return .3 + .4*float64(row[0]) }); got < .5 {
		t.Errorf("a student who knows is trusted %v", got)
	}
	heard := 0
	for seed := range uint64(10) {
		if run(seed, func([]int32) float64 { return .1 }) > 0 {
			heard++
		}
	}
	if heard > 3 {
		t.Errorf("%d of 10 students are heard who know nothing", heard)
	}
}

// TestPull: the opinion counts w times as long as the marginal model's gradient, whatever its own
// unit is.
func TestPull(t *testing.T) {
	for _, tt := range []struct {
		name                string
		down, opinion, want []float32
	}{
		{"same length", []float32{3, 4}, []float32{0, 5}, []float32{3, 1.5}},
		{"another unit", []float32{3, 4}, []float32{0, 5000}, []float32{3, 1.5}},
		{"no opinion", []float32{3, 4}, []float32{0, 0}, []float32{3, 4}},
	} {
		if pull(tt.down, tt.opinion, .5); !slices.Equal(tt.down, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.down, tt.want)
		}
	}
}

// TestForecastGrows: more rounds need more memory and more time.
func TestForecastGrows(t *testing.T) {
	s := synthtest.Schema(6)
	a, b := planned(t, PATEGAN{}, s, budget).Forecast(0), planned(t, PATEGAN{Rounds: 4000},
		s, budget).Forecast(0)
	if a.Seconds >= b.Seconds || a.MemoryBytes >= b.MemoryBytes || len(a.Noise) != 4 {
		t.Errorf("%+v, then %+v", a, b)
	}
}
