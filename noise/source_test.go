package noise

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var _ = stream{}.coins // which seam.go alone uses

// secrets returns every way in which a number of the state could be printed.
func secrets(key [32]byte) []string {
	s := newSource(key).state()
	state, _ := s.gen.MarshalBinary()
	var all []string
	add := func(b []byte) {
		all = append(all, hex.EncodeToString(b), strings.Trim(fmt.Sprint(b), "[]"))
		for ; len(b) >= 8; b = b[8:] {
			var v uint64
			for i := range 8 {
				v |= uint64(b[i]) << (8 * i)
			}
			all = append(all, strconv.FormatUint(v, 10), strconv.FormatUint(v, 16))
		}
	}
	add(key[:])
	add(state[len(state)-32:])
	for range 40 { // a block of outputs
		w := s.word()
		all = append(all, strconv.FormatUint(w, 10), strconv.FormatUint(w, 16))
	}
	return all
}

// printed returns v as shown by every verb, JSON and a structured log.
func printed(v any) string {
	var out bytes.Buffer
	for _, verb := range "vsqxXdbocUteEfFgGTp" {
		for _, flag := range []string{"", "+", "#", " ", "0", "-"} {
			fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
		}
	}
	j, err := json.Marshal(v)
	fmt.Fprintln(&out, string(j), err)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	return strings.ToLower(out.String())
}

func TestSourceShowsNothing(t *testing.T) {
	var key [32]byte
	for i := range key {
		key[i] = byte(37*i + 101)
	}
	src := newSource(key)
	type hidden struct{ src *Source }
	type value struct{ src Source }
	type open struct{ Src *Source }
	type nested struct {
		p *hidden
		m map[string]*Source
		l []Source
		i any
	}
	leaks := func(text string) string {
		for _, s := range secrets(key) {
			if strings.Contains(text, s) {
				return s
			}
		}
		return ""
	}
	for name, v := range map[string]any{
		"pointer": src, "value": *src, "hidden": hidden{src}, "hidden pointer": &hidden{src},
		"in a value": value{*src}, "pointer to value": &value{*src},
		"open": open{src}, "nested": nested{&hidden{src}, map[string]*Source{"a": src}, []Source{*src},
			src},
		"slice": []*Source{src}, "array": [1]any{*src}, "pointer to pointer": &src,
	} {
		if s := leaks(printed(v)); s != "" {
			t.Errorf("%s: printed %s", name, s)
		}
	}
	// The search finds a leak where there is one: a pointer to the state in another struct.
	if leaks(printed(struct{ s *rand.ChaCha8 }{src.state().gen})) == "" {
		t.Error("a bare pointer to the state was printed and not noticed")
	}
}

func TestSourceRedacts(t *testing.T) {
	for _, got := range []string{
		fmt.Sprint(NewSource()),
		fmt.Sprintf("%s", *NewSource()),
		fmt.Sprintf("%#v", NewSource()), fmt.Sprintf("%x", NewSource()),
	} {
		if got != "noise.Source(secret)" {
			t.Errorf("printed %q", got)
		}
	}
}

func TestSourcesDiffer(t *testing.T) {
	first := map[uint64]bool{}
	for range 1000 { // equal words among 1000 of 64 bits: probability 3e-14
		first[NewSource().Uint64()] = true
	}
	if len(first) != 1000 {
		t.Errorf("1000 sources began with %d different words", len(first))
	}
}

// TestWordIsTheGenerator: the published key stream, so that no bit is lost or used twice on the
// way.
func TestWordIsTheGenerator(t *testing.T) {
	a, b := newSource([32]byte{1}), newSource([32]byte{1})
	for i := range 1000 {
		if a.Uint64() != b.state().gen.Uint64() {
			t.Fatalf("word %d differs", i)
		}
	}
}

// TestUint64N: null, uniform on [0, n), 100,000 draws, by residues or top bits where n is large.
// 3·2^62 is a modulus at which a quarter of the words is rejected and an off-by-one in the
// rejection shows.
func TestUint64N(t *testing.T) {
	src := testSource(t)
	for _, c := range []struct {
		name  string
		n     uint64
		cells uint64
		cell  func(uint64) uint64
	}{
		{"1", 1, 1, func(x uint64) uint64 { return x }},
		{"2", 2, 2, func(x uint64) uint64 { return x }},
		{"7", 7, 7, func(x uint64) uint64 { return x }},
		{"64", 64, 64, func(x uint64) uint64 { return x }},
		{"3·2^62 mod 3", 3 << 62, 3, func(x uint64) uint64 { return x % 3 }},
		{"3·2^62 top", 3 << 62, 3, func(x uint64) uint64 { return x >> 62 }},
		{"5·2^61 mod 5", 5 << 61, 5, func(x uint64) uint64 { return x % 5 }},
		{"2^63+1", 1<<63 + 1, 2, func(x uint64) uint64 { return x % 2 }},
		{"2^64−1", math.MaxUint64, 16, func(x uint64) uint64 { return x >> 60 }},
	} {
		counts, p := make([]int64, c.cells+1), make([]float64, c.cells+1)
		for i := range c.cells {
			p[i] = 1 / float64(c.cells)
		}
		for range 100_000 {
			x := src.Uint64N(c.n)
			if x >= c.n {
				t.Fatalf("%s: %d is out of range", c.name, x)
			}
			counts[c.cell(x)]++
		}
		if c.n == 1 {
			continue
		}
		if s, th, ok := stattest.ChiSquare(counts, p); !ok {
			t.Errorf("%s: %v > %v", c.name, s, th)
		}
	}
}

// TestShuffle: null, each of the 24 orders has probability 1/24; 48,000 shuffles. A swap with one
// of all places (j < n instead of j ≤ i) is the classical mistake; its law is rejected.
func TestShuffle(t *testing.T) {
	src := testSource(t)
	number := func(p []int) int { return p[0]*64 + p[1]*16 + p[2]*4 + p[3] }
	law := func(shuffle func() []int) bool {
		counts, p := make([]int64, 256), make([]float64, 256)
		for range 48_000 {
			o := shuffle()
			counts[number(o)]++
			p[number(o)] = 1. / 24
		}
		_, _, ok := stattest.ChiSquare(counts, p)
		return ok
	}
	if !law(func() []int {
		p := []int{0, 1, 2, 3}
		src.Shuffle(4, func(i, j int) { p[i], p[j] = p[j], p[i] })
		return p
	}) {
		t.Error("a shuffle is not uniform")
	}
	if law(func() []int {
		p := []int{0, 1, 2, 3}
		for i := range p {
			j := src.Uint64N(4)
			p[i], p[j] = p[j], p[i]
		}
		return p
	}) {
		t.Error("a biased shuffle was not rejected")
	}
}

func TestSourcePanics(t *testing.T) {
	src := NewSource()
	for name, f := range map[string]func(){
		"zero source":  func() { new(Source).Uint64() },
		"nil source":   func() { (*Source)(nil).Uint64() },
		"Uint64N(0)":   func() { src.Uint64N(0) },
		"zero Laplace": func() { new(DiscreteLaplace).Sample(src) },
		"zero rounded": func() { new(RoundedGaussian).Sample(src) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "noise: ") {
					t.Errorf("no panic of this package: %q", s)
				}
			}()
			f()
		})
	}
}
