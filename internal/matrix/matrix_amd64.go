package matrix

// tileAVX2 sets or adds to the tile of mr × nr numbers at c the product of mr rows of A and nr
// columns of packed B, times alpha; strides in bytes.
//
//go:noescape
func tileAVX2(k int, a *float32, rs, cs int, b, c *float32, ldc int, alpha float32, add int)

// The kernels of elementwise_amd64.s; n is a positive multiple of 8.

//go:noescape
func expAVX2(n int, dst, src *float32)

//go:noescape
func negLogAVX2(n int, dst, src *float32)

//go:noescape
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep)
