package matrix

import "github.com/decoy-dp/decoy/internal/kernels"

// cpu is changed by tests only.
var cpu = kernels.Best()

// maxTile is the number of elements of the largest tile.
const maxTile = 12 * 32

// tileSize is the number of rows and columns of a tile.
func tileSize() (mr, nr int) {
	if cpu == kernels.AVX512 {
		return 12, 32
	}
	return 6, 16
}

// tileTo sets or adds to the tile at c the product of mr rows of A and nr columns of packed B,
// times alpha. Strides count elements.
func tileTo(c *float32, ldc, k int, a *float32, rs, cs int, b *float32, alpha float32, add int) {
	if cpu == kernels.AVX512 {
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

// The kernels of elementwise_amd64.s; n is a positive multiple of 8.

//go:noescape
func expAVX2(n int, dst, src *float32)

//go:noescape
func negLogAVX2(n int, dst, src *float32)

//go:noescape
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep)
