//go:build !amd64

package kernels

func noVectors() { panic("kernels: no vector unit") }

func leakyAVX2(n int, dst, src *float32, slope float32)                          { noVectors() }
func descendAVX2(n int, dst, s *float32, slope float32)                          { noVectors() }
func addAVX2(n int, dst, src *float32)                                           { noVectors() }
func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)           { noVectors() }
func addScaledAVX2(n int, dst *int64, x int64, y *int64)                         { noVectors() }
func productAVX2x64(k int, dst, x, w *float32, ldw int)                          { noVectors() }
func productAVX2x8(k int, dst, x, w *float32, ldw int)                           { noVectors() }
func outerAVX2(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int) { noVectors() }
