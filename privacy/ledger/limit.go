package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"aead.dev/minisign"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// Limit is what the runs of a ledger may spend together.
type Limit struct {
	Budget   accountant.Budget
	Rule     Rule // "" is RuleBasic
	MostRuns int  // those that are there included; 0 is DefaultRuns
}

// DefaultRuns is the number of runs of a limit that does not say: more than anybody releases.
const DefaultRuns = 1000

// SetLimit appends a limit: from here on a run whose reservation would exceed it is refused. It may
// be below what is spent already.
func SetLimit(ctx context.Context, f *File, u Units, want Limit) error {
	return setLimit(ctx, f, u, want, func(e Entry) Entry { return e })
}

// SetSignedLimit is [SetLimit] of a limit that is signed with key: the two-person rule for a
// budget. The limit after it will need the signature of next. The first one names key itself: only
// from it on has somebody a limit to hand over.
func SetSignedLimit(
	ctx context.Context, f *File, u Units, want Limit, key minisign.PrivateKey,
	next minisign.PublicKey,
) error {
	open := func(l *Ledger) ([]Entry, error) {
		named := func(e Entry) bool { return e.Key != "" }
		if !slices.ContainsFunc(l.Entries, named) && !next.Equal(key.Public()) {
			return nil, fmt.Errorf("the first signed limit names the key that signs it; the next one may "+
				"hand over: %w", ErrUnsigned)
		}
		return nil, nil
	}
	if err := f.Append(ctx, u, true, open); err != nil { // the first entry is signed with the limit
		return err
	}
	return setLimit(ctx, f, u, want, func(e Entry) Entry {
		e.Key = next.String()
		e.Signature = string(minisign.SignWithComments(key, signedBytes(e),
			"a limit of a decoy ledger", "of all fields of the line but hash and signature"))
		return e
	})
}

// setLimit appends a limit, which sign may sign when it is sealed.
func setLimit(
	ctx context.Context, f *File, u Units, want Limit, sign func(Entry) Entry,
) error {
	if err := want.Budget.Validate(); err != nil {
		return err
	}
	return f.Append(ctx, u, true, func(l *Ledger) ([]Entry, error) {
		var old Entry
		for _, e := range l.Entries {
			if e.Kind == EntryLimit {
				old = e
			}
		}
		e := Entry{Time: today(), Kind: EntryLimit, Budget: &want.Budget,
			Rule:     cmp.Or(want.Rule, RuleBasic),
			MostRuns: cmp.Or(max(0, want.MostRuns), DefaultRuns)}
		e = sign(e.Seal(l.last()))
		if key := cmp.Or(old.Key, e.Key); key != "" {
			return []Entry{e}, CheckKey(e, key)
		}
		return []Entry{e}, nil
	})
}
