package eval

import (
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/schema"
)

// wideSchema has every sort of column: categories, bins, both with missing, and one of more than
// 256 codes.
func wideSchema(t testing.TB) *schema.Schema {
	return schemaOf(t, category("colour", 3), optional(category("shape", 2)), number("age", 5),
		optional(number("weight", 4)), category("place", 300))
}

func dense(m *matrix) [][]float64 {
	rows, width := m.dims()
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, width)
		for _, features := range m.features {
			out[i][features[i]] = 1
		}
	}
	return out
}

func TestMatrixRows(t *testing.T) {
	s := schemaOf(t, category("colour", 3), optional(number("weight", 4)), category("label", 2))
	tab := tableOf(t, s, []int{2, 0, 1}, []int{0, 4, 0}, []int{1, 2, 0})
	for _, test := range []struct {
		name string
		drop []string
		want [][]float64
	}{
		{"one-hot", []string{"label"}, [][]float64{
			{0, 0, 1, 1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0, 0, 1, 1}, {0, 1, 0, 0, 0, 1, 0, 0, 1}}},
		{"drop twice", []string{"label", "weight", "label"}, [][]float64{
			{0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _, err := newMatrix(test.drop, tab)
			if err != nil {
				t.Fatal(err)
			}
			got := dense(m)
			for i := range test.want {
				if len(got[i]) != len(test.want[i]) {
					t.Fatalf("%d features, want %d", len(got[i]), len(test.want[i]))
				}
				for j := range test.want[i] {
					if !near(got[i][j], test.want[i][j], 1e-15) {
						t.Fatalf("row %d is %v, want %v", i, got[i], test.want[i])
					}
				}
			}
		})
	}
}

// TestMatrixProducts compares the products by look-up with those of the dense matrix.
func TestMatrixProducts(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	tab := uniformTable(t, wideSchema(t), 200, u)
	m, _, err := newMatrix(nil, tab)
	if err != nil {
		t.Fatal(err)
	}
	x := dense(m)
	rows, width := m.dims()
	w, r := make([]float64, width), make([]float64, rows)
	for i := range w {
		w[i] = u.NormFloat64()
	}
	for i := range r {
		r[i] = u.NormFloat64()
	}
	product, transposed := make([]float64, rows), make([]float64, width)
	m.mulTo(product, w)
	m.tmulTo(transposed, r)
	for i := range rows {
		want := 0.0
		for j := range width {
			want += x[i][j] * w[j]
		}
		if !near(product[i], want, 1e-12) {
			t.Fatalf("product of row %d is %v, want %v", i, product[i], want)
		}
	}
	for f := range width {
		want := 0.0
		for i := range rows {
			want += x[i][f] * r[i]
		}
		if !near(transposed[f], want, 1e-12) {
			t.Fatalf("transposed product of feature %d is %v, want %v", f, transposed[f], want)
		}
	}
}
