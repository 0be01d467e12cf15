package gan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// randomColumns draws n rows of codes, the first column as wide codes.
func randomColumns(u *rand.Rand, e *Encoder, n int) []table.Codes {
	columns := make([]table.Codes, e.Columns())
	for k, size := range e.Sizes() {
		columns[k] = table.NewCodes(size, n)
		if k == 0 {
			columns[k] = table.Codes{U16: make([]uint16, n)}
		}
		for i := range n {
			if c := u.IntN(size); k == 0 {
				columns[k].U16[i] = uint16(c)
			} else {
				columns[k].U8[i] = uint8(c)
			}
		}
	}
	return columns
}

// oneHotTo writes the cells of rows of codes, which are column-major.
func oneHotTo(e *Encoder, dst Matrix, codes [][]uint16) {
	clear(dst.Data)
	for k, column := range codes {
		for i, c := range column[:dst.Rows] {
			dst.Row(i)[e.Offset(k)+int(c)] = 1
		}
	}
}

// dense gives the one-hot rows of the columns.
func dense(e *Encoder, columns []table.Codes) Matrix {
	codes := make([][]uint16, len(columns))
	for k, c := range columns {
		for i := range c.Len() {
			codes[k] = append(codes[k], c.At(i))
		}
	}
	x := matrix.New(columns[0].Len(), e.Cells())
	oneHotTo(e, x, codes)
	return x
}

// TestCriticSums: gather and scatter-add over codes give what dense rows give.
func TestCriticSums(t *testing.T) {
	for name, hidden := range map[string][]int{"one layer": {8}, "two layers": {8, 5}} {
		u := testRand(7)
		e := testEncoder(t, testSizes...)
		const n, factor = 300, 0x1p-20
		c := stattest.Must(NewCritic(e, CriticOptions{Hidden: hidden, Slope: .2}, u))
		columns := randomColumns(u, e, n)
		x := dense(e, columns)
		want, _ := NewTutor(c, n).Gradient(x)
		sums, cells := make([]int64, len(c.Parameters())), make([]int64, e.Cells())
		c.AddSumTo(sums, cells, factor, columns, nil)
		got := make([]float32, len(sums))
		for i, v := range sums {
			got[i] = float32(float64(v) * factor * factor / n)
		}
		near(t, name, got, want, 1e-5)
		for i, count := range cells {
			var want float32
			for r := range n {
				want += x.Row(r)[i]
			}
			if float32(count) != want {
				t.Errorf("%s: %d rows with cell %d, want %v", name, count, i, want)
			}
		}
	}
}

// TestPenaltyOneSided: rows with a small input gradient add nothing, and differences agree
// elsewhere.
func TestPenaltyOneSided(t *testing.T) {
	u := testRand(8)
	e := testEncoder(t, testSizes...)
	for name, scale := range map[string]float32{"steep": 3, "flat": .01} {
		c, _ := NewCritic(e, CriticOptions{Hidden: []int{9, 7}, Slope: .2}, u)
		for i := range c.Parameters() {
			c.Parameters()[i] *= scale
		}
		tutor, rows := NewTutor(c, 12), matrix.Dense(12, e.Cells(), normals(u, 12*e.Cells(), 1))
		before, _ := tutor.Gradient(rows)
		before = append([]float32(nil), before...)
		penalty := tutor.AddPenalty(rows, 1, true)
		after := append([]float32(nil), tutor.gradient...)
		for i := range after {
			after[i] -= before[i]
		}
		if name == "flat" {
			if penalty != 0 {
				t.Errorf("flat: penalty %v", penalty)
			}
			continue
		}
		differences(t, name, c.Parameters(), after, 1e-4, .02, func() float64 {
			tutor.Gradient(rows)
			return tutor.AddPenalty(rows, 1, true)
		})
	}
}

func TestInputGradient(t *testing.T) {
	u := testRand(9)
	e := testEncoder(t, testSizes...)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{9, 7}, Slope: .2}, u)
	tutor, rows, dst := NewTutor(c, 6), matrix.Dense(6, e.Cells(), normals(u, 6*e.Cells(), 1)),
		matrix.New(6, e.Cells())
	tutor.InputTo(dst, rows)
	gradient := append([]float32(nil), dst.Data...)
	differences(t, "input", rows.Data, gradient, 1e-3, .02,
		func() float64 { return tutor.InputTo(dst, rows) })
}

func TestLipschitzModes(t *testing.T) {
	u := testRand(10)
	e := testEncoder(t, testSizes...)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{9}, Slope: .2}, u)
	tutor := NewTutor(c, 1)
	tutor.LimitSpectral(1e9, 200)
	first := tutor.LimitSpectral(.5, 1)
	for l, norm := range tutor.LimitSpectral(.5, 50) {
		if want := min(first[l], .5); math.Abs(norm-want) > 1e-3 {
			t.Errorf("layer %d: spectral norm %v after limiting %v to .5", l, norm, first[l])
		}
	}
	Clip(c, .01)
	for _, layer := range c.Network().Layers {
		w := layer.Weights
		for _, x := range w {
			if x > .01 || x < -.01 {
				t.Fatalf("weight %v after clipping to .01", x)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	u := testRand(11)
	e := testEncoder(t, 2, 3)
	encoder := func(sizes ...int) error { _, err := NewEncoderOf(sizes); return err }
	generator := func(o GeneratorOptions) error { _, err := NewGenerator(e, o, u); return err }
	critic := func(o CriticOptions) error { _, err := NewCritic(e, o, u); return err }
	for name, err := range map[string]error{
		"no columns": encoder(), "empty column": encoder(0), "large column": encoder(1<<16 + 1),
		"latent": generator(GeneratorOptions{Latent: -1}),
		"hidden": generator(GeneratorOptions{Hidden: maxHidden + 1}),
		"slope":  critic(CriticOptions{Slope: 1.5}), "no layers": critic(CriticOptions{Hidden: []int{}}),
		"units": critic(CriticOptions{Hidden: []int{0}}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c, _ := NewCritic(e, CriticOptions{}, u)
	g, _ := NewGenerator(e, GeneratorOptions{}, u)
	dst := make([]int64, len(c.Parameters()))
	bad := []table.Codes{{U8: []uint8{2}}, {U8: []uint8{0}}}
	for name, f := range map[string]func(){
		"code":    func() { c.AddSumTo(dst, nil, .5, bad, nil) },
		"factor":  func() { c.AddSumTo(dst, nil, .3, bad, nil) },
		"columns": func() { c.AddSumTo(dst, nil, .5, bad[:1], nil) },
		"pass":    func() { g.NewPass(0, Head{}) },
		"tutor":   func() { NewTutor(c, 2).Gradient(matrix.New(1, 5)) },
	} {
		stattest.Panics(t, f, "%s", name)
	}
}
