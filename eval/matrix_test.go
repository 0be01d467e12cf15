package eval

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/decoy-dp/decoy/schema"
)

// wideSchema has every sort of column: categories, bins, both with missing, and one of more than
// 256 codes.
func wideSchema(t testing.TB) *schema.Schema {
	return schemaOf(t, category("colour", 3), optional(category("shape", 2)), number("age", 5),
		optional(number("weight", 4)), category("place", 300))
}

// TestMatrix compares the products by look-up with those of the dense matrix, which has a 1 for
// each cell that is not left out, and a last one in each row.
func TestMatrix(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	tab := uniformTable(t, wideSchema(t), 200, u)
	m, _, err := newMatrix([]string{"shape", "shape"}, tab)
	if err != nil {
		t.Fatal(err)
	}
	rows, width := m.dims()
	if sizes := tab.Schema().Sizes(); rows != 200 || width != sizes[0]+sizes[2]+sizes[3]+sizes[4]+1 {
		t.Fatalf("%d rows of %d features", rows, width)
	}
	x := mat.NewDense(rows, width, nil)
	for i := range rows {
		first := 0
		for _, c := range []int{0, 2, 3, 4} {
			x.Set(i, first+int(tab.Column(c).At(i)), 1)
			first += tab.Schema().Sizes()[c]
		}
		x.Set(i, first, 1)
	}
	w, r := make([]float64, width), make([]float64, rows)
	for _, v := range [][]float64{w, r} {
		for i := range v {
			v[i] = u.NormFloat64()
		}
	}
	product, transposed := make([]float64, rows), make([]float64, width)
	m.mulTo(product, w)
	m.tmulTo(transposed, r)
	var want, wantTransposed mat.VecDense
	want.MulVec(x, mat.NewVecDense(width, w))
	wantTransposed.MulVec(x.T(), mat.NewVecDense(rows, r))
	if !floats.EqualApprox(product, want.RawVector().Data, 1e-12) ||
		!floats.EqualApprox(transposed, wantTransposed.RawVector().Data, 1e-12) {
		t.Error("the products are not those of the dense matrix")
	}
}
