package access

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// ErrResume is wrapped by every refusal to continue a run.
var ErrResume = errors.New("the run cannot be continued")

// Key collects what is public about a call. Keys with the same sum may be given the same answer.
type Key struct{ hash hash.Hash }

// Ask begins the key of a mechanism.
func Ask(mechanism string) Key { return Key{sha256.New()}.Text(mechanism) }

// Text adds a text.
func (k Key) Text(t string) Key {
	k.Ints(int64(len(t)))
	k.hash.Write([]byte(t))
	return k
}

// Ints adds whole numbers.
func (k Key) Ints(xs ...int64) Key {
	for _, x := range xs {
		k.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(x)))
	}
	return k
}

// Floats adds the bits of numbers: a plan gives the same ones on the same machine.
func (k Key) Floats(xs ...float64) Key {
	binary.Write(k.hash, binary.LittleEndian, xs)
	return k
}

// Sum is a hash of all of it.
func (k Key) Sum() string { return hex.EncodeToString(k.hash.Sum(nil)) }

// Released is what a call gives.
type Released struct {
	Ints []int64
	Text []byte
}

// Bytes is an answer as it is hashed and kept. Each number has eight bytes: how long a record is
// does not depend on the noise.
func (a Released) Bytes() []byte {
	b := make([]byte, 0, 8*len(a.Ints)+len(a.Text))
	for _, x := range a.Ints {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return append(b, a.Text...)
}

// Kept is an answer to the call, as Bytes gave it. An error wraps ErrResume.
func (c Call) Kept(b []byte) (a Released, err error) {
	if n := 8 * c.Length; len(b) < n || len(b) > n && !c.Text {
		return a, fmt.Errorf("an answer of %d bytes to a question of %d numbers: %w", len(b), c.Length,
			ErrResume)
	}
	for range c.Length {
		a.Ints, b = append(a.Ints, int64(binary.LittleEndian.Uint64(b))), b[8:]
	}
	return Released{a.Ints, b}, nil
}
