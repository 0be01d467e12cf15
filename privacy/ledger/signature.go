package ledger

import (
	"encoding/json"
	"fmt"

	"aead.dev/minisign"
)

// signedBytes is what is signed of a limit: all fields of the line but these two. They hold its
// place and, by the hash of the entry before it, all of the ledger up to there.
func signedBytes(e Entry) []byte {
	e.Hash, e.Signature = "", ""
	b, err := json.Marshal(e)
	if err != nil {
		return nil // an entry that cannot be written is in no ledger
	}
	return b
}

// CheckKey reports whether key, the line of a public key, has signed a limit, which must be
// sealed. Keys and signatures are those of minisign. Errors wrap ErrUnsigned.
func CheckKey(e Entry, key string) error {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil {
		return fmt.Errorf("%q is no key of minisign: %w", key, ErrUnsigned)
	}
	m := signedBytes(e)
	if m == nil || !minisign.Verify(k, m, []byte(e.Signature)) {
		return fmt.Errorf("the limit must be signed with key %016X: %w", k.ID(), ErrUnsigned)
	}
	return nil
}
