//go:build !amd64

package matrix

import "github.com/decoy-dp/decoy/internal/kernels"

const (
	cpu     = kernels.Plain
	maxTile = 1
)

func tileSize() (mr, nr int) { panic("matrix: no vector unit") }

func tileTo(c *float32, ldc, k int, a *float32, rs, cs int, b *float32, alpha float32, add int) {
	tileSize()
}

func expAVX2(n int, dst, src *float32)                           { tileSize() }
func negLogAVX2(n int, dst, src *float32)                        { tileSize() }
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep) { tileSize() }
