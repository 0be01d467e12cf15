package noise

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
)

// Source is secret randomness: the ChaCha8 generator under a 256-bit key from crypto/rand. It
// cannot be seeded, copied into an independent stream, saved or replaced; the zero Source panics.
// The generator of math/rand/v2 replaces its own key as it goes, so memory read later does not
// reveal earlier noise. Give each goroutine its own: it is not safe for concurrent use. Copies are
// one stream. Printed by any verb, alone or inside another value, it shows nothing of its state.
type Source struct {
	// A func, not a pointer: fmt follows pointers under %s and %q, but prints a func as an address.
	state func() *stream
}

func newSource(key [32]byte) *Source {
	s := &stream{gen: rand.NewChaCha8(key), cells: theCells()}
	return &Source{state: func() *stream { return s }}
}

func (s *Source) stream() *stream {
	if s == nil || s.state == nil {
		panic("noise: a Source is made by NewSource")
	}
	return s.state()
}

func (Source) Format(f fmt.State, verb rune) { io.WriteString(f, "noise.Source(secret)") }

// Uint64 returns 64 uniform bits.
func (s *Source) Uint64() uint64 { return s.stream().word() }

// Uint64N returns a uniform number in [0, n). It panics if n is 0.
func (s *Source) Uint64N(n uint64) uint64 {
	if n == 0 {
		panic("noise: Uint64N of 0")
	}
	return s.stream().uniform(n)
}

// stream is the state of a Source.
type stream struct {
	coins
	gen   *rand.ChaCha8
	cells *cells // a table, the same for all
}

// uniform returns a uniform number in [0, n), n > 0.
//
// With w uniform in [0, 2^64), w·n = hi·2^64 + lo. Each value of hi is hit by ⌊2^64/n⌋ or one more
// values of w; exactly ⌊2^64/n⌋ of them have lo ≥ 2^64 mod n, so keeping only those makes hi
// uniform (Lemire 2019, arXiv 1805.10941).
func (b *stream) uniform(n uint64) uint64 {
	hi, lo := bits.Mul64(b.word(), n)
	if lo < n { // 2^64 mod n < n: the division is needed rarely
		for t := -n % n; lo < t; {
			hi, lo = bits.Mul64(b.word(), n)
		}
	}
	return hi
}
