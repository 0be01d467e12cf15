package engine

import (
	"encoding/json"
	"errors"
)

// Sets is the kind of a question about how many rows each cell of some marginals has: of a list of
// sets of columns, each increasing, the counts of one set after the other, row-major, the last
// column fastest.
const Sets = "sets"

// Joint is true counts over some columns.
type Joint struct {
	Cols   []int
	Counts []int64
}

// AskSets is a question about sets of columns of these sizes.
func AskSets(sets [][]int, sizes []int) Question {
	of, _ := json.Marshal(sets) // of whole numbers, which does not fail
	q := Question{Kind: Sets, Of: of}
	for _, set := range sets {
		q.Length += CellsOf(set, sizes)
	}
	return q
}

// errSets says nothing of rows: a question is public.
var errSets = errors.New("not a question about sets of these columns")

// AskedSets are the sets of a question.
func AskedSets(q Question, sizes []int) (sets [][]int, err error) {
	if q.Kind != Sets || json.Unmarshal(q.Of, &sets) != nil {
		return nil, errSets
	}
	all := 0
	for _, set := range sets {
		for _, c := range set {
			if c < 0 || c >= len(sizes) {
				return nil, errSets
			}
		}
		all += CellsOf(set, sizes)
	}
	if all != q.Length {
		return nil, errSets
	}
	return sets, nil
}

// CellsOf is how many cells a set of columns of these sizes has.
func CellsOf(set, sizes []int) int {
	n := 1
	for _, c := range set {
		n *= sizes[c]
	}
	return n
}
