package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func random(u *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(u.NormFloat64())
	}
	return x
}

// TestElementsAlone: what an element becomes does not depend on whether a vector or the rest of a
// slice holds it, infinities, NaN and signed zeros included.
func TestElementsAlone(t *testing.T) {
	inf, zero := float32(math.Inf(1)), float32(0)
	edges := []float32{inf, -inf, inf - inf, zero, -zero, -1e-45, 3e38, -3e38}
	EachUnit(func(l string) {
		for _, slope := range []float32{0, .2, 1} {
			for name, f := range map[string]func(dst, src []float32){
				"leaky": func(dst, src []float32) { LeakyReLUTo(dst, src, slope) },
				"descend": func(dst, src []float32) {
					copy(dst, edges[3:])
					DescendTo(dst, src,
						slope)
				},
				"add": func(dst, src []float32) { AddTo(dst, src) },
			} {
				for _, x := range edges {
					src, all, one := make([]float32, 17), make([]float32, 17),
						make([]float32, 1)
					src[0] = x
					f(all, src)
					f(one, []float32{x})
					got, want := all[0], one[0]
					differ := math.Float32bits(got) != math.Float32bits(want)
					if differ && (got == got || want == want) { // or both are NaN
						t.Errorf("%s: %s of %v with slope %v is %v in a vector, %v alone",
							l, name, x, slope, got, want)
					}
				}
			}
		}
	})
}

func TestSums(t *testing.T) {
	u := rand.New(rand.NewPCG(15, 16))
	EachUnit(func(l string) {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 64, 67} {
			y, dst := make([]int64, n), make([]int64, n)
			for i := range y {
				y[i], dst[i] = int64(int32(u.Uint64())), int64(u.Uint64())
			}
			for _, x := range []int32{0, 1, -3, math.MinInt32, math.MaxInt32} {
				got := append([]int64(nil), dst...)
				AddScaledTo(got, x, y)
				for i := range y {
					if want := dst[i] + int64(x)*y[i]; got[i] != want {
						t.Fatalf("%s: %d + %d·%d = %d", l, dst[i], x, y[i], got[i])
					}
				}
			}
			a, b := random(u, n), random(u, n)
			sum, down := append([]float32(nil), a...), append([]float32(nil), a...)
			leaky := make([]float32, n)
			LeakyReLUTo(leaky, b, .2)
			AddTo(sum, b)
			DescendTo(down, b, .2)
			for i := range a {
				want := a[i]
				if !(b[i] > 0) {
					want *= .2
				}
				if sum[i] != a[i]+b[i] || down[i] != want || leaky[i] != max(b[i], .2*b[i]) {
					t.Fatalf("%s: %v and %v give %v, %v and %v", l, a[i], b[i], sum[i],
						down[i], leaky[i])
				}
			}
		}
	})
}

// TestOuter compares with the definition, for shapes around those of the tiles and of their blocks
// of rows, and numbers at the ends of int32.
func TestOuter(t *testing.T) {
	u := rand.New(rand.NewPCG(17, 18))
	ends := []int64{math.MinInt32, math.MaxInt32, -1, 0, 1}
	numbers := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			if out[i] = int64(int32(u.Uint64())); u.IntN(4) == 0 {
				out[i] = ends[u.IntN(len(ends))]
			}
		}
		return out
	}
	shapes := [][3]int{{0, 3, 5}, {1, 1, 1}, {300, 5, 1}, {2, 0, 3}, {2, 3, 0}, {1, 4, 8},
		{5, 4, 7}, {3, 3, 32}, {2, 4, 31}, {7, 8, 33}, {6, 5, 72}, {129, 9, 47}, {260, 12, 40},
		{128, 128, 128}}
	EachUnit(func(l string) {
		for _, shape := range shapes {
			n, in, units := shape[0], shape[1], shape[2]
			x, y, got := numbers(n*in), numbers(n*units), make([]int64, in*units)
			for i := range got {
				got[i] = int64(u.Uint64())
			}
			want := append([]int64(nil), got...)
			for i := range n {
				for k := range in {
					for j := range units {
						want[k*units+j] += x[i*in+k] * y[i*units+j]
					}
				}
			}
			AddOuterTo(got, n, x, y)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s, %d rows of %d × %d: number %d is %d, want %d", l, n, in,
						units, i, got[i], want[i])
				}
			}
		}
	})
	for name, f := range map[string]func(){
		"no rows of some": func() { AddOuterTo(nil, 0, []int64{1}, nil) },
		"negative":        func() { AddOuterTo(nil, -1, nil, nil) },
		"x": func() {
			AddOuterTo(make([]int64, 6), 2, make([]int64, 5),
				make([]int64, 6))
		},
		"y": func() {
			AddOuterTo(make([]int64, 6), 2, make([]int64, 4),
				make([]int64, 7))
		},
		"dst": func() {
			AddOuterTo(make([]int64, 7), 2, make([]int64, 4),
				make([]int64, 6))
		},
		"rounded in fewer": func() { RoundTo(make([]int64, 2), make([]float32, 3), 1) },
	} {
		stattest.Panics(t, f, "%s", name)
	}
}

