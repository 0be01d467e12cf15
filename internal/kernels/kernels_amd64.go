package kernels

import x86 "golang.org/x/sys/cpu"

// cpu is changed by tests only.
var cpu = detect()

func detect() level {
	switch {
	case x86.X86.HasAVX512F && x86.X86.HasAVX2 && x86.X86.HasFMA:
		return avx512
	case x86.X86.HasAVX2 && x86.X86.HasFMA:
		return avx2
	}
	return plain
}

// maxTile is the number of elements of the largest tile.
const maxTile = 12 * 32

// tileSize is the number of rows and columns of a tile.
func tileSize() (mr, nr int) {
	if cpu == avx512 {
		return 12, 32
	}
	return 6, 16
}

// tileTo sets or adds to the tile at c the product of mr rows of A and nr columns of packed B,
// times alpha. Strides count elements.
func tileTo(c *float32, ldc, k int, a *float32, rs, cs int, b *float32, alpha float32, add int) {
	if cpu == avx512 {
		tileAVX512(k, a, 4*rs, 4*cs, b, c, 4*ldc, alpha, add)
	} else {
		tileAVX2(k, a, 4*rs, 4*cs, b, c, 4*ldc, alpha, add)
	}
}

// The kernels of gemm_amd64.s; strides in bytes.

//go:noescape
func tileAVX2(k int, a *float32, rs, cs int, b, c *float32, ldc int, alpha float32, add int)

//go:noescape
func tileAVX512(k int, a *float32, rs, cs int, b, c *float32, ldc int, alpha float32, add int)

// The kernels of elementwise_amd64.s; n is a positive multiple of 8 (of 4 for int64).

//go:noescape
func leakyAVX2(n int, dst, src *float32, slope float32)

//go:noescape
func slopesAVX2(n int, dst, src *float32, slope float32)

//go:noescape
func expAVX2(n int, dst, src *float32)

//go:noescape
func negLogAVX2(n int, dst, src *float32)

//go:noescape
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep)

//go:noescape
func addScaledAVX2(n int, dst *int64, x int64, y *int64)

// n rows of 4 numbers of x and 8 (AVX-512: 32) of y; strides in bytes.

//go:noescape
func outerAVX2(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)

//go:noescape
func outerAVX512(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)

//go:noescape
func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)

//go:noescape
func addAVX2(n int, dst, src *float32)

//go:noescape
func descendAVX2(n int, dst, s *float32, slope float32)
