package eval

import (
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

// TestEmbeddingUnderstates: the squared distance of embedded points never exceeds that of the
// points, up to rounding, and stays near it.
func TestEmbeddingUnderstates(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	for _, test := range []struct {
		name  string
		s     *schema.Schema
		below float64 // mean understatement of a pair, at most, in δ
	}{
		{"categories", schemaOf(t, category("a", 2), category("b", 5), optional(category("c", 3))),
			1e-6},
		{"many categories", schemaOf(t, category("a", 700), category("b", 60)), .01},
		{"few places", schemaOf(t, number("a", 2), number("b", 9), optional(number("c", 5))), .13},
		{"many places", schemaOf(t, number("a", 1000), optional(number("b", 100))), .13},
		{"one value", schemaOf(t, number("a", 1), optional(number("b", 1)), category("c", 2)), .13},
	} {
		for _, d := range []Distance{Euclidean, Gower} {
			t.Run(test.name, func(t *testing.T) {
				a := pointsOf(t, uniformTable(t, test.s, 120, u), d)
				b := pointsOf(t, uniformTable(t, test.s, 130, u), d)
				e := newEmbedding(a, b)
				x, y := e.rows(a, allColumns(a.n), true), e.rows(b, allColumns(b.n), false)
				mean := 0.0
				for i := range a.n {
					for j := range b.n {
						squared := 0.0
						for k := range e.width {
							d := float64(x.Row(i)[k]) - float64(y.Row(j)[k])
							squared += d * d
						}
						exact := e.unit * a.space.between(a.row(i), b.row(j))
						if squared > exact+1e-6 {
							t.Fatalf("points %v and %v: embedded %v, distance %v", a.row(i),
								b.row(j), squared, exact)
						}
						mean += (exact - squared) / e.unit / float64(a.n*b.n)
					}
				}
				if mean > test.below*float64(a.dim) {
					t.Errorf("understates by %v on average", mean)
				}
			})
		}
	}
}
