package privacy

import (
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Query is a question that counting answers: a [Marginal], [Total], [Where], [Scores] or
// [ContributionHistogram]. It is a value, and all of it is public. It knows how far a unit moves
// its counts, and how to count itself.
type Query interface {
	kind() access.Kind
	// compile has it check itself against the number of codes of each column; units says whether the
	// schema names a unit. What it returns shares no memory with it.
	compile(sizes []int, units bool) (access.Counted, error)
}

// compileAll compiles queries, of which there is at least one. No row is read.
func compileAll(sizes []int, units bool, qs []Query) ([]access.Counted, error) {
	if len(qs) == 0 {
		return nil, errors.New("there is no query")
	}
	out := make([]access.Counted, len(qs))
	for i, q := range qs {
		if q == nil {
			return nil, fmt.Errorf("query %d: there is none", i)
		}
		var err error
		if out[i], err = q.compile(sizes, units); err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
	}
	return out, nil
}

// compile compiles queries for the schema of the session.
func (s *session) compile(qs []Query) ([]access.Counted, error) {
	return compileAll(s.schema.Sizes(), s.schema.Unit != "", qs)
}
