package matrix

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// eachUnit runs f once with plain Go, and once with the vector unit if this machine has it.
func eachUnit(f func(unit string)) {
	defer func() { vectors = kernels.Vectors() }()
	vectors = false
	f("go")
	if vectors = kernels.Vectors(); vectors {
		f("avx2")
	}
}

func random(u *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(u.NormFloat64())
	}
	return x
}

// matrix is a random matrix, or the transpose of one.
func matrix(u *rand.Rand, rows, cols int, transposed bool) Matrix {
	if transposed {
		return Dense(cols, rows, random(u, rows*cols)).T()
	}
	return Dense(rows, cols, random(u, rows*cols))
}

func TestMulTo(t *testing.T) {
	sizes := []int{1, 2, 5, 6, 7, 12, 13, 16, 17, 31, 32, 33, 64}
	depths := []int{1, 3, 64, depth - 1, depth, depth + 1, 2*depth + 3}
	u := rand.New(rand.NewPCG(1, 2))
	for _, m := range sizes {
		for _, n := range sizes {
			k := depths[u.IntN(len(depths))]
			ta, tb := u.IntN(2) == 0, u.IntN(2) == 0
			a, b := matrix(u, m, k, ta), matrix(u, k, n, tb)
			before := random(u, m*n)
			for _, alpha := range []float32{1, -.75} {
				for _, beta := range []float32{0, 1, .5} {
					checkProduct(t, a, b, before, alpha, beta)
				}
			}
		}
	}
}

func checkProduct(t *testing.T, a, b Matrix, before []float32, alpha, beta float32) {
	t.Helper()
	m, k, n := a.Rows, a.Cols, b.Cols
	eachUnit(func(l string) {
		c := New(m, n)
		copy(c.Data, before)
		if beta == 0 {
			c.Data[0] = float32(math.NaN()) // must not be read
		}
		MulTo(c, alpha, a, b, beta)
		for i := range m {
			for j := range n {
				want, size := 0., 1e-30
				if beta != 0 {
					want = float64(beta) * float64(before[i*n+j])
					size = math.Abs(want)
				}
				for kk := range k {
					x := float64(alpha) * float64(a.Data[i*a.rs+kk*a.cs]) * float64(b.Data[kk*b.rs+j*b.cs])
					want += x
					size += math.Abs(x)
				}
				// n roundings of a sum: Higham 2002, section 3.1.
				if got := float64(c.Data[i*n+j]); !(math.Abs(got-want) <= float64(k+4)*0x1p-24*size) {
					t.Fatalf("%v: (%d × %d)(%d × %d) α %v β %v at %d, %d: got %v, want %v", l,
						m, k, k, n, alpha, beta, i, j, got, want)
				}
			}
		}
	})
}

// TestRowsAlone: the image of a row does not depend on where in the batch it stands, nor on the
// batch.
func TestRowsAlone(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	eachUnit(func(l string) {
		a, b := matrix(u, 29, 300, false), matrix(u, 300, 45, false)
		all := New(29, 45)
		MulTo(all, 1, a, b, 0)
		for i := range a.Rows {
			one := New(1, 45)
			MulTo(one, 1, Dense(1, 300, a.Row(i)), b, 0)
			for j, x := range one.Data {
				if x != all.Row(i)[j] {
					t.Fatalf("%s, row %d: %v alone, %v in the batch", l, i, x,
						all.Row(i)[j])
				}
			}
		}
	})
}

func TestExpLog(t *testing.T) {
	const n = 1 << 16
	u := rand.New(rand.NewPCG(7, 8))
	args, pos, dst := make([]float32, n+3), make([]float32, n+3), make([]float32, n+3)
	for i := range args {
		args[i] = float32(u.Float64()*175.2 - 87.25)
		pos[i] = float32(math.Exp(u.Float64()*170 - 85))
		if i%2 == 0 {
			pos[i] = float32(1 - math.Exp(-u.Float64()*16.6))
		}
		if i%4 == 1 {
			args[i] = float32(u.NormFloat64())
		}
	}
	pos[0], pos[1], pos[2], pos[3] = 1, math.SmallestNonzeroFloat32*(1<<23), math.MaxFloat32,
		1-0x1p-24
	eachUnit(func(l string) {
		worst := 0.
		expTo(dst, args)
		for i, x := range args {
			want := math.Exp(float64(x))
			worst = max(worst, math.Abs(float64(dst[i])-want)/want)
		}
		if worst > 2e-7 {
			t.Errorf("%s: exp is off by %.3g", l, worst)
		}
		worst = 0
		negLogTo(dst, pos)
		for i, x := range pos {
			want := -math.Log(float64(x))
			if want == 0 {
				if dst[i] != 0 {
					t.Errorf("%s: ln 1 = %v", l, dst[i])
				}
				continue
			}
			worst = max(worst, math.Abs(float64(dst[i])-want)/math.Abs(want))
		}
		if worst > 3e-7 {
			t.Errorf("%s: log is off by %.3g", l, worst)
		}
		edge := []float32{float32(math.Inf(-1)), -1000, 1000, float32(math.Inf(1)),
			float32(math.NaN())}
		expTo(edge, edge)
		if !(edge[0] > 0 && edge[0] == edge[1] && edge[2] == edge[3] &&
			edge[3] < math.MaxFloat32 && edge[4] != edge[4]) {
			t.Errorf("%s: exp at the edges: %v", l, edge)
		}
	})
}

