package pategan

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"odd batch": {Batch: 33}, "negative rounds": {Rounds: -1},
		"NaN share": {TotalShare: math.NaN()}, "shares": {MarginalShare: .3, TargetShare: .5,
			PairShare: .3},
		"negative pairs": {Pairs: -1}, "rate": {GeneratorRate: 2},
		"questions": {Questions: 1 << 30},
	} {
		if _, err := New(c); !errors.Is(err, synth.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := synthtest.Must(New(Config{Target: "no such column"}))
	s := synthtest.Schema(3)
	if _, err := f.Plan(s, privacy.NeighboursOf(s, 0), budget); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("unknown target: %v", err)
	}
	if _, err := f.Plan(s, privacy.NeighboursOf(s, 0),
		accountant.Budget{Epsilon: 1}); !errors.Is(err, accountant.ErrBudgetRange) {
		t.Errorf("delta 0: %v", err)
	}
}

// TestTarget: pairs with the target are measured first, whichever column it is; without one the
// last column is it.
func TestTarget(t *testing.T) {
	s := synthtest.Schema(5)
	for name, want := range map[string]int{"": 4, "column 1": 1} {
		p := planned(t, Config{Target: name}, s, budget)
		if p.target != want || len(p.targetPairs) != 4 || len(p.others) != 6 || p.pairs != 4 {
			t.Errorf("%q: target %d, %d pairs with it, %d of %d others", name, p.target,
				len(p.targetPairs), p.pairs, len(p.others))
		}
		for _, e := range p.targetPairs {
			if e[0] != want && e[1] != want || e[0] >= e[1] {
				t.Errorf("%q: pair %v", name, e)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	number, missing := schema.Column{Kind: schema.Integer}, schema.Column{Kind: schema.Integer,
		Missing: []string{"?"}}
	category := schema.Column{Kind: schema.Categorical}
	for _, tt := range []struct {
		name      string
		c         schema.Column
		noisy     []int64
		threshold float64
		want      []uint16
	}{
		{"neighbours", number, []int64{5, 6, 20, 1, 1, 1, 30, 2}, 10,
			[]uint16{0, 0, 1, 2, 2, 2, 2, 2}},
		{"missing is apart", missing, []int64{5, 6, 20, 1}, 10, []uint16{0, 0, 1, 2}},
		{"nothing reaches it", number, []int64{1, -1, 2}, 10, []uint16{0, 0, 0}},
		{"rare categories", category, []int64{50, 3, 20, -2, 12}, 10, []uint16{0, 1, 2, 1, 1}},
		{"all frequent", category, []int64{50, 30, 20}, 10, []uint16{0, 1, 2}},
		{"no threshold", number, []int64{0, 0, 0}, 0, []uint16{0, 1, 2}},
		{"none", category, []int64{-5, -3}, 10, []uint16{0, 0}},
	} {
		got, n := groupsOf(tt.c, tt.noisy, tt.threshold)
		if !slices.Equal(got, tt.want) || n != int(slices.Max(tt.want))+1 {
			t.Errorf("%s: %v, %d groups; want %v", tt.name, got, n, tt.want)
		}
	}
}

// TestMatchGradient: the gradient of the matcher is that of its loss, were the cells of one row to
// move: by differences of the loss written out.
func TestMatchGradient(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	offsets := []int{0, 3, 5, 9}
	m := newMatcher(offsets)
	random := func(cols []int, groups [][]uint16, sizes ...int) {
		n := 1
		for _, s := range sizes {
			n *= s
		}
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = u.Int64N(100)
		}
		m.add(newMeasured(cols, groups, sizes, counts, 5, 200, .01))
	}
	random([]int{0}, nil, 3)
	random([]int{0, 2}, nil, 3, 4)
	random([]int{1, 2}, [][]uint16{nil, {0, 1, 1, 0}}, 2, 2)
	const rows = 6
	x := matrix.New(rows, 9)
	for i := range rows {
		for k := range 3 {
			x.Row(i)[offsets[k]+u.IntN(offsets[k+1]-offsets[k])] = 1
		}
	}
	loss := func(x matrix.Matrix) float64 {
		total := 0.0
		for _, q := range m.all {
			var residual [2][]float64
			for h := range 2 {
				residual[h] = make([]float64, len(q.Mean))
				for i := h * rows / 2; i < (h+1)*rows/2; i++ {
					for a := range offsets[q.Cols[0]+1] - offsets[q.Cols[0]] {
						va := float64(x.Row(i)[offsets[q.Cols[0]]+a])
						if len(q.Cols) == 1 {
							residual[h][a] += va / (rows / 2)
							continue
						}
						for b := range offsets[q.Cols[1]+1] - offsets[q.Cols[1]] {
							ga, gb := a, b
							if q.Groups != nil && q.Groups[0] != nil {
								ga = int(q.Groups[0][a])
							}
							if q.Groups != nil && q.Groups[1] != nil {
								gb = int(q.Groups[1][b])
							}
							residual[h][ga*q.Sizes[1]+gb] += va * float64(x.Row(i)[offsets[q.Cols[1]]+b]) / (rows / 2)
						}
					}
				}
			}
			for c := range q.Mean {
				total += (residual[0][c] - float64(q.Mean[c])) * (residual[1][c] - float64(
					q.Mean[c])) / float64(q.SD[c]*q.SD[c])
			}
		}
		return total / float64(m.cells)
	}
	got := matrix.New(rows, 9)
	if l := m.gradientTo(got, x); math.Abs(l-loss(x)) > 1e-4*math.Abs(l) {
		t.Errorf("loss %v, want %v", l, loss(x))
	}
	for i := range x.Data {
		const h = 1. / 1024
		was := x.Data[i]
		x.Data[i] = was + h
		up := loss(x)
		x.Data[i] = was - h
		down := loss(x)
		x.Data[i] = was
		if want := (up - down) / (2 * h); math.Abs(float64(got.Data[i])-want) > 1e-3*(1+
			math.Abs(want)) {
			t.Errorf("cell %d: %v, want %v", i, got.Data[i], want)
		}
	}
}

// TestStudentIsHeardWhenItKnows: a student is trusted after votes that follow the rows, and not
// after votes of noise alone, or of a constant.
func TestStudentIsHeardWhenItKnows(t *testing.T) {
	e := synthtest.Must(critic.NewEncoderOf([]int{2, 3, 4}))
	const teachers, sd = 100, 20.
	run := func(seed uint64, vote func(row []int32) float64) float32 {
		u := rand.New(rand.NewPCG(seed, 1))
		s := synthtest.Must(newStudent(e, 8, 16, u))
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
			s.learn(100, .01, sd/teachers, u)
		}
		return s.trust(sd / teachers)
	}
	if got := run(1, func(row []int32) float64 { return .3 + .4*float64(row[0]) }); got < .5 {
		t.Errorf("a student who knows is trusted %v", got)
	}
	heard := 0
	for seed := range uint64(20) {
		if run(seed, func([]int32) float64 { return .1 }) > 0 {
			heard++
		}
	}
	if heard > 4 {
		t.Errorf("%d of 20 students are heard who know nothing", heard)
	}
}

// TestStartsAtTheTables: before its first step the generator draws columns given the target's code
// as the pairs with it say; with too many codes of the target, independently of it.
func TestStartsAtTheTables(t *testing.T) {
	for _, tt := range []struct {
		name  string
		codes int // of the target
		given bool
	}{{"two codes", 2, true}, {"many codes", mostSteps + 1, false}} {
		e := synthtest.Must(critic.NewEncoderOf([]int{4, tt.codes}))
		tr := &training{u: rand.New(rand.NewPCG(1, 9)), encoder: e,
			p: &plan{target: 1, targetPairs: [][2]int{{0, 1}}}}
		tr.generator = synthtest.Must(gan.NewGenerator(e, gan.GeneratorOptions{}, tr.u))
		target := make([]float64, tt.codes)
		target[0], target[1] = .9, .1
		// Given target code 0 the column is 0 or 1, given code 1 it is 3.
		joint := make([][]float64, tt.codes)
		for y := range joint {
			joint[y] = make([]float64, 4)
		}
		joint[0][0], joint[0][1], joint[1][3] = .45, .45, .1
		tr.begin([][]float64{{.45, .45, 0, .1}, target}, [][][]float64{joint, nil},
			[][]uint16{{0, 1, 2, 3}, nil})
		codes := tr.generator.Sample(4000, tr.u)
		ones, both := 0, 0
		for i, y := range codes[1] {
			if y == 1 {
				if ones++; codes[0][i] == 3 {
					both++
				}
			}
		}
		if ones < 100 || ones > 900 || tt.given != (both > ones*6/10) {
			t.Errorf("%s: %d of %d rows of target code 1 have code 3, of 4000", tt.name, both, ones)
		}
	}
}

// TestPull: the opinion counts w times as long as the measurements' gradient, whatever its own unit
// is, and by itself where nothing was measured.
func TestPull(t *testing.T) {
	for _, tt := range []struct {
		name                string
		down, opinion, want []float32
	}{
		{"same length", []float32{3, 4}, []float32{0, 5}, []float32{3, 1.5}},
		{"another unit", []float32{3, 4}, []float32{0, 5000}, []float32{3, 1.5}},
		{"no measurements", []float32{0, 0}, []float32{2, 0}, []float32{-1, 0}},
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
	a, b := planned(t, Config{}, s, budget).Forecast(), planned(t, Config{Rounds: 40},
		s, budget).Forecast()
	if a.Seconds >= b.Seconds || a.MemoryBytes >= b.MemoryBytes || len(a.Noise) != 6 {
		t.Errorf("%+v, then %+v", a, b)
	}
}
