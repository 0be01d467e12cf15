//go:build !amd64

package kernels

const (
	cpu     = plain
	maxTile = 1
)

func tileSize() (mr, nr int) { panic("kernels: no vector unit") }

func tileTo(c *float32, ldc, k int, a *float32, rs, cs int, b *float32, alpha float32, add int) {
	tileSize()
}

func leakyAVX2(n int, dst, src *float32, slope float32)                            { tileSize() }
func slopesAVX2(n int, dst, src *float32, slope float32)                           { tileSize() }
func expAVX2(n int, dst, src *float32)                                             { tileSize() }
func negLogAVX2(n int, dst, src *float32)                                          { tileSize() }
func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep)                   { tileSize() }
func addScaledAVX2(n int, dst *int64, x int64, y *int64)                           { tileSize() }
func outerAVX2(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)   { tileSize() }
func outerAVX512(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int) { tileSize() }
func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)             { tileSize() }
func addAVX2(n int, dst, src *float32)                                             { tileSize() }
func descendAVX2(n int, dst, s *float32, slope float32)                            { tileSize() }
