package access

import (
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// This file is for the mechanisms below package privacy alone.

// gate is a *privacy.Session, or *privacy.Rows.
type gate interface{ Door() Door }

// Door leads into a session. Whoever has one can do nothing with it outside of this package.
type Door struct{ inside Inside }

// Inside is what a session does for this package.
type Inside struct {
	Release func(c Call) (Released, error)
	Hold    func(do Held) error
	Load    load // in place of all others: of rows that are not open yet
	State   func() State
	Compile func(queries any) ([]Counted, error) // of a []privacy.Query
}

// NewDoor is for package privacy.
func NewDoor(in Inside) Door { return Door{in} }

// Do makes a call: the one primitive of a session, which charges, reads, draws, keeps and
// returns.
func Do(s gate, c Call) (Released, error) { return s.Door().inside.Release(c) }

// Numbers makes a call whose answer is whole numbers.
func Numbers(s gate, c Call) ([]int64, error) {
	answer, err := Do(s, c)
	return answer.Ints, err
}

// ReleaseInts is [Do] of n whole numbers.
func ReleaseInts(s gate, c Call, n int, draw func(Rows) ([]int64, error)) ([]int64, error) {
	c.Length = n
	c.Draw = func(rows Rows, _ func(accountant.Charge) error) (Released, error) {
		xs, err := draw(rows)
		return Released{Ints: xs}, err
	}
	return Numbers(s, c)
}

// State is what a session tells of itself.
type State struct {
	Closed, Elsewhere bool
	Replaying         bool // answers of an earlier process are left to be asked for again
}

// Hold lends the rows of a session that is not split, free: nothing of them may leave but through
// [Do].
func Hold(s gate, do Held) error { return s.Door().inside.Hold(do) }

// Held keeps rows as a secret of its own, as shards, once in a session; or, if it returns a schema,
// has the session go over to that and to other rows. Those of a unit must be made of the rows of
// that unit before, or of what these were chosen from, by a public rule.
type Held func(from *schema.Schema, rows Rows) (to *schema.Schema, next Rows, err error)

// LoadOf is how rows are read.
func LoadOf(rows gate) load { return rows.Door().inside.Load }

// Guard calls code that may be foreign and is shown private rows, and reports whether it came back.
// Neither a panic nor a runtime.Goexit gets through, and no text of them. It cannot hold a fatal
// error of the run time (stack overflow, concurrent map writes), os.Exit, or a loop without end.
func Guard(f func()) (back bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
		back = true
	}()
	<-done
	return back
}

// StateOf looks at a session.
func StateOf(s gate) State { return s.Door().inside.State() }

// QueriesOf has queries, a []privacy.Query, fit the schema of a session.
func QueriesOf(s gate, queries any) ([]Counted, error) { return s.Door().inside.Compile(queries) }
