package access

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
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

// Bytes keeps each number in eight bytes: how long a record is does not depend on the noise.
func Bytes(xs ...int64) []byte {
	b := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// Ints are the numbers of an answer, if it is there.
func Ints(b []byte, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	xs := make([]int64, len(b)/8)
	for i := range xs {
		xs[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return xs, nil
}
