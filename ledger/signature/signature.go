// Package signature signs the limits of ledgers, and holds limits to their signatures: the
// two-person rule for a budget. Keys and signatures are those of minisign.
package signature

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/ledger/internal/bound"
	"github.com/decoy-dp/decoy/ledger/limit"
)

// ErrUnsigned is wrapped by every error about a limit without the signature that it needs.
var ErrUnsigned = errors.New("its signature is missing or wrong")

func init() {
	bound.Signed = func(limit any, key string) error { return Check(limit.(ledger.Entry), key) }
}

// message is what is signed of a limit: all fields of the line but these two. They hold its place
// and, by the hash of the entry before it, all of the ledger up to there.
func message(e ledger.Entry) []byte {
	e.Hash, e.Signature = "", ""
	b, err := json.Marshal(e)
	if err != nil {
		return nil // an entry that cannot be written is in no ledger
	}
	return b
}

// Set is [limit.Set] of a limit that is signed with key. The limit after it will need the signature
// of next. The first one names key itself: only from it on has somebody a limit to hand over.
func Set(
	ctx context.Context, f *ledger.File, u ledger.Units, l limit.Limit, key minisign.PrivateKey,
	next minisign.PublicKey,
) error {
	open := func(l *ledger.Ledger) ([]ledger.Entry, error) {
		named := func(e ledger.Entry) bool { return e.Key != "" }
		if !slices.ContainsFunc(l.Entries, named) && !next.Equal(key.Public()) {
			return nil, fmt.Errorf("the first signed limit names the key that signs it; the next one may "+
				"hand over: %w", ErrUnsigned)
		}
		return nil, nil
	}
	if err := f.Append(ctx, u, true, open); err != nil { // the first entry is signed with the limit
		return err
	}
	l.Sign = func(e ledger.Entry) ledger.Entry { return sign(e, key, next) }
	return limit.Set(ctx, f, u, l)
}

func sign(e ledger.Entry, key minisign.PrivateKey, next minisign.PublicKey) ledger.Entry {
	e.Key = next.String()
	e.Signature = string(minisign.SignWithComments(key, message(e),
		"a limit of a decoy ledger", "of all fields of the line but hash and signature"))
	return e
}

// Check reports whether key, the line of a public key, has signed a limit, which must be sealed.
// Errors wrap ErrUnsigned.
func Check(e ledger.Entry, key string) error {
	var k minisign.PublicKey
	if err := k.UnmarshalText([]byte(key)); err != nil {
		return fmt.Errorf("%q is no key of minisign: %w", key, ErrUnsigned)
	}
	m := message(e)
	if m == nil || !minisign.Verify(k, m, []byte(e.Signature)) {
		return fmt.Errorf("the limit must be signed with key %016X: %w", k.ID(), ErrUnsigned)
	}
	return nil
}
