package gan

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func encoded(t testing.TB) (generator []byte) {
	u := testRand(6)
	e := testEncoder(t, testSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{Latent: 2, Hidden: 3}, u)
	generator, _ = g.MarshalBinary()
	return generator
}

func TestBinary(t *testing.T) {
	generator := encoded(t)
	g := stattest.Must(DecodeGenerator(generator))
	again, _ := g.MarshalBinary()
	if !bytes.Equal(again, generator) {
		t.Error("a generator changes when it is decoded and encoded")
	}
	at := func(data []byte, word int, x uint32) []byte {
		out := bytes.Clone(data)
		binary.LittleEndian.PutUint32(out[4*word:], x)
		return out
	}
	last := len(generator)/4 - 1
	columns := len(testSizes)
	for name, data := range map[string][]byte{
		"empty":         nil,
		"tag":           append([]byte("dcri"), generator[4:]...),
		"version":       at(generator, 1, 2),
		"columns":       at(generator, 2, 1<<31),
		"no columns":    at(generator, 2, 0),
		"a size of 0":   at(generator, 3, 0),
		"a large size":  at(generator, 3, 1<<16+1),
		"other size":    at(generator, 3, 4),
		"latent":        at(generator, 3+columns, 1<<30),
		"no latent":     at(generator, 3+columns, 0),
		"hidden":        at(generator, 4+columns, 1<<30),
		"short":         generator[:len(generator)-1],
		"long":          append(bytes.Clone(generator), 0, 0, 0, 0),
		"not a number":  at(generator, last, math.Float32bits(float32(math.NaN()))),
		"infinite":      at(generator, last, math.Float32bits(float32(math.Inf(1)))),
		"ends too soon": generator[:4*(4+columns)],
	} {
		stattest.Wraps(t, stattest.Err(DecodeGenerator(data)), errFormat, "generator, %s", name)
	}
}

// FuzzDecode: no input panics, and what is accepted is written as it was.
func FuzzDecode(f *testing.F) {
	generator := encoded(f)
	f.Add(generator)
	f.Add([]byte(generatorTag))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := DecodeGenerator(data); err == nil {
			if again, _ := g.MarshalBinary(); !bytes.Equal(again, data) {
				t.Error("a generator changes when it is decoded and encoded")
			}
		}
	})
}
