package access

import (
	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/schema"
)

// This file is for the mechanisms below package privacy alone.

// Do makes a call: the one primitive of a session, which charges, reads, draws, keeps and
// returns.
func Do(s session, c Call) ([]byte, error) { return s.Door().inside.Release(c) }

// ReleaseInts is [Do] of n whole numbers.
func ReleaseInts(
	s session, c Call, n int, draw func(rows Rows) ([]int64, error),
) ([]int64, error) {
	c.Draw = func(rows Rows, _ func(accountant.Charge) error) ([]byte, error) {
		xs, err := draw(rows)
		return Bytes(xs...), err
	}
	b, err := Do(s, c)
	if err != nil {
		return nil, err
	}
	return Ints(b, n)
}

// StateOf looks at a session.
func StateOf(s session) State { return s.Door().inside.State() }

// QueriesOf has queries, a []privacy.Query, fit the schema of a session.
func QueriesOf(s session, queries any) ([]Counted, error) {
	return s.Door().inside.Compile(queries)
}

// Loader is rows in another form than a table, for privacy.FromLoader.
type Loader struct {
	Schema *schema.Schema
	Load   Load
}
