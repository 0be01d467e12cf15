package gan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func encoded(t testing.TB) (generator, critic []byte) {
	u := testRand(6)
	e := testEncoder(t, testSizes...)
	g, _ := NewGenerator(e, GeneratorOptions{Latent: 2, Hidden: 3}, u)
	c, _ := NewCritic(e, CriticOptions{Hidden: []int{4, 2}, Slope: .2}, u)
	generator, _ = g.MarshalBinary()
	critic, _ = c.MarshalBinary()
	return generator, critic
}

func TestBinary(t *testing.T) {
	generator, critic := encoded(t)
	g, err := DecodeGenerator(generator)
	if err != nil {
		t.Fatal(err)
	}
	c, err := DecodeCritic(critic)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := g.MarshalBinary()
	if !bytes.Equal(again, generator) {
		t.Error("a generator changes when it is decoded and encoded")
	}
	if again, _ = c.MarshalBinary(); !bytes.Equal(again, critic) {
		t.Error("a critic changes when it is decoded and encoded")
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
		"tag":           critic,
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
		if _, err := DecodeGenerator(data); !errors.Is(err, ErrFormat) {
			t.Errorf("generator, %s: error %v", name, err)
		}
	}
	for name, data := range map[string][]byte{
		"slope":  at(critic, 3+columns, math.Float32bits(2)),
		"layers": at(critic, 4+columns, 1<<30),
		"units":  at(critic, 5+columns, 1<<30),
		"short":  critic[:len(critic)-4],
	} {
		if _, err := DecodeCritic(data); !errors.Is(err, ErrFormat) {
			t.Errorf("critic, %s: error %v", name, err)
		}
	}
}

// FuzzDecode: no input panics, and what is accepted is written as it was.
func FuzzDecode(f *testing.F) {
	generator, critic := encoded(f)
	f.Add(generator)
	f.Add(critic)
	f.Add([]byte(generatorTag))
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := DecodeGenerator(data); err == nil {
			if again, _ := g.MarshalBinary(); !bytes.Equal(again, data) {
				t.Error("a generator changes when it is decoded and encoded")
			}
		}
		if c, err := DecodeCritic(data); err == nil {
			if again, _ := c.MarshalBinary(); !bytes.Equal(again, data) {
				t.Error("a critic changes when it is decoded and encoded")
			}
		}
	})
}
