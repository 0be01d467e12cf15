//go:build !seam

package noise

import crand "crypto/rand"

// NewSource returns a Source under a fresh key. crypto/rand cannot fail: without it the program
// stops. Tests that draw the same twice have seam.go in place of this file.
func NewSource() *Source {
	var key [32]byte
	crand.Read(key[:])
	return newSource(key)
}

// Shuffle puts n elements into uniform order by calling swap (Fisher–Yates).
func (s *Source) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(s.Uint64N(uint64(i)+1)))
	}
}

type coins struct{}

func (b *stream) word() uint64                                   { return b.gen.Uint64() }
func draw(b *stream, d interface{ sample(*stream) int64 }) int64 { return d.sample(b) }
func choosing(b *stream, _ []int64, _ float64) *stream           { return b }
