package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// A field is a key of a schema file and where its value is kept. Tables of fields read files, write
// them in the canonical form, and say which keys a column has: all in one order, in which kind and
// format come before the bounds, which they give a meaning.
type field struct {
	key string
	at  any // *string, *int, …, a word, or binning
}

// word is where a value of an enumeration is kept.
type word struct {
	names
	to *uint8
}

// binning is what the key bins says of a column: bins: 32, bins: {count: 32, spacing: log} or
// bins: {dp: 16, share: 0.05, grid: 1024, spacing: log}.
type binning struct{ *Column }

// fields of a column.
func (c *Column) fields() []field {
	return []field{
		{"name", &c.Name}, {"kind", word{kindNames, (*uint8)(&c.Kind)}}, {"after", &c.After},
		{"categories", &c.Categories}, {"format", &c.Format}, {"edges", &c.Edges}, {"min", &c.Min},
		{"max", &c.Max}, {"bins", binning{c}}, {"decimals", &c.Decimals}, {"missing", &c.Missing},
		{"on_invalid", word{policyNames, (*uint8)(&c.OnInvalid)}}, {"other", &c.Other},
	}
}

// fields of a made column, which depend on its kind.
func (m *Made) fields() []field {
	out := []field{{"name", &m.Name}, {"kind", word{madeNames, (*uint8)(&m.Kind)}}}
	if m.Kind == madeID {
		return append(out, field{"pattern", &m.Pattern})
	}
	out = append(out, field{"of", &m.Of})
	switch m.Kind {
	case madeLookup:
		out = append(out, field{"map", &m.Map})
		return append(out, field{"on_invalid", word{policyNames, (*uint8)(&m.OnInvalid)}})
	case madeSum:
		out = append(out, field{"less", &m.Less})
	case Difference:
		out = append(out, field{"in", word{spanNames, (*uint8)(&m.In)}})
	}
	if m.Kind != madeMax {
		out = append(out, field{"round", word{roundingNames, (*uint8)(&m.Round)}},
			field{"decimals", &m.Decimals})
	}
	out = append(out, field{"format", &m.Format})
	return append(out, field{"on_invalid", word{policyNames, (*uint8)(&m.OnInvalid)}})
}

// limits are the fields of the cells of a column with an order.
func (x *Cells) limits() []field {
	return []field{{"from", &x.From}, {"to", &x.To}, {"below", &x.Below}}
}

func keysOf(fields []field) []string { return each(fields, func(f field) string { return f.key }) }

// says reports whether a field says something of c.
func (c *Column) says(f field) bool {
	switch at := f.at.(type) {
	case word:
		return *at.to != 0
	case binning:
		return c.Bins != 0 || c.Spacing != Linear || c.BuyBins != 0 || c.BuyShare != 0
	case *float64: // NaN in a file that does not say it
		return *at != 0 && !math.IsNaN(*at)
	}
	return !reflect.ValueOf(f.at).Elem().IsZero()
}

// readAll reads the fields of keys and values, and gives the nodes of those that there are. c is
// the column whose bounds they may be, above what the report of a problem begins with.
func readAll(
	r yamlfile.Reader, n *yaml.Node, above string, c *Column, fields []field,
) map[string]*yaml.Node {
	nodes := r.Fields(n, strings.TrimSuffix(above, ": "), keysOf(fields))
	for _, f := range fields {
		if v := nodes[f.key]; v != nil {
			f.read(r, v, above, c)
		}
	}
	return nodes
}

// read takes the value of a field from a file. Bounds are left alone where there is no telling.
func (f field) read(r yamlfile.Reader, n *yaml.Node, above string, c *Column) {
	var err error
	switch at := f.at.(type) {
	case *string:
		if *at, err = yamlfile.Text(n); err == nil && f.key == "format" {
			*at, err = layoutOf(*at)
		}
	case *bool:
		*at, err = yamlfile.Truth(n)
	case *int:
		var x int64
		if x, err = yamlfile.Whole(n, 32); err == nil && x < 1 {
			err = fmt.Errorf("must be at least 1, not %d", x)
		}
		*at = int(x)
	case *float64:
		*at, err = c.boundOf(n)
	case word:
		err = at.read(n)
	case *[]string:
		if slices.Contains(aloneKeys, f.key) && n.Kind == yaml.ScalarNode {
			n = &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Content: []*yaml.Node{n}}
		}
		*at, err = listOf(r, n, above+f.key, "a list of texts", yamlfile.Text)
	case *[]float64:
		*at, err = listOf(r, n, above+f.key, "a list", c.boundOf)
	case binning:
		at.read(r, n)
	case *CSV:
		at.read(r, n)
	case *Order:
		readAll(r, n, above+"order: ", nil, []field{{"by", &at.By}, {"rows", &at.Rows}})
	case nil: // it is read by others
	default:
		err = f.readNested(r, n, above)
	}
	if err != nil {
		r.Report(n.Line, above+f.key+": "+err.Error())
	}
}

