//go:build !amd64

package matrix

func noVectors() { panic("matrix: no vector unit") }

func tileAVX2(k int, a *float32, rs, cs int, b, c *float32, ldc int, alpha float32, add int) {
	noVectors()
}

func expAVX2(n int, dst, src *float32)                           { noVectors() }
func negLogAVX2(n int, dst, src *float32)                        { noVectors() }
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep) { noVectors() }
