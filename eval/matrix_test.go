package eval

import (
	"errors"
	"math"
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

func dense(m *Matrix) [][]float64 {
	rows, width := m.Dims()
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, width)
		m.Row(out[i], i)
	}
	return out
}

func TestMatrixRows(t *testing.T) {
	s := schemaOf(t, category("colour", 3), optional(number("weight", 4)), category("label", 2))
	// weights .5, missing, 2.5: mean 1.5, standard deviation 1
	tab := tableOf(t, s, []int{2, 0, 1}, []int{0, 4, 0}, []int{1, 2, 0})
	for _, test := range []struct {
		name     string
		features Features
		want     [][]float64
	}{
		{"one-hot", Features{Drop: []string{"label"}}, [][]float64{
			{0, 0, 1, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 1}, {0, 1, 0, 0, 0, 1, 0, 0}}},
		{"standardised", Features{Drop: []string{"label"}, Numeric: Standardised}, [][]float64{
			{0, 0, 1, -1, 0}, {1, 0, 0, 0, 1}, {0, 1, 0, 1, 0}}},
		{"drop twice", Features{Drop: []string{"label", "weight", "label"}}, [][]float64{
			{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := NewMatrix(tab, test.features)
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
	for _, form := range []Numeric{OneHot, Standardised} {
		m, err := NewMatrix(tab, Features{Numeric: form})
		if err != nil {
			t.Fatal(err)
		}
		x := dense(m)
		rows, width := m.Dims()
		w, r := make([]float64, width), make([]float64, rows)
		for i := range w {
			w[i] = u.NormFloat64()
		}
		for i := range r {
			r[i] = u.NormFloat64()
		}
		product, transposed, gram := make([]float64, rows), make([]float64, width),
			make([]float64, width*width)
		m.MulTo(product, w)
		m.TMulTo(transposed, r)
		m.gramTo(gram, r)
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
			for g := f; g < width; g++ {
				want := 0.0
				for i := range rows {
					want += x[i][f] * r[i] * x[i][g]
				}
				if !near(gram[f*width+g], want, 1e-12) {
					t.Fatalf("cell %d, %d of the Gram matrix is %v, want %v", f, g, gram[f*width+g],
						want)
				}
			}
		}
	}
}

func TestMatrixLikeKeepsTheScale(t *testing.T) {
	s := schemaOf(t, number("age", 5), category("colour", 2))
	// .5 and 4.5: mean 2.5, sd 2
	m, err := NewMatrix(tableOf(t, s, []int{0, 0}, []int{4, 0}), Features{Numeric: Standardised})
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.Like(tableOf(t, s, []int{3, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if got := dense(other)[0]; got[0] != .5 || got[1] != 0 || got[2] != 1 {
		t.Errorf("row %v, want [.5 0 1]", got)
	}
	same, err := NewMatrix(tableOf(t, s, []int{3, 1}, []int{3, 0}), Features{Numeric: Standardised})
	if err != nil {
		t.Fatal(err)
	}
	if got := dense(same)[0][0]; got != 0 || math.IsNaN(got) {
		t.Errorf("a column without spread becomes %v, want 0", got)
	}
}

func TestMatrixErrors(t *testing.T) {
	s := schemaOf(t, number("age", 5), category("colour", 2))
	tab := tableOf(t, s, []int{0, 0})
	m, err := NewMatrix(tab, Features{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		call func() error
		want error
	}{
		{"no rows", func() error { _, err := NewMatrix(tableOf(t, s), Features{}); return err },
			ErrTables},
		{"unknown column", func() error {
			_, err := NewMatrix(tab, Features{Drop: []string{"size"}})
			return err
		}, ErrColumn},
		{"nothing left", func() error {
			_, err := NewMatrix(tab, Features{Drop: []string{"age", "colour"}})
			return err
		}, ErrColumn},
		{"like: no rows", func() error { _, err := m.Like(tableOf(t, s)); return err }, ErrTables},
		{"like: fewer columns", func() error {
			_, err := m.Like(tableOf(t, schemaOf(t, number("age", 5)), []int{0}))
			return err
		}, ErrTables},
		{"like: other bins", func() error {
			_, err := m.Like(tableOf(t, schemaOf(t, number("age", 6), category("colour", 2)),
				[]int{0, 0}))
			return err
		}, ErrTables},
		{"like: other categories", func() error {
			c := schema.Column{Name: "colour", Kind: schema.Categorical,
				Categories: []string{"c1", "c0"}}
			_, err := m.Like(tableOf(t, schemaOf(t, number("age", 5), c), []int{0, 0}))
			return err
		}, ErrTables},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.call(); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	for name, call := range map[string]func(){
		"MulTo":  func() { m.MulTo(make([]float64, 1), make([]float64, 6)) },
		"TMulTo": func() { m.TMulTo(make([]float64, 6), make([]float64, 1)) },
		"Row":    func() { m.Row(make([]float64, 6), 0) },
	} {
		t.Run(name+" panics for a wrong shape", func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}
