package schema

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
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
		out = append(out, m.String())
	}
	for _, r := range s.Rules {
		out = append(out, fmt.Sprintf("where %s: %s, or missing", cellsWords(r.When), cellsWords(r.Then)))
	}
	return out
}

// String says in words what a made column is, and what a relation is of a column.
func (m Made) String() string {
	of := strings.Join(m.Of, ", ")
	return m.Name + map[madeKind]string{
		madeID:      " is made up: it means nothing",
		madeLookup:  " follows from " + of + ", by the map in the schema",
		madeSum:     " is the sum of " + of + lessWords(m.Less),
		madeMax:     " is the greatest of " + of,
		Difference:  " is " + strings.Join(m.Of, " less ") + inSpan(m.In),
		madeProduct: " is the product of " + of,
		madeRatio:   " is the ratio of " + strings.Join(m.Of, " to "),
		madeCopy:    " is a copy of " + of,
		NotBefore:   " is not before " + of,
	}[m.Kind]
}

// lessWords says what a sum takes off.
func lessWords(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", less " + strings.Join(names, ", ")
}

// inSpan says what a difference is counted in.
func inSpan(s timeSpan) string {
	if s == 0 {
		return ""
	}
	return ", in " + s.String()
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

// Label names a code for people: a category, a bin such as "[17, 19)", a single
// value, or "(missing)". It panics for a code that is not less than Size.
func (c *Codec) Label(code uint16) string {
	switch {
	case int(code) == c.values && c.values < c.size:
		return "(missing)"
	case c.bins == nil:
		return c.column.Categories[code]
	}
	lo, hi := c.bins.bounds(int(code))
	switch {
	case lo == hi:
		return c.column.show(lo)
	case int(code) == c.bins.count()-1:
		return fmt.Sprintf("[%s, %s]", c.column.show(lo), c.column.show(hi))
	case c.bins.whole:
		hi++
	}
	return fmt.Sprintf("[%s, %s)", c.column.show(lo), c.column.show(hi))
}

// show writes a value of an ordered column as the schema file does.
func (c *Column) show(x float64) string {
	f := c.Kind.facts()
	return f.write(cmp.Or(c.Format, f.format), x)
}

// Show writes a value of an ordered column, or a mean of values, for people: a date or a time in
// the column's format, another number as number does.
func (c *Codec) Show(x float64, number func(float64) string) string {
	if c.facts.layout == nil {
		return number(x)
	}
	return c.column.show(math.Round(x))
}

// ShowDifference is Show for a difference of two values: of dates and times, in days.
func (c *Codec) ShowDifference(x float64, number func(float64) string) string {
	switch c.facts.stored {
	case StoredDays:
		return number(x) + " days"
	case StoredMicros:
		return number(x/microsPerDay) + " days"
	}
	return number(x)
}

// ColumnOverview is a column of a schema for people and for JSON.
type ColumnOverview struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Unit    string `json:"unit,omitempty"`   // what a difference to a date or timestamp counts
	Format  string `json:"format,omitempty"` // layout of a date or timestamp, if it is named
	Codes   int    `json:"codes"`
	Missing bool   `json:"missing"` // whether a cell may be
	From    string `json:"from"`    // labels of the first code and of the last
	To      string `json:"to"`
}

// KindAndUnit is such as "integer" or "integer, seconds".
func (c ColumnOverview) KindAndUnit() string {
	return strings.TrimSuffix(c.Kind+", "+c.Unit, ", ")
}

// Overview describes the columns. Its error is that of [Schema.Codecs].
func (s *Schema) Overview() ([]ColumnOverview, error) {
	codecs, rows, err := s.compile()
	var out []ColumnOverview
	for i, c := range codecs {
		unit := ""
		if c.column.After != "" {
			unit = rows.numbers[i].unitName()
		}
		last := c.size - 1
		missing := c.values == last
		if missing {
			last--
		}
		out = append(out, ColumnOverview{c.column.Name, c.column.Kind.String(), unit, c.column.Format,
			c.size, missing, c.Label(0), c.Label(uint16(last))})
	}
	return out, err
}

// unitName is what differences count; "" for those of plain numbers.
func (f numberForm) unitName() string {
	switch {
	case f.root.facts.stored == StoredDays:
		return "days"
	case f.root.facts.stored == StoredMicros:
		return map[float64]string{microsPerSecond: "seconds", microsPerMinute: "minutes",
			microsPerHour: "hours", microsPerDay: "days"}[f.unit()]
	}
	return ""
}

// formatNumber writes the shortest decimal that is read back as x; -0 as 0.
func formatNumber(x float64) string {
	if x == 0 {
		return "0"
	}
	format := byte('f')
	if a := math.Abs(x); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	return strings.Replace(strconv.FormatFloat(x, format, -1, 64), "e+", "e", 1)
}
