package shares

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
)

// pairSecret is what two parties share in a run: the X25519 secret of their keys, extracted with
// the run's history as the salt.
func pairSecret(mine *ecdh.PrivateKey, theirs, history []byte) ([]byte, error) {
	key, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := mine.ECDH(key)
	if err != nil { // a key of low order
		return nil, err
	}
	return hkdf.Extract(sha256.New, shared, history)
}

// maskTo adds to xs, modulo 2⁶⁴, a stream of ChaCha8 for every party after me, and subtracts one
// for every party before: of i and j, with i < j, i adds what j subtracts. The key of a stream is
// expanded from the pair's secret, for this sum and this pair alone: a party that shows another's
// key as its own has streams that nobody else has, and cancels none.
func maskTo(xs []int64, secrets [][]byte, me int, of string) {
	for i, secret := range secrets {
		if i == me {
			continue
		}
		info := fmt.Sprintf("decoy mask %d %d %s", min(i, me), max(i, me), of)
		key, err := hkdf.Expand(sha256.New, secret, info, 32)
		if err != nil {
			panic("privacy: shares: " + err.Error()) // 32 bytes can always be had
		}
		stream := rand.NewChaCha8([32]byte(key))
		for k := range xs {
			if m := int64(stream.Uint64()); i > me {
				xs[k] += m
			} else {
				xs[k] -= m
			}
		}
	}
}

func unsigned(xs []int64) []uint64 {
	out := make([]uint64, len(xs))
	for i, x := range xs {
		out[i] = uint64(x)
	}
	return out
}

func signed(xs []uint64) []int64 {
	out := make([]int64, len(xs))
	for i, x := range xs {
		out[i] = int64(x)
	}
	return out
}
