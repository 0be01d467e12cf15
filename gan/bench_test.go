package gan

import (
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
)

// adultSizes are 15 blocks, 215 cells: the adult table with numeric columns in 16 bins.
var adultSizes = []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}

// BenchmarkGeneratorStep is one generator step: 1024 rows, 4 measurements of 64 units.
func BenchmarkGeneratorStep(b *testing.B) {
	u := testRand(13)
	e := testEncoder(b, adultSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{}, u)
	r := NewHistory(someMeasurement(b, e, 1, false, 64).Critic)
	for k := range uint64(8) {
		if err := r.Add(someMeasurement(b, e, k, false, 64)); err != nil {
			b.Fatal(err)
		}
	}
	for name, hard := range map[string]bool{"relaxed": false, "hard": true} {
		b.Run(name, func(b *testing.B) {
			p, down, adam := g.NewPass(1024, Head{Hard: hard}), matrix.New(1024, e.Cells()),
				matrix.NewAdam(len(g.parameters), .5, .9)
			for b.Loop() {
				x := p.Forward(u)
				r.GradientTo(down, x, []int{1, 3, 4, 7})
				adam.Update(g.parameters, p.Backward(down), 1e-3)
			}
		})
	}
}

// BenchmarkGeneratorGradient compares the hand-written pass and the Gorgonia graph: forward and
// backward of 1024 rows.
func BenchmarkGeneratorGradient(b *testing.B) {
	u := testRand(14)
	e := testEncoder(b, adultSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{}, u)
	p := g.NewPass(1024, Head{})
	down := matrix.Dense(1024, e.Cells(), normals(u, 1024*e.Cells(), 1))
	b.Run("hand", func(b *testing.B) {
		d := matrix.New(1024, e.Cells())
		for b.Loop() {
			p.Forward(u)
			copy(d.Data, down.Data)
			p.Backward(d)
		}
	})
	b.Run("gorgonia", func(b *testing.B) {
		graph := p.Graph()
		defer graph.Close()
		for b.Loop() {
			p.Forward(u)
			if _, _, err := graph.Gradient(down); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCriticStep is the generated half of a step of a critic 64→128→128→1 with gradient
// penalty, batch 128, and its exact sum over 128 rows.
func BenchmarkCriticStep(b *testing.B) {
	u := testRand(15)
	e := testEncoder(b, 16, 16, 16, 16)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{128, 128}, Slope: .2}, u)
	const batch = 128
	tutor, rows, mixed := NewTutor(c, batch), matrix.Dense(batch, 64, normals(u, batch*64, .3)),
		matrix.New(batch, 64)
	columns := randomColumns(u, e, batch)
	sums, adam := make([]int64, len(c.Parameters())), matrix.NewAdam(len(c.Parameters()), .5, .9)
	b.Run("generated", func(b *testing.B) {
		for b.Loop() {
			MixTo(mixed, rows, u)
			gradient, _ := tutor.Gradient(rows)
			tutor.AddPenalty(mixed, 10, true)
			adam.Update(c.Parameters(), gradient, 1e-4)
		}
	})
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			c.AddSumTo(sums, nil, 0x1p-16, columns, nil)
		}
	})
}

// BenchmarkSum is one full batch of 10 000 rows of adult's shape through a critic of one hidden
// layer of 64 units.
func BenchmarkSum(b *testing.B) {
	u := testRand(16)
	e := testEncoder(b, adultSizes...)
	c, _ := NewCritic(e, CriticOptions{Slope: .2}, u)
	columns := randomColumns(u, e, 10000)
	sums, cells := make([]int64, len(c.Parameters())), make([]int64, e.Cells())
	for b.Loop() {
		c.AddSumTo(sums, cells, 0x1p-16, columns, nil)
	}
}

// BenchmarkSample draws 10 000 rows.
func BenchmarkSample(b *testing.B) {
	u := testRand(17)
	g, _ := NewGenerator(testEncoder(b, adultSizes...), GeneratorOptions{}, u)
	for b.Loop() {
		g.Sample(10000, u)
	}
}