func TestAdam(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	const n = 19
	start, gradients := random(u, n), [][]float32{random(u, n), random(u, n), make([]float32, n)}
	eachUnit(func(l string) {
		w := append([]float32(nil), start...)
		a := NewAdam(n, .5, .9)
		want, m, v := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = float64(start[i])
		}
		for s, g := range gradients {
			a.Update(w, g, .01)
			for i, g := range g {
				g := float64(g)
				m[i], v[i] = .5*m[i]+.5*g, .9*v[i]+.1*g*g
				want[i] -= .01 * m[i] / (1 - math.Pow(.5,
					float64(s+1))) / (math.Sqrt(v[i]/(1-math.Pow(.9, float64(s+1)))) + 1e-8)
				if math.Abs(float64(w[i])-want[i]) > 1e-6 {
					t.Fatalf("%s, step %d, %d: got %v, want %v", l, s, i, w[i], want[i])
				}
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	offsets := []int{0, 1, 3, 12, 30}
	const rows, cols, temperature = 5, 30, .5
	x, noise, down := random(u, rows*cols), random(u, rows*cols), random(u, rows*cols)
	soft := func(x []float32) Matrix {
		y := Dense(rows, cols, append([]float32(nil), x...))
		SoftmaxTo(y, noise, offsets, temperature)
		return y
	}
	eachUnit(func(l string) {
		y := soft(x)
		for r := range rows {
			for b := 1; b < len(offsets); b++ {
				sum := 0.
				for i := offsets[b-1]; i < offsets[b]; i++ {
					sum += math.Exp(float64(x[r*cols+i]+noise[r*cols+i]) / temperature)
				}
				for i := offsets[b-1]; i < offsets[b]; i++ {
					want := math.Exp(float64(x[r*cols+i]+noise[r*cols+i])/temperature) / sum
					if math.Abs(float64(y.Row(r)[i])-want) > 1e-6 {
						t.Fatalf("%s: row %d, cell %d: got %v, want %v", l, r, i,
							y.Row(r)[i], want)
					}
				}
			}
		}
		back := Dense(rows, cols, append([]float32(nil), down...))
		SoftmaxBackTo(back, y, offsets, temperature)
		for i := range x {
			loss := func(step float32) float64 {
				moved := append([]float32(nil), x...)
				moved[i] += step
				sum := 0.
				for k, y := range soft(moved).Data {
					sum += float64(y) * float64(down[k])
				}
				return sum
			}
			want := (loss(.01) - loss(-.01)) / .02
			if math.Abs(float64(back.Data[i])-want) > 2e-3 {
				t.Fatalf("%s, %d: gradient %v, differences %v", l, i, back.Data[i], want)
			}
		}
	})
}

// TestGumbel: null: the numbers have distribution function e^(−e^(−x)), n = 20 000. By Dvoretzky,
// Kiefer and Wolfowitz the distance exceeds √(ln(2·10⁶)/2n) = .019 with probability 10⁻⁶; that of
// numbers 30 % too wide is about .1.
func TestGumbel(t *testing.T) {
	const n = 20000
	x := make([]float32, n)
	GumbelTo(x, rand.New(rand.NewPCG(13, 14)))
	distance := func(scale float64) float64 {
		var below [2001]int
		for _, x := range x {
			below[int(min(max((float64(x)*scale+5)*100, 0), 2000))]++
		}
		worst, sum := 0., 0
		for i, c := range below[:2000] {
			sum += c
			worst = max(worst, math.Abs(float64(sum)/n-math.Exp(-math.Exp(5-float64(i+1)/100))))
		}
		return worst
	}
	if d := distance(1); d > .0191 {
		t.Errorf("distance %v", d)
	}
	if d := distance(1.3); d < .0191 {
		t.Errorf("a scale 30 %% too large passes: %v", d)
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"data":     func() { Dense(2, 2, make([]float32, 3)) },
		"shape":    func() { MulTo(New(2, 2), 1, New(2, 3), New(2, 2), 0) },
		"into T":   func() { MulTo(New(2, 3).T(), 1, New(3, 2), New(2, 2), 0) },
		"row of T": func() { New(2, 3).T().Row(0) },
		"lengths":  func() { expTo(make([]float32, 1), make([]float32, 2)) },
		"blocks":   func() { SoftmaxTo(New(1, 3), nil, []int{0, 2}, 1) },
	} {
		stattest.Panics(t, f, "%s", name)
	}
}

// TestSplit: a large product has the same bits on any number of processors.
func TestSplit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	u := rand.New(rand.NewPCG(7, 8))
	for _, transposed := range []bool{false, true} {
		a, b := matrix(u, 403, 151, transposed), matrix(u, 151, 257, transposed)
		eachUnit(func(l string) {
			var want []float32
			for _, n := range []int{1, 2, 3, 8} {
				runtime.GOMAXPROCS(n)
				c := New(403, 257)
				MulTo(c, .5, a, b, 0)
				if want == nil {
					want = c.Data
				} else if !slices.Equal(c.Data, want) {
					t.Errorf("%v, transposed %v: %d processors give another product", l,
						transposed, n)
				}
			}
		})
	}
}
