package gan

import (
	"testing"

	"github.com/decoy-dp/decoy/internal/matrix"
)

// adultSizes are 15 blocks, 215 cells: the adult table with numeric columns in 16 bins.
var adultSizes = []int{16, 9, 16, 16, 16, 7, 15, 6, 5, 2, 16, 16, 16, 57, 2}

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
