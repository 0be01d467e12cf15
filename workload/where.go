package workload

import (
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Where reads one comparison of a column with a value, as the command line has it: NAME=VALUE, !=,
// <, <=, > or >=, spaces around the operator allowed, no quotes. NAME is the longest column name
// that the text begins with; all behind the operator is the value, so that income=>50K asks for the
// category ">50K". A missing token of the column stands for missing. Bounds lie between two bins.
// Errors wrap ErrInvalid.
func Where(s *schema.Schema, text string) (table.Condition, error) {
	fail := func(err error) (table.Condition, error) {
		return table.Condition{}, fmt.Errorf("workload: condition %q: %w: %w",
			text, err, ErrInvalid)
	}
	col, rest := -1, ""
	for i, c := range s.Columns {
		tail, ok := strings.CutPrefix(strings.TrimSpace(text), c.Name)
		tail = strings.TrimSpace(tail)
		if ok && (col < 0 || len(c.Name) > len(s.Columns[col].Name)) &&
			strings.IndexAny(tail, "=!<>") == 0 {
			col, rest = i, tail
		}
	}
	if col < 0 {
		return fail(fmt.Errorf("it must be a column of the schema, one of = != < <= > >=, and a value"))
	}
	op := ""
	for _, o := range []string{"!=", "<=", ">=", "=", "<", ">"} {
		if strings.HasPrefix(rest, o) {
			op = o
			break
		}
	}
	value := strings.TrimSpace(strings.TrimPrefix(rest, op))
	if op == "" || value == "" {
		return fail(fmt.Errorf("an operator or a value is missing"))
	}
	codec, err := schema.NewCodec(s.Columns[col])
	if err != nil {
		return fail(err)
	}
	c := column{index: col, codec: codec}
	var out table.Condition
	switch op {
	case "=", "!=":
		out, err = c.equals([]string{value})
		for _, token := range s.Columns[col].Missing {
			if token == value {
				out, err = c.missing()
			}
		}
		if err == nil && op == "!=" {
			for code := range out.Allow {
				out.Allow[code] = !out.Allow[code]
			}
		}
	default:
		out, err = c.compare(op, value)
	}
	if err != nil {
		return fail(err)
	}
	return out, nil
}
