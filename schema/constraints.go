package schema

import (
	"fmt"
	"strings"
)

// Constraints says in words, a line each, what the schema takes for public knowledge of how the
// cells of a row have to do with each other. Every row that is written keeps it.
func (s *Schema) Constraints() []string {
	var out []string
	_, rows, err := s.compile()
	for i := range s.Columns {
		if c := &s.Columns[i]; c.After != "" && err == nil {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s is after %s, by %s to %s %s", c.Name,
				c.After, c.show(c.Min), c.show(c.Max), rows.numbers[i].unitName())))
		}
	}
	for _, m := range s.Made {
		of := strings.Join(m.Of, ", ")
		out = append(out, m.Name+map[madeKind]string{
			madeID:     " is made up: it means nothing",
			madeLookup: " follows from " + of + ", by the map in the schema",
			madeSum:    " is the sum of " + of,
			madeMax:    " is the greatest of " + of,
		}[m.Kind])
	}
	for _, r := range s.Rules {
		out = append(out, fmt.Sprintf("where %s: %s, or missing", cellsWords(r.When), cellsWords(r.Then)))
	}
	return out
}

// cellsWords says what cells a rule is about.
func cellsWords(list []Cells) string {
	return strings.Join(each(list, func(x Cells) string {
		if len(x.Values) > 0 {
			return x.Column + " is " + strings.Join(x.Values, " or ")
		}
		words := x.Column
		for _, l := range [][2]string{{"from", x.From}, {"to", x.To}, {"below", x.Below}} {
			if l[1] != "" {
				words += " " + l[0] + " " + l[1]
			}
		}
		return words
	}), " and ")
}
