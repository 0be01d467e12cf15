package configs

import (
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/synth"
)

// fewClasses is how many codes a column may have that is taken for the outcome by its place.
const fewClasses = 10

// Outcomes are the columns of a table that may be predicted, and the one that people most likely
// predict, by what is public: the last one with the name of an outcome, or the last of a schema if
// it has few codes; "" if there is none. Without a schema they are those of the header, which is
// public, without the unit; none of one that cannot be read, or only once.
func Outcomes(s *schema.Schema, input, unit string) (names []string, likely string) {
	var codes []int
	if s != nil {
		names, codes = s.Names(), s.Sizes()
	} else if !IsStandard(input) {
		names, _, _ = Header(input, schema.CSV{})
		names = slices.DeleteFunc(names, func(n string) bool { return n == unit })
	}
	return names, likelyOutcome(names, codes)
}

// Outcomes are those of the job's table. Rows in their order are predicted from each other: a
// column of them is no outcome.
func (t *Task) Outcomes() (names []string, likely string) {
	if last := t.Tables.Tables[len(t.Tables.Tables)-1]; last.Order.By != "" {
		return nil, ""
	}
	return Outcomes(t.Domain, t.Input, t.Unit)
}

func likelyOutcome(names []string, codes []int) string {
	for _, name := range slices.Backward(names) {
		if synth.IsOutcome(name) {
			return name
		}
	}
	if last := len(codes) - 1; last > 0 && codes[last] > 1 && codes[last] <= fewClasses {
		return names[last]
	}
	return ""
}
