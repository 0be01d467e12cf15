package stats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/randomized"
)

// ErrForm is wrapped by every error about what is asked.
var ErrForm = errors.New("it cannot be asked of respondents")

// The bounds of a form's questions are those of the memory and the time that answers take.
const (
	maxQuestions = 1 << 20 // those about 1,447 columns
	maxCells     = 1 << 25 // of all together: those about 127 columns of 64 codes
)

// Form is what a collector publishes: a schema and ε, from which all else follows. It is immutable.
type Form struct {
	schema  *schema.Schema
	epsilon float64   // of each respondent
	lists   [][][]int // of questions: of one column, and, if there are any, of two
	sizes   []int
}

// NewForm asks each respondent one question: with probability 1/2 about one column, else about one
// pair of columns, each as likely as any other. A pair of more than [randomized.MaxCells] cells is
// not asked.
//
// Errors wrap ErrForm: a schema with an id column, with bins that are bought, or a column of too
// many codes; more than 1,447 columns, or pairs of more than maxCells together. That of an ε out of
// range wraps accountant.ErrBudgetRange.
func NewForm(s *schema.Schema, epsilon float64) (*Form, error) {
	fail := func(format string, args ...any) (*Form, error) {
		return nil, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrForm)
	}
	d, sizes := len(s.Columns), s.Sizes()
	if err := (accountant.Budget{Epsilon: epsilon}).Validate(); err != nil {
		return nil, err
	}
	switch {
	case s.Unit != "":
		return fail("the schema has the id column %q, and a respondent, who is one row, gives no id",
			s.Unit)
	case len(s.Buys()) > 0:
		return fail("the bins of column %q are to be bought (bins: dp), which needs a whole table",
			s.Columns[s.Buys()[0]].Name)
	case d*(d+1)/2 > maxQuestions:
		return fail("%d columns have more than %d questions", d, maxQuestions)
	}
	f := &Form{schema: s.Clone(), epsilon: epsilon, sizes: sizes}
	var columns, pairs [][]int
	cells := 0
	for a := range sizes {
		if _, err := randomized.Cells(sizes, []int{a}); err != nil {
			return fail("column %q has %d codes, at most %d can be asked: give it fewer bins",
				s.Columns[a].Name, sizes[a], randomized.MaxCells)
		}
		columns = append(columns, []int{a})
		for b := a + 1; b < d; b++ {
			if k, err := randomized.Cells(sizes, []int{a, b}); err == nil {
				pairs = append(pairs, []int{a, b})
				cells += k
			}
		}
	}
	if cells > maxCells {
		return fail("the pairs of its %d columns have %d cells together, at most %d can be asked: give "+
			"columns fewer bins", d, cells, maxCells)
	}
	f.lists = [][][]int{columns}
	if len(pairs) > 0 {
		f.lists = append(f.lists, pairs)
	}
	return f, nil
}

// id names the form: 16 hexadecimal digits, which stand in every answer.
func (f *Form) id() string {
	return digest(fmt.Sprintf("form %s %v", f.schema.Fingerprint(), f.epsilon))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte("decoy collect 1 " + text))
	return hex.EncodeToString(sum[:8])
}

// Claim is the guarantee of each answer, whatever the collector does with it.
func (f *Form) Claim() release.Claim { return release.LocalClaim(f.epsilon) }

// Answer asks a respondent: rows is a table of one row, theirs, and r.Ledger their account, which
// pays ε for one answer to a form (nil: nobody keeps one); of the other options, Journal, Resume,
// Outputs and Tool are used. It is what the respondent runs.
//
// A second answer to the form wraps privacy.ErrRun, and has read nothing. Errors before the
// reservation have spent nothing; the session is nil then. A table of another number of rows than
// one, which is public as all neighbours have as many, wraps schema.ErrSchema; with a journal the
// run goes on with the mended table.
func (f *Form) Answer(
	ctx context.Context, rows *privacy.Rows, r Run[Answer],
) (Answer, *privacy.Session, error) {
	r.Budget, r.Adjacency = accountant.Budget{Epsilon: f.epsilon}, accountant.ReplaceOne
	// a ledger takes a name once, and so one answer to a form
	r.Run = digest("answer " + f.id() + " 0")
	plan := accountant.Composition{{Event: accountant.Laplace{Epsilon: f.epsilon}, Count: 1}}
	return r.buy(ctx, rows, release.MethodCollect, plan,
		func(s *privacy.Session) (Answer, error) {
			reply, err := randomized.Answer(s, f.lists, f.epsilon)
			if errors.Is(err, randomized.ErrQuestion) {
				err = fmt.Errorf("%w: leave the header and one row, and cut the others: %w", err,
					schema.ErrSchema)
			}
			return Answer{form: f, Reply: reply}, err
		})
}
