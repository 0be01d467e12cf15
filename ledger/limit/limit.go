// Package limit sets what the runs of a ledger may spend together.
package limit

import (
	"cmp"
	"context"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/zcdp"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/ledger/internal/bound"
)

func init() { bound.ZCDP = zcdp.Together }

// Limit is what the runs of a ledger may spend together.
type Limit struct {
	Budget   accountant.Budget
	Rule     ledger.Rule                     // "" is RuleBasic
	MostRuns int                             // those that are there included; 0 is DefaultRuns
	IfNone   bool                            // a limit that is there stays
	Sign     func(ledger.Entry) ledger.Entry // of a limit that is sealed; nil: unsigned
}

const DefaultRuns = 1000 // of a limit that does not say: more than anybody releases

// Set appends a limit: from here on a run whose reservation would exceed it is refused. It may be
// below what is spent already.
func Set(ctx context.Context, f *ledger.File, u ledger.Units, want Limit) error {
	if err := want.Budget.Validate(); err != nil {
		return err
	}
	return f.Append(ctx, u, true, func(l *ledger.Ledger) ([]ledger.Entry, error) {
		var old ledger.Entry
		for _, e := range l.Entries {
			if e.Kind == ledger.EntryLimit {
				old = e
			}
		}
		if old.Kind == ledger.EntryLimit && want.IfNone {
			return nil, nil
		}
		e := ledger.Entry{Time: ledger.Today(), Kind: ledger.EntryLimit, Budget: &want.Budget,
			Rule: cmp.Or(want.Rule, ledger.RuleBasic), MostRuns: cmp.Or(max(0, want.MostRuns), DefaultRuns),
			Strict: old.Strict}
		if want.Sign != nil {
			e = want.Sign(e.Seal(l.Entries[len(l.Entries)-1]))
		}
		if key := cmp.Or(old.Key, e.Key); key != "" {
			return []ledger.Entry{e}, bound.Signed(e, key)
		}
		return []ledger.Entry{e}, nil
	})
}
