package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/table"
)

// Queries is a list of counting queries prepared for a session: how many rows satisfy each expression. Their true counts are read once, by
// the first mechanism that has been charged, and stay inside the gate; what a mechanism releases of them is charged each time.
type Queries struct {
	s      *session
	names  []string // what each query is, for the journal
	set    *table.Exprs
	counts func() []int64 // true counts, behind a function so that printing shows none; nil until a mechanism has paid
}

// Queries prepares counting queries. It reads nothing and costs nothing. The error is that of table.CompileExprs.
func (s *session) Queries(xs []table.Expr) (*Queries, error) {
	set, err := table.CompileExprs(s.schema.Sizes(), xs)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	q := &Queries{s: s, set: set}
	for _, x := range xs {
		q.names = append(q.names, fmt.Sprintf("%#v", x))
	}
	return q, nil
}

// Len is the number of queries.
func (q *Queries) Len() int { return q.set.Len() }

// Format says nothing about the counts, whatever the verb.
func (q *Queries) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "privacy.Queries(%d)", q.Len()) }

// MarshalText refuses.
func (q *Queries) MarshalText() ([]byte, error) { return nil, errPrivate }

// of is an error unless the queries are the session's.
func (q *Queries) of(s *session) error {
	if q == nil || q.s != s {
		return fmt.Errorf("the queries were prepared for another session")
	}
	return nil
}

// has is an error unless the queries are the session's and i is one of them.
func (q *Queries) has(s *session, i int) error {
	if err := q.of(s); err != nil {
		return err
	}
	if i < 0 || i >= q.Len() {
		return fmt.Errorf("query %d of %d", i, q.Len())
	}
	return nil
}

// read returns the true counts; the caller holds the session's lock and has been charged.
func (q *Queries) read() []int64 {
	if q.counts == nil {
		counts := q.s.data().CountExprs(q.set)
		q.counts = func() []int64 { return counts }
	}
	return q.counts()
}
