//go:build seam

package noise

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math"
	"sort"
)

// This file is in no ordinary build. With it, what a Source draws can be the same in two processes
// whose tables differ in one unit, though one draws more than the other (privacy/seam.go).

// Coins say what a Source draws. The unit in which the tables differ comes first in both. What a
// Source draws for it is fixed, so that what it draws for all others is the same. Noise has a
// generator of its own.
type Coins struct {
	Key   string
	First int // words that a Source draws for that unit
	Rows  int // the unit's rows, in a Shuffle
	// what is added in place of noise of a scale; nil: noise
	Noise func(scale float64, laplace bool) int64
	// is shown what Select chooses by
	Chosen func(scores []int64, lambda float64)
}

// Fresh makes the sources of NewSource, if it is set and returns one.
var Fresh func() *Source

// firstWord puts a unit into every batch, and into the first shard.
const firstWord = 1 << 32

// coins are those of a stream.
type coins struct {
	of    *Coins
	left  int // of Coins.First
	noise *stream
	turns int // of Shuffle
}

// Source returns a source that draws by these coins.
func (c Coins) Source() *Source {
	s := newSource(sha256.Sum256([]byte(c.Key)))
	noise := newSource(sha256.Sum256([]byte(c.Key + " noise"))).stream()
	s.stream().coins = coins{of: &c, left: c.First, noise: noise}
	return s
}

// NewSource returns a Source under a fresh key, or what Fresh does.
func NewSource() *Source {
	if Fresh != nil {
		if s := Fresh(); s != nil {
			return s
		}
	}
	var key [32]byte
	rand.Read(key[:])
	return newSource(key)
}

// word returns 64 uniform bits, or that of the first unit.
func (b *stream) word() uint64 {
	if b.left > 0 {
		b.left--
		return firstWord
	}
	return b.gen.Uint64()
}

// Shuffle puts n elements into the order of numbers that are drawn for them, so that one element
// more changes no other's place among the rest.
func (s *Source) Shuffle(n int, swap func(i, j int)) {
	b := s.stream()
	own := b
	if b.of != nil {
		b.turns++
		own = Coins{Key: fmt.Sprint(b.of.Key, " shuffle ", b.turns), First: b.of.Rows}.Source().stream()
	}
	k := keyed{make([]uint64, n), swap}
	for i := range k.keys {
		k.keys[i] = own.word()
	}
	sort.Sort(k)
}

// keyed sorts elements by their keys.
type keyed struct {
	keys []uint64
	swap func(i, j int)
}

func (k keyed) Len() int           { return len(k.keys) }
func (k keyed) Less(i, j int) bool { return k.keys[i] < k.keys[j] }
func (k keyed) Swap(i, j int) {
	k.keys[i], k.keys[j] = k.keys[j], k.keys[i]
	k.swap(i, j)
}

func draw(b *stream, d interface {
	sample(*stream) int64
	scale() (float64, bool)
}) int64 {
	switch {
	case b.of == nil:
		return d.sample(b)
	case b.of.Noise != nil:
		return b.of.Noise(d.scale())
	}
	return d.sample(b.noise)
}

func choosing(b *stream, scores []int64, lambda float64) *stream {
	if b.of == nil {
		return b
	}
	if b.of.Chosen != nil {
		b.of.Chosen(scores, lambda)
	}
	return b.noise
}

func (d *RoundedGaussian) scale() (float64, bool) {
	return math.Ldexp(float64(d.m), -int(d.shift)), false
}

func (d *DiscreteLaplace) scale() (float64, bool) {
	return math.Ldexp(float64(d.t), -int(d.shift)), true
}

// scale is σ = √(s/d): td is d times the scale of the proposals.
func (g *DiscreteGaussian) scale() (float64, bool) {
	s, _ := g.s.Float64()
	td, _ := g.td.Float64()
	return math.Sqrt(s / td * float64(g.laplace.t)), false
}