func TestRound(t *testing.T) {
	u := rand.New(rand.NewPCG(19, 20))
	EachUnit(func(l string) {
		for _, factor := range []float64{1, 2, 0x1p16, 0x1p26} {
			x := []float32{0, -0., .5, 1.5, 2.5, -.5, -1.5, 1e-40, -1e-40,
				math.SmallestNonzeroFloat32, 0x1p24, -0x1p24, 0x1.fffffep23}
			for range 100 {
				x = append(x, float32(u.NormFloat64()*math.Exp(10*u.NormFloat64()/3)))
			}
			for _, n := range []int{0, 1, 3, 4, 5, len(x)} {
				got := make([]int64, n)
				RoundTo(got, x[:n], factor)
				for i, v := range got {
					if want := int64(math.RoundToEven(float64(x[i]) * factor)); v != want {
						t.Fatalf("%s: %v·%v rounded to %d, want %d", l, x[i], factor, v,
							want)
					}
				}
			}
		}
	})
}

// TestProduct compares with the definition, within the rounding of a sum (Higham 2002, section
// 3.1), for widths around those of the kernels, and adds to what is there.
func TestProduct(t *testing.T) {
	u := rand.New(rand.NewPCG(21, 22))
	EachUnit(func(l string) {
		for _, k := range []int{0, 1, 2, 33, 300} {
			for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 136, 200} {
				x, w, dst := random(u, k), random(u, k*n), random(u, n)
				got := append([]float32(nil), dst...)
				AddProductTo(got, x, w)
				for j := range n {
					want := float64(dst[j])
					size := math.Abs(want)
					for i := range k {
						want += float64(x[i]) * float64(w[i*n+j])
						size += math.Abs(float64(x[i]) * float64(w[i*n+j]))
					}
					if !(math.Abs(float64(got[j])-want) <= float64(k+2)*0x1p-24*size) {
						t.Fatalf("%s: %d × %d at %d: got %v, want %v", l, k, n, j,
							got[j], want)
					}
				}
			}
		}
	})
}

// TestPlainIsIEEE: plain Go rounds each product before it adds it, whatever the compiler could fuse
// on the processor that the test runs on, so that it is the same everywhere.
func TestPlainIsIEEE(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 9))
	defer func() { plain = false }()
	EachUnit(func(string) {
		if l := UsePlain(); l != "go" {
			t.Errorf("%v is in use", l)
		}
		for _, n := range []int{1, 7, 64, 83} {
			x, w, dst := make([]float32, 50), make([]float32, 50*n), make([]float32, n)
			for _, v := range [][]float32{x, w, dst} {
				for i := range v {
					v[i] = float32(u.NormFloat64() * math.Exp(6*u.NormFloat64()))
				}
			}
			want := slices.Clone(dst)
			for i := range x {
				for j := range want {
					// Both are exact in float64 but for one rounding that float32 does not see.
					product := float32(float64(x[i]) * float64(w[i*n+j]))
					want[j] = float32(float64(want[j]) + float64(product))
				}
			}
			AddProductTo(dst, x, w)
			if !slices.Equal(dst, want) {
				t.Errorf("%d columns: %v, want %v", n, dst, want)
			}
		}
	})
}