// readNested is read for a map of texts, and for what rules are made of.
func (f field) readNested(r yamlfile.Reader, n *yaml.Node, above string) error {
	switch at := f.at.(type) {
	case *map[string]string:
		*at = map[string]string{}
		r.Pairs(n, above+f.key, func(k, v *yaml.Node) {
			text := ""
			field{yamlfile.Quote(k.Value), &text}.read(r, v, above+"map: ", nil)
			(*at)[k.Value] = text
		})
	case *[]Cells:
		r.Pairs(n, above+f.key, func(k, v *yaml.Node) {
			x := Cells{Column: k.Value}
			above := above + f.key + ": column " + yamlfile.Quote(k.Value) + ": "
			if v.Kind == yaml.MappingNode {
				readAll(r, v, above, nil, x.limits())
			} else {
				field{"of", &x.Values}.read(r, v, above, nil)
			}
			*at = append(*at, x)
		})
	case *[]Rule:
		if n.Kind != yaml.SequenceNode {
			return fmt.Errorf("must be a list, not %s", yamlfile.Kind(n))
		}
		for j, node := range n.Content {
			var x Rule
			readAll(r, node, fmt.Sprintf("rule number %d: ", j+1), nil,
				[]field{{"when", &x.When}, {"then", &x.Then}})
			*at = append(*at, x)
		}
	}
	return nil
}

// aloneKeys are those of lists that may be one text. All but the first are written so, too.
var aloneKeys = []string{"of", "less", "unit", "key", "id"}

// layoutOf understands the format of a column.
func layoutOf(text string) (string, error) {
	layout, ok := goLayout(text)
	if !ok {
		return "", fmt.Errorf("%s is not understood: write a date as DD/MM/YYYY, or as 2 January 2006, "+
			"15:04:05 is written in it: 02/01/2006; a number as 1234.5 is: 1.234,5 €; a duration as "+
			"h:mm:ss", yamlfile.Quote(text))
	}
	return layout, nil
}

// listOf reads a list, each item that is wrong being reported in its line.
func listOf[T any](
	r yamlfile.Reader, n *yaml.Node, key, what string, read func(*yaml.Node) (T, error),
) (list []T, err error) {
	switch {
	case yamlfile.Open(n):
		return nil, errors.New("has no value: leave the key out, or write " + what +
			`; [""] is the empty cell`)
	case n.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("must be %s, not %s", what, yamlfile.Kind(n))
	}
	list = make([]T, len(n.Content))
	for i, node := range n.Content {
		if list[i], err = read(node); err != nil {
			r.Report(node.Line, fmt.Sprintf("%s: item %d %s", key, i+1, err))
		}
	}
	return list, nil
}

// read takes the value of a name.
func (w word) read(n *yaml.Node) error {
	text, err := yamlfile.Text(n)
	if err != nil {
		return err
	}
	v, ok := w.value(text)
	if !ok {
		return errors.New(w.unknown(text))
	}
	*w.to = v
	return nil
}

// boundOf gives a bound or an edge of a column whose kind and format are known, and 1 for a column
// that has none.
func (c *Column) boundOf(n *yaml.Node) (float64, error) {
	t := c.Kind.facts()
	switch {
	case !c.Kind.Ordered():
		return 1, nil // said later
	case t.layout == nil:
		x, err := yamlfile.Number(n)
		return x + 0, err // +0 makes 0 of -0
	}
	text, err := yamlfile.Text(n)
	if err != nil {
		return 0, err
	}
	format := cmp.Or(c.Format, t.format)
	x, ok := c.parseValue(text)
	switch {
	case !ok && format == "":
		err = fmt.Errorf("%s is not a %s", yamlfile.Quote(text), c.Kind)
	case !ok:
		err = fmt.Errorf("%s is not a %s in the format %s, which is %s", yamlfile.Quote(text), c.Kind,
			yamlfile.Quote(format), spelled(format))
	}
	return x, err
}

