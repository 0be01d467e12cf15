package main

import (
	"fmt"
	"io"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/infer"
)

// inferNeeds is how many rows a purchase of a schema needs. It follows from public knowledge.
type inferNeeds struct {
	Budget  accountant.Budget `json:"budget"`
	Columns int               `json:"columns"`        // that are bought
	Rows    int               `json:"rows,omitempty"` // of the table, if that is public
	Needs   infer.Needs       `json:"needs"`
}

// fails reports that the table is likely to end up without a usable schema.
func (n inferNeeds) fails() bool { return float64(n.Rows) < n.Needs.Kind }

// refuse refuses a purchase that is likely to come to nothing, unless it is forced.
func (n inferNeeds) refuse(t *terminal) error {
	if n.Rows > 0 && n.fails() && !t.force {
		return usagef("%s\nnothing was spent; --force buys it all the same", n.why())
	}
	return nil
}

// why says what a table of few rows lacks.
func (n inferNeeds) why() string {
	return fmt.Sprintf("%s are too few: at epsilon %v a schema of %s needs about %s, or epsilon "+
		"about %.2g. A schema that you write yourself costs nothing: decoy help schema",
		plural(n.Rows, "row", "rows"), n.Budget.Epsilon, plural(n.Columns, "column", "columns"),
		plural(wholeRows(n.Needs.Kind), "row", "rows"),
		n.Budget.Epsilon*n.Needs.Kind/float64(max(1, n.Rows)))
}

// wholeRows rounds up to two digits.
func wholeRows(rows float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(max(rows, 1)))-1)
	return int(math.Ceil(rows/unit) * unit)
}

func (n inferNeeds) text(w io.Writer) {
	fmt.Fprintf(w, "a schema of %s at epsilon %v, delta %v needs, by the noise alone:\n",
		plural(n.Columns, "column", "columns"), n.Budget.Epsilon, n.Budget.Delta)
	for _, step := range []struct {
		rows float64
		what string
	}{
		{n.Needs.Kind, "that hold a value, for a column to be recognised; without them it is left out"},
		{n.Needs.Bounds, "that hold a number, for bounds; columns of fewer may have coarse ones or none"},
		{n.Needs.Fine, "in all, for finer bounds than powers of two"},
		{n.Needs.Category, "with the same text, for a category; rarer texts become \"(other)\""},
	} {
		fmt.Fprintf(w, "about %d rows\t%s\n", wholeRows(step.rows), step.what)
	}
	switch {
	case n.Rows == 0:
		fmt.Fprintf(w, "if the number of rows is public, give it as --rows\n")
	case n.fails():
		fmt.Fprintf(w, "%s\n", n.why())
	case float64(n.Rows) < max(n.Needs.Bounds, n.Needs.Fine):
		fmt.Fprintf(w, "with %s the schema is likely to be coarse: bounds are powers of two\n",
			plural(n.Rows, "row", "rows"))
	default:
		fmt.Fprintf(w, "%s are enough for kinds and bounds; a text in fewer than %d of them is lost, "+
			"unless --categories declares it\n", plural(n.Rows, "row", "rows"), wholeRows(n.Needs.Category))
	}
	fmt.Fprintf(w, "nothing was read but the names of the columns, and nothing was spent\n")
}
