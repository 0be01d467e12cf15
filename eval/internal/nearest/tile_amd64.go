package nearest

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		tile = tileAVX2
	}
}

// tileAVX2 is tileGo in AVX2 and FMA instructions.
//
//go:noescape
func tileAVX2(depth int, a, b []float32, row *[rowsPerTile]float32, col *[colsPerTile]float32,
	hits *[rowsPerTile]uint32) uint32
