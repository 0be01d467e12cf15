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

// Question collects what is public about a call. Two questions with the same sum may be given the
// same answer.
type Question struct{ hash hash.Hash }

// Ask begins the question of a mechanism.
func Ask(mechanism string) Question {
	q := Question{sha256.New()}
	return q.Text(mechanism)
}

// Text adds a text.
func (q Question) Text(t string) Question {
	q.Ints(int64(len(t)))
	q.hash.Write([]byte(t))
	return q
}

// Ints adds whole numbers.
func (q Question) Ints(xs ...int64) Question {
	for _, x := range xs {
		q.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(x)))
	}
	return q
}

// Floats adds the bits of numbers: a plan gives the same ones on the same machine.
func (q Question) Floats(xs ...float64) Question {
	binary.Write(q.hash, binary.LittleEndian, xs)
	return q
}

// Sum is a hash of the question.
func (q Question) Sum() string { return hex.EncodeToString(q.hash.Sum(nil)) }

// Bytes keeps each number in eight bytes: how long a record is does not depend on the noise.
func Bytes(xs ...int64) []byte {
	b := make([]byte, 0, 8*len(xs))
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// Ints are the n numbers of an answer.
func Ints(b []byte, n int) ([]int64, error) {
	if len(b) != 8*n {
		return nil, fmt.Errorf("privacy: an answer of %d bytes to a question of %d numbers: %w",
			len(b), n, ErrResume)
	}
	xs := make([]int64, n)
	for i := range xs {
		xs[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return xs, nil
}
