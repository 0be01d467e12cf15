// Package exchange imports descriptions of tables in the forms of other tools: the domain files of
// mbi (private-pgm), the metadata of SDV, and Frictionless Table Schemas.
//
// Some forms say less than a schema needs: SDV knows no bounds and no categories. What is not said
// is left open in the schema file, for a person to fill in or for schema infer to buy; it is never
// guessed.
package exchange

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
)

// maxFile is the longest file that is read, in bytes.
const maxFile = 16 << 20

// Formats are the names of the forms that [Import] reads.
func Formats() (names []string) {
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Import reads a file in one of the [Formats], and writes the schema file, as schema.ParsePartial
// reads it: what is open is there as a key without a value, and with a comment. open says what has
// to be filled in. table names the table of a file that has several; "" is the only one. Errors
// wrap schema.ErrInvalid.
func Import(format string, data []byte, table string) (file []byte, open []string, err error) {
	if len(data) > maxFile {
		return nil, nil, invalid("the file is longer than %d MiB", maxFile>>20)
	}
	i := slices.Index(Formats(), format)
	if i < 0 {
		return nil, nil, invalid("unknown form %q: there is %s", format, strings.Join(Formats(), ", "))
	}
	list, err := forms[i].read(data, table)
	if err != nil {
		return nil, nil, err
	}
	notes := []string{forms[i].note}
	var columns bytes.Buffer
	for _, x := range list {
		switch {
		case x.leftOut != "":
			notes = append(notes, fmt.Sprintf("column %q: left out: %s", x.name, x.leftOut))
			continue
		case x.note != "":
			notes = append(notes, fmt.Sprintf("column %q: %s", x.name, x.note))
		}
		keys, lacks, err := x.keys()
		if err != nil {
			return nil, nil, invalid("column %q: %v", x.name, err)
		}
		fmt.Fprintf(&columns, "  - name: %s\n", scalar(x.name))
		if lacks != "" {
			open = append(open, fmt.Sprintf("column %q, %s", x.name, lacks))
			fmt.Fprintf(&columns, "    # fill in: %s\n", lacks)
		}
		for _, key := range keys {
			fmt.Fprintf(&columns, "    %s\n", key)
		}
	}
	if columns.Len() == 0 {
		return nil, nil, invalid("no column is left: %s", strings.Join(notes, "; "))
	}
	file = fmt.Appendf(nil, "# %s\ndecoy: 1\ncolumns:\n%s",
		strings.Join(each(notes, spelling.Visible), "\n# "), columns.Bytes())
	if _, err := schema.ParsePartial(file); err != nil {
		return nil, nil, fmt.Errorf("exchange: %w", err)
	}
	return file, open, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("exchange: %w: %s", schema.ErrInvalid, spelling.Visible(fmt.Sprintf(format,
		args...)))
}

// plain is a text that needs no quotes in a schema file.
var plain = regexp.MustCompile("^[A-Za-z_][A-Za-z0-9_]*$")

// scalar writes a text for a schema file.
func scalar(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

func each(list []string, do func(string) string) (out []string) {
	for _, x := range list {
		out = append(out, do(x))
	}
	return out
}

// said is what a form says of a column.
type said struct {
	name       string
	kind       schema.Kind // 0: not said
	categories []string
	missing    []string
	min, max   string // as they are written; "": not said
	bins       int
	pattern    string // of dates and timestamps, as schema.Layout reads it; "": the usual one
	leftOut    string // why a schema cannot have the column; "": it can
	note       string // for people
}

// keys are the keys of the column behind its name, and, for people, what of them is open.
func (x said) keys() (keys []string, open string, err error) {
	add := func(key, value string) {
		keys = append(keys, strings.TrimSpace(key+": "+value))
	}
	kind := x.kind.String()
	if len(x.categories) > 0 && x.kind != schema.Boolean {
		x.kind, kind = schema.Categorical, schema.Categorical.String()
	} else if x.kind == 0 {
		kind, open = "", "the kind, and what belongs to it"
	}
	add("kind", kind)
	list := func(key string, list []string) {
		if len(list) > 0 {
			add(key, "["+strings.Join(each(list, scalar), ", ")+"]")
		}
	}
	list("categories", x.categories)
	switch {
	case x.kind == schema.Categorical && len(x.categories) == 0:
		add("categories", "")
		open = "the categories"
	case x.kind.Ordered():
		open, err = x.bounds(add)
	}
	list("missing", slices.DeleteFunc(slices.Clone(x.missing), func(token string) bool {
		return slices.Contains(x.categories, token) || open == "" && x.holds(token)
	}))
	return keys, open, err
}

// bounds adds the format and the bounds of a column of an ordered kind.
func (x said) bounds(add func(key, value string)) (open string, err error) {
	moment := x.kind == schema.Date || x.kind == schema.Timestamp
	open = "the bounds min and max, inclusive"
	if moment {
		open = "the bounds min and max, in the format"
	}
	if layout, ok := schema.Layout(x.pattern); moment && x.pattern != "" && !ok {
		open += fmt.Sprintf("; and the format, as a Go layout (the file says %q)", x.pattern)
		x.min, x.max = "", ""
	} else if moment && ok {
		add("format", scalar(layout))
	}
	if x.bins > 0 {
		add("bins", strconv.Itoa(x.bins))
	}
	whole := x.min != "" && x.max != ""
	if whole {
		open = ""
	}
	for _, end := range [][2]string{{"min", x.min}, {"max", x.max}} {
		text := scalar(end[1])
		if end[1] != "" && !moment {
			number, err := strconv.ParseFloat(end[1], 64)
			if err != nil {
				return "", fmt.Errorf("the bound %q is no number", end[1])
			}
			text = strconv.FormatFloat(number, 'f', -1, 64)
		}
		switch {
		case whole:
			add(end[0], text)
			continue
		case end[1] != "":
			open += fmt.Sprintf(" (the file says only %s %q)", end[0], end[1])
		}
		add(end[0], "")
	}
	return open, nil
}

// holds reports whether a token is a number within the bounds.
func (x said) holds(token string) bool {
	number, err := strconv.ParseFloat(token, 64)
	least, err2 := strconv.ParseFloat(x.min, 64)
	most, err3 := strconv.ParseFloat(x.max, 64)
	return err == nil && err2 == nil && err3 == nil && number >= least && number <= most
}