func (b binning) read(r yamlfile.Reader, n *yaml.Node) {
	fields := []field{{"count", &b.Bins}, {"spacing", word{spacingNames, (*uint8)(&b.Spacing)}},
		{"dp", &b.BuyBins}, {"share", &b.BuyShare}, {"grid", &b.Bins}}
	if n.Kind == yaml.SequenceNode {
		r.Report(n.Line, "bins: must be a whole number; their edges are listed in edges: [0, 18, 65], "+
			"in place of min, max and bins")
		return
	}
	if n.Kind != yaml.MappingNode {
		field{"bins", &b.Bins}.read(r, n, "", nil)
		return
	}
	number := &Column{Kind: Real} // as which a share is read
	nodes := readAll(r, n, "bins: ", number, fields)
	if nodes["dp"] != nil && nodes["count"] != nil {
		r.Report(nodes["count"].Line,
			"bins: dp and count are two ways to say how many; the cells to buy edges from are grid")
	} else if nodes["dp"] == nil && nodes["grid"] != nil {
		r.Report(nodes["grid"].Line, "bins: grid needs dp")
	} else if share := nodes["share"]; share != nil && b.BuyShare == 0 {
		if _, err := yamlfile.Number(share); err == nil {
			r.Report(share.Line, "bins: share must be above 0")
		}
	}
}

// text writes the value of a field of a filled, valid column, or of a made one, as it follows the
// key and the colon; "" if it says nothing.
func (f field) text(c *Column) string {
	switch at := f.at.(type) {
	case *string:
		if *at != "" {
			return " " + scalar(*at)
		}
	case *int:
		if *at != 0 {
			return " " + strconv.Itoa(*at)
		}
	case word:
		if *at.to != 0 {
			return " " + at.names.text(*at.to)
		}
	case *[]string:
		if len(*at) == 1 && slices.Contains(aloneKeys[1:], f.key) {
			return " " + scalar((*at)[0])
		}
		return f.list(each(*at, scalar))
	case *[]float64:
		return f.list(each(*at, c.bound))
	case *float64:
		if c.Kind.Ordered() && len(c.Edges) == 0 {
			return " " + c.bound(*at)
		}
	case binning:
		if c.Kind.Ordered() && len(c.Edges) == 0 {
			return " " + at.text()
		}
	case *Order:
		return fmt.Sprintf(" {by: %s, rows: %d}", scalar(at.By), at.Rows)
	case *map[string]string:
		text := ""
		for _, key := range slices.Sorted(maps.Keys(*at)) {
			text += "\n      " + scalar(key) + ": " + scalar((*at)[key])
		}
		return text
	}
	return ""
}

// list writes a short list in one line, a long one with a line an item.
func (f field) list(items []string) string {
	line := " [" + strings.Join(items, ", ") + "]"
	switch {
	case len(items) == 0:
		return ""
	case len(f.key)+len(line)+7 <= 120 || f.key == "of" || f.key == "less":
		return line
	}
	return "\n      - " + strings.Join(items, "\n      - ")
}

// text writes the bins of a filled column without edges.
func (b binning) text() string {
	var parts []string
	add := func(key, text string) { parts = append(parts, key+": "+text) }
	switch {
	case b.BuyBins > 0:
		add("dp", strconv.Itoa(b.BuyBins))
		if b.BuyShare > 0 {
			add("share", formatNumber(b.BuyShare))
		}
		add("grid", strconv.Itoa(b.Bins))
	case b.Spacing == Linear:
		return strconv.Itoa(b.Bins)
	default:
		add("count", strconv.Itoa(b.Bins))
	}
	if b.Spacing != Linear {
		add("spacing", b.Spacing.String())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// bound writes a bound or an edge as a scalar of the file.
func (c *Column) bound(x float64) string {
	if c.Kind.facts().layout != nil {
		return scalar(c.show(x))
	}
	return c.show(x)
}
