package gan

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/gan/critic/clipped"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// scaledEncoder scales columns 1 and 3 of testSizes.
func scaledEncoder(t testing.TB) *Encoder {
	t.Helper()
	e, err := testEncoder(t, 3, 2, 5, 4, 1).Scaled([]bool{false, true, false, true, false})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestScaledEncoder(t *testing.T) {
	e := scaledEncoder(t)
	if e.Inputs() != 11 || e.Cells() != 15 {
		t.Errorf("%d inputs, %d cells", e.Inputs(), e.Cells())
	}
	for code, want := range []float64{0, 1. / 3, 2. / 3, 1} {
		if got := float64(e.Value(3, code)); math.Abs(got-want) > 0x1p-16/2 ||
			math.Mod(got, 0x1p-16) != 0 {
			t.Errorf("code %d is %v", code, got)
		}
	}
	if _, err := testEncoder(t, 3, 1).Scaled([]bool{false, true}); err == nil {
		t.Error("a column of one code is scaled")
	}
	// FoldTo and unfoldTo are transposes: ⟨y, Fx⟩ = ⟨Fᵀy, x⟩.
	u := testRand(41)
	x, y := matrix.Dense(4, 15, normals(u, 60, 1)), matrix.Dense(4, 11, normals(u, 44, 1))
	fx, fy := matrix.New(4, 11), matrix.New(4, 15)
	FoldTo(e, fx, x)
	unfoldTo(e, fy, y)
	a, b := 0., 0.
	for i, v := range fx.Data {
		a += float64(v) * float64(y.Data[i])
	}
	for i, v := range fy.Data {
		b += float64(v) * float64(x.Data[i])
	}
	if math.Abs(a-b) > 1e-5 {
		t.Errorf("products %v and %v", a, b)
	}
}

// TestScaledSum compares the exact sum with the gradient at dense rows.
func TestScaledSum(t *testing.T) {
	e, u := scaledEncoder(t), testRand(42)
	c, err := NewCritic(e, CriticOptions{Hidden: []int{6, 4}, Slope: .2}, u)
	if err != nil {
		t.Fatal(err)
	}
	const n, factor = 300, 0x1p-16
	columns := randomColumns(u, e, n)
	in := matrix.New(n, e.Inputs())
	FoldTo(e, in, dense(e, columns))
	want, _ := NewTutor(c, n).Gradient(in)
	sum, inputs := make([]int64, len(c.Parameters())), make([]int64, e.Inputs())
	c.AddSumTo(sum, inputs, factor, columns, nil)
	for k, s := range sum {
		if got := float64(s) * factor * factor / n; math.Abs(got-float64(want[k])) > 1e-4 {
			t.Errorf("coordinate %d: %v, want %v", k, got, want[k])
		}
	}
	for i, s := range inputs {
		exact, step := 0., 1.
		if i == 3 || i == 9 {
			step = factor
		}
		for row := range n {
			exact += float64(in.Row(row)[i])
		}
		if got := float64(s) * step; got != exact {
			t.Errorf("input %d sums to %v, want %v", i, got, exact)
		}
	}
	for name, f := range map[string]func(){
		"coarse factor": func() { c.AddSumTo(sum, nil, 0x1p-8, columns, nil) },
		"clipping": func() {
			clipped.Critic{Critic: c}.AddClippedSumTo(sum, factor, nil, columns, nil)
		},
	} {
		panics(t, name, f)
	}
}

// TestFoldedHistoryGradient compares with the definition on folded rows, and its differences with
// respect to cells.
func TestFoldedHistoryGradient(t *testing.T) {
	e, u := scaledEncoder(t), testRand(44)
	const batch = 8
	r := NewHistory(someMeasurement(t, e, 1, false, 6).Critic)
	for k := range uint64(2) {
		if err := r.Add(someMeasurement(t, e, 2+k, k > 0, 6)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := NewGenerator(e, GeneratorOptions{Latent: 3, Hidden: 5}, u)
	if err != nil {
		t.Fatal(err)
	}
	x, dst, picks := g.NewPass(batch, Head{}).Forward(u), matrix.New(batch, e.Cells()), []int{1, 0}
	slow := func() float64 {
		in := matrix.New(batch, e.Inputs())
		FoldTo(e, in, x)
		return r.slow(in, picks)
	}
	if got, want := r.GradientTo(dst, x, picks), slow(); math.Abs(got-want) > 1e-5*math.Abs(want) {
		t.Errorf("loss %v, by the definition %v", got, want)
	}
	differences(t, "folded", x.Data, append([]float32(nil), dst.Data...), 1e-3, .01, slow)
}
