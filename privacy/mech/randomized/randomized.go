// Package randomized answers one question about one row so that the answer by itself is private:
// randomised response, before anything is collected. Sources: Warner 1965 (JASA); Kairouz,
// Bonawitz, Ramage 2016, arXiv 1602.07387 (k-ary); Wang, Blocki, Li, Jha 2017 (USENIX Security;
// optimised unary encoding, OUE).
package randomized

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// ErrQuestion is wrapped by the refusal of questions, tables and relations that are not for one
// respondent.
var ErrQuestion = errors.New("not for a randomised answer")

// MaxCells is the most cells of a question.
const MaxCells = 1 << 12

// Cells is the number of cells of the question which codes a row has in some columns: the product
// of their sizes. An error wraps ErrQuestion.
func Cells(sizes, cols []int) (int, error) {
	n := 1
	for i, c := range cols {
		for _, other := range cols[:i] {
			if c == other {
				return 0, fmt.Errorf("column %d is asked twice: %w", c, ErrQuestion)
			}
		}
		if c < 0 || c >= len(sizes) {
			return 0, fmt.Errorf("there is no column %d: %w", c, ErrQuestion)
		}
		if n *= sizes[c]; n > MaxCells {
			return 0, fmt.Errorf("a question of more than %d cells: %w", MaxCells, ErrQuestion)
		}
	}
	if len(cols) == 0 {
		return 0, fmt.Errorf("a question about no column: %w", ErrQuestion)
	}
	return n, nil
}

// Direct reports whether a question of so many cells is answered with one of them (k-ary), which is
// the more accurate if k < 3e^ε + 2, and not with a set of them (OUE).
func Direct(cells int, epsilon float64) bool { return float64(cells) < 3*math.Exp(epsilon)+2 }

// Rates are the probabilities that an answer names the cell of the row, p, and any other, q:
// e^ε/(e^ε + k − 1) and 1/(e^ε + k − 1) if k cells are answered directly, else 1/2 and 1/(e^ε + 1).
func Rates(cells int, epsilon float64) (p, q float64) {
	x := math.Exp(-epsilon)
	if !Direct(cells, epsilon) {
		return .5, x / (1 + x)
	}
	p = 1 / (1 + float64(cells-1)*x)
	return p, p * x
}

// Reply is an answer. It is public.
type Reply struct {
	Cols  []int // asked about
	Named []int // cells that the answer names, increasing: row-major over Cols, last fastest
}

// Answer draws one of the lists of questions uniformly, then a question of it uniformly, and
// answers it about the only row of the session. A question is the columns that it asks about. The
// answer names the cell of the row and any other exactly as [Rates] say: ε-DP under replacing the
// row by any other, with ε the float64 given (docs/claims/randomized.md). Cost: one
// accountant.Laplace of ε, which stands for any ε-DP step.
//
// Errors wrap ErrQuestion: an empty list, a question that is out of range, a relation other than
// replace-one, a schema with an id column; and, after the charge, a table of another number of rows
// than one.
func Answer(s *privacy.Session, lists [][][]int, epsilon float64) (Reply, error) {
	sch := s.Schema()
	sizes, most, count := sch.Sizes(), 0, 0
	fail := func(text string) (Reply, error) {
		return Reply{}, fmt.Errorf("%s: %w", text, ErrQuestion)
	}
	switch {
	case s.Neighbours().Adjacency != accountant.ReplaceOne:
		return fail("an answer shows that there is a respondent: the relation must be replace-one")
	case sch.Unit != "":
		return fail("a respondent is one row, and the schema has an id column")
	}
	of := access.Ask("randomized").Floats(epsilon).Ints(int64(len(lists)))
	for _, list := range lists {
		if len(list) == 0 {
			return fail("a list without a question")
		}
		of.Ints(int64(len(list)))
		for _, cols := range list {
			k, err := Cells(sizes, cols)
			if err != nil {
				return Reply{}, err
			}
			most = max(most, k)
			of.Ints(int64(len(cols)))
			for _, c := range cols {
				of.Ints(int64(c))
			}
			count++
		}
	}
	if count == 0 {
		return fail("there is no question")
	}
	c := access.Call{What: "randomised answer", Of: of,
		Cost: access.Once(accountant.Laplace{Epsilon: epsilon})}
	// as long for every question and answer: the list, the question, and 1 for each cell named
	xs, err := access.ReleaseInts(s, c, 2+most, func(rows access.Rows) ([]int64, error) {
		if rows.Table == nil || rows.Table().Rows() != 1 {
			return nil, fmt.Errorf("the table must have one row, as all its neighbours do: %w", ErrQuestion)
		}
		t, out := rows.Table(), make([]int64, 2+most)
		list := rows.Source.Uint64N(uint64(len(lists)))
		question := rows.Source.Uint64N(uint64(len(lists[list])))
		out[0], out[1] = int64(list), int64(question)
		cells, truth := 1, 0
		for _, c := range lists[list][question] {
			cells, truth = cells*sizes[c], truth*sizes[c]+int(t.Column(c).At(0))
		}
		err := respond(out[2:2+cells], truth, Direct(cells, epsilon),
			func(scores []int64) (int, error) { return noise.Select(rows.Source, scores, epsilon) })
		return out, err
	})
	if err != nil {
		return Reply{}, err
	}
	if xs[0] < 0 || xs[0] >= int64(len(lists)) || xs[1] < 0 || xs[1] >= int64(len(lists[xs[0]])) {
		return Reply{}, fmt.Errorf("an answer to no question: %w", access.ErrResume)
	}
	reply := Reply{Cols: slices.Clone(lists[xs[0]][xs[1]])}
	for i, x := range xs[2:] {
		if x == 1 {
			reply.Named = append(reply.Named, i)
		}
	}
	return reply, nil
}

// respond puts 1 at the cells that the answer names, of a row in cell truth. pick chooses t with
// probability e^(ε·scores[t]) / Σ_s e^(ε·scores[s]).
func respond(
	answer []int64, truth int, direct bool, pick func(scores []int64) (int, error),
) error {
	if direct {
		scores := make([]int64, len(answer))
		scores[truth] = 1
		i, err := pick(scores)
		if err == nil {
			answer[i] = 1
		}
		return err
	}
	for i := range answer {
		scores := []int64{1, 0} // named with probability 1/(e^ε + 1)
		if i == truth {
			scores[0] = 0 // and 1/2
		}
		named, err := pick(scores)
		if err != nil {
			return err
		}
		answer[i] = int64(named)
	}
	return nil
}
