// Package limit sets what the runs of a ledger may spend together.
package limit

import (
	"context"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/zcdp"
	"github.com/decoy-dp/decoy/ledger"
)

func init() { ledger.ZCDP = zcdp.Together }

// Limit is what the runs of a ledger may spend together.
type Limit struct {
	Budget accountant.Budget
	Rule   ledger.Rule // "" is RuleBasic
	Strict bool        // runs that break off before their first mechanism (void) stay charged

	KeepStrict bool // Strict too if the limit before is
	IfNone     bool // a limit that is there stays
}

// Set appends a limit: from here on a run whose reservation would exceed it is refused. A limit
// below what is spent already is allowed (it refuses every further run).
func Set(ctx context.Context, f *ledger.File, u ledger.Units, limit Limit) error {
	if err := limit.Budget.Validate(); err != nil {
		return err
	}
	if limit.Rule == "" {
		limit.Rule = ledger.RuleBasic
	}
	return f.Append(ctx, u, true, func(l *ledger.Ledger) ([]ledger.Entry, error) {
		old, limited := ledger.Entry{}, false
		for _, e := range l.Entries {
			if e.Kind == ledger.EntryLimit {
				old, limited = e, true
			}
		}
		if limited && limit.IfNone {
			return nil, nil
		}
		strict := limit.Strict || limit.KeepStrict && limited && old.Strict
		return []ledger.Entry{{Time: ledger.Today(), Kind: ledger.EntryLimit, Budget: &limit.Budget,
			Rule: limit.Rule, Strict: strict}}, nil
	})
}
