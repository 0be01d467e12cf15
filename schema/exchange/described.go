package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

// described is what a form says of a column, in words that the forms have in common.
type described struct {
	kind         schema.Kind // 0: not said
	categories   []string    // of a boolean the texts of false and true; nil: not said
	min, max     string      // as they are written; "": not said
	above, below bool        // min, max are no values themselves
	pattern      string      // of dates and timestamps, as schema.Layout reads it; "": the usual one
	missing      []string    // tokens
	leftOut      string      // why a schema cannot have the column; "": it can
	note         string      // for people
}

// Reasons to leave a column out.
const (
	isID         = "an id. If one person has several rows, name it as unit, with max_rows_per_unit"
	decimalComma = "its numbers have decimal commas or grouped digits: write 1234.5 first"
)

// noValue is the reason for a kind of a form that no schema has.
func noValue(kind string) string {
	return fmt.Sprintf("of the kind %q no synthetic value can be made", kind)
}

// add makes a column, or a note that there is none. What is not said stays open.
func (d *Draft) add(name string, x described) {
	note := func(text string) {
		d.Notes = append(d.Notes, fmt.Sprintf("column %q: %s", name, text))
	}
	if x.leftOut != "" {
		note("left out: " + x.leftOut)
		return
	}
	if x.note != "" {
		note(x.note)
	}
	c := Column{Column: schema.Column{Name: name, Kind: x.kind, Missing: x.missing}}
	switch {
	case x.kind == schema.Boolean:
		c.Categories = x.categories
	case len(x.categories) > 0:
		c.Kind, c.Categories = schema.Categorical, x.categories
	case x.kind == 0:
		c.Open = "the kind, and what belongs to it"
	case x.kind == schema.Categorical:
		c.Open = "the categories"
	default:
		if err := c.bound(x); err != nil && d.wrong == nil {
			d.wrong = invalid("column %q: %v", name, err)
		}
	}
	c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
		if slices.Contains(c.Categories, token) {
			return true
		}
		number, err := strconv.ParseFloat(token, 64)
		return err == nil && c.Open == "" && c.Kind.Ordered() && number >= c.Min && number <= c.Max
	})
	d.Columns = append(d.Columns, c)
}

// bound sets the format and the bounds of a column of an ordered kind.
func (c *Column) bound(x described) error {
	moments := c.Kind == schema.Date || c.Kind == schema.Timestamp
	what := "the bounds min and max, inclusive"
	if moments {
		what = "the bounds min and max, in the format"
	}
	if layout, ok := schema.Layout(x.pattern); ok && moments {
		c.Format = layout
	} else if x.pattern != "" && moments {
		c.Open = fmt.Sprintf("%s; and the format, as a Go layout (the file says %s)", what,
			quoted(x.pattern))
		return nil
	}
	var ends [2]float64
	said := ""
	for i, text := range []string{x.min, x.max} {
		if text == "" {
			continue
		}
		said += fmt.Sprintf(" (the file says only %s %s)", []string{"min", "max"}[i], quoted(text))
		end, err := c.valueOf(text)
		if err != nil {
			return err
		}
		ends[i] = end
	}
	if x.min == "" || x.max == "" {
		c.Open = what + said
		return nil
	}
	if c.Kind == schema.Integer { // the whole numbers within
		first, last := math.Ceil(ends[0]), math.Floor(ends[1])
		if x.above && first == ends[0] {
			first++
		}
		if x.below && last == ends[1] {
			last--
		}
		ends = [2]float64{first, last}
	}
	c.Min, c.Max = ends[0], ends[1]
	return nil
}

// valueOf is a bound: of a date or timestamp in the column's format, or in that of ISO 8601.
func (c *Column) valueOf(text string) (float64, error) {
	if c.Kind == schema.Integer || c.Kind == schema.Real {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return 0, fmt.Errorf("the bound %s is no number", quoted(text))
		}
		return x, nil
	}
	for _, layout := range []string{c.Format, time.DateOnly, time.RFC3339, time.DateTime,
		"2006-01-02T15:04:05"} {
		t, err := time.Parse(layout, text)
		switch {
		case err != nil || layout == "":
		case c.Kind == schema.Date:
			return math.Floor(float64(t.Unix()) / (24 * 60 * 60)), nil
		default:
			return float64(t.UnixMicro()), nil
		}
	}
	return 0, fmt.Errorf("the bound %s is no date", quoted(text))
}

// choose finds one of the tables that a file describes; its only one has no need of a name.
func choose(names []string, table string) (int, error) {
	switch at := slices.Index(names, table); {
	case len(names) == 0:
		return 0, invalid("it describes no table")
	case table == "" && len(names) == 1:
		return 0, nil
	case table == "":
		return 0, invalid("it describes %d tables (%s): name one", len(names), strings.Join(names, ", "))
	case at < 0:
		return 0, invalid("it has no table %q, but %s", table, strings.Join(names, ", "))
	default:
		return at, nil
	}
}

// unnamed refuses the name of a table for a file that describes one without a name.
func unnamed(table string) error {
	if table != "" {
		return invalid("it describes one table without a name, not %q", table)
	}
	return nil
}

// object is a JSON object whose members are read when they are needed.
type object map[string]json.RawMessage

// objectOf is false for what is no object.
func objectOf(data json.RawMessage) (o object, ok bool) {
	return o, json.Unmarshal(data, &o) == nil && o != nil
}

// objects is a list of them; nil, true for no list at all.
func objects(data json.RawMessage) (out []object, ok bool) {
	if len(data) == 0 {
		return nil, true
	}
	if json.Unmarshal(data, &out) != nil || slices.ContainsFunc(out, func(o object) bool {
		return o == nil
	}) {
		return nil, false
	}
	return out, true
}

// text is a member that is a text, a number or a truth value, as it is written; else "".
func (o object) text(key string) string {
	text, _ := scalar(o[key])
	return text
}

// texts are those of a member that is one such value or a list of them; a list may name a value
// and its meaning in an object. null reports a null among them.
func (o object) texts(key string) (out []string, null bool) {
	var items []json.RawMessage
	if json.Unmarshal(o[key], &items) != nil && len(o[key]) > 0 {
		items = []json.RawMessage{o[key]}
	}
	for _, item := range items {
		if named, ok := objectOf(item); ok {
			item = named["value"]
		}
		if text, ok := scalar(item); ok {
			out = append(out, text)
		} else {
			null = null || string(bytes.TrimSpace(item)) == "null"
		}
	}
	return out, null
}

// scalar is a text, a number or a truth value as it is written.
func scalar(data json.RawMessage) (text string, ok bool) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.IndexByte([]byte(`{[n`), data[0]) >= 0 {
		return "", false
	}
	if data[0] != '"' {
		return string(data), true
	}
	return text, json.Unmarshal(data, &text) == nil
}
