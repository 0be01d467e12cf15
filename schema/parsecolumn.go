package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// columnKeys are the keys of a column in a file.
var columnKeys = []string{"name", "kind", "categories", "min", "max", "bins", "edges", "format",
	"missing", "on_invalid", "other", "decimals", "after"}

// column reads item i of the list of columns.
func (f *file) column(i int, node *yaml.Node) Column {
	f.columns = append(f.columns, columnNodes{node: node, fields: map[key]*yaml.Node{}})
	nodes := &f.columns[i]
	c := Column{Name: scalarOf(node, "name")}
	values := f.reader(i, c.Name).Fields(node, "", columnKeys)
	for k := keyName; k < keyNone; k++ {
		if n := values[k.String()]; n != nil && openKeys.has(k) && yamlfile.Open(n) {
			nodes.open.add(k)
		} else if n != nil {
			nodes.fields[k] = n
			nodes.given.add(k)
		}
	}
	if node.Kind != yaml.MappingNode {
		nodes.broken = ^keys(0) // nothing more to say of it
		return c
	}
	f.bins(i, &c)

	for k := keyName; k < keyNone; k++ {
		if k == keyMin && !c.Kind.Ordered() {
			break
		}
		if k == keyMin && nodes.broken.has(keyFormat) {
			nodes.broken |= 1<<keyMin | 1<<keyMax | 1<<keyEdges // there is no telling
			break
		}
		if n := nodes.fields[k]; n != nil && !nodes.broken.has(k) {
			for _, p := range c.read(k, n) {
				f.ps.addAt(p.line, i, c.Name, "%s: %s", k, p.text)
				nodes.broken.add(k)
			}
		}
	}
	return c
}

// bins takes apart bins: {count: 32, spacing: log} and bins: {dp: 16, share: 0.05, grid: 1024,
// spacing: log}.
func (f *file) bins(i int, c *Column) {
	nodes := &f.columns[i]
	n := nodes.fields[keyBins]
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	before := len(f.ps.found)
	values := f.reader(i, c.Name).Fields(n, "", []string{"count", "spacing", "dp", "share", "grid"})
	switch {
	case values["dp"] != nil && values["count"] != nil:
		f.ps.addAt(values["count"].Line, i, c.Name,
			"bins: dp and count are two ways to say how many; the cells to buy edges from are grid")
	case values["dp"] == nil && values["grid"] != nil:
		f.ps.addAt(values["grid"].Line, i, c.Name, "bins: grid needs dp")
	}
	if len(f.ps.found) > before {
		nodes.broken.add(keyBins)
	}
	delete(nodes.fields, keyBins)
	nodes.given &^= 1 << keyBins
	for text, k := range map[string]key{"count": keyBins, "grid": keyBins, "spacing": keySpacing,
		"dp": keyBuy, "share": keyShare} {
		if v := values[text]; v != nil {
			nodes.fields[k] = v
			nodes.given.add(k)
		}
	}
}

// read reads the value of a field, and says what is wrong with it. Bounds are
// read last, when kind and format are known.
func (c *Column) read(k key, n *yaml.Node) (wrong []problem) {
	var err error
	switch dst := c.field(k).(type) {
	case *string:
		if *dst, err = yamlfile.Text(n); err == nil && k == keyFormat && *dst != "" {
			layout, ok := Layout(*dst)
			if !ok {
				err = fmt.Errorf("%s is not understood: write it as DD/MM/YYYY, or as 2 January 2006, "+
					"15:04:05 is written in it: 02/01/2006", yamlfile.Quote(*dst))
			}
			*dst = layout
		}
	case *int:
		*dst, err = wholeOf(n)
	case *float64:
		if k == keyShare {
			*dst, err = yamlfile.Number(n)
		} else {
			*dst, err = c.boundOf(n)
		}
	case *Kind:
		if err = kindNames.read((*uint8)(dst), n); err != nil {
			all := names{what: "kind", texts: append(slices.Clone(kindNames.texts), madeNames.texts...)}
			err = all.read(new(uint8), n)
		}
	case *Policy:
		err = policyNames.read((*uint8)(dst), n)
	case *Spacing:
		err = spacingNames.read((*uint8)(dst), n)
	case *[]string:
		*dst, wrong = listOf(n, "a list of texts", "item", yamlfile.Text)
	case *[]float64:
		*dst, wrong = listOf(n, "a list", "number", c.boundOf)
	}
	if err != nil {
		wrong = append(wrong, problem{line: n.Line, text: err.Error()})
	}
	return wrong
}

// listOf reads a list, and says what is wrong with it.
func listOf[T any](
	n *yaml.Node, what, item string, read func(*yaml.Node) (T, error),
) (list []T, wrong []problem) {
	if yamlfile.Open(n) {
		return nil, []problem{{line: n.Line, text: "has no value: leave the key out, or write " + what +
			`; [""] is the empty cell`}}
	}
	if n.Kind != yaml.SequenceNode {
		return nil, []problem{{line: n.Line,
			text: fmt.Sprintf("must be %s, not %s", what, yamlfile.Kind(n))}}
	}
	for i, node := range n.Content {
		x, err := read(node)
		if err != nil {
			wrong = append(wrong, problem{line: node.Line, text: fmt.Sprintf("%s %d %s", item, i+1, err)})
		}
		list = append(list, x)
	}
	return list, wrong
}

// read takes the value of a name.
func (names names) read(dst *uint8, n *yaml.Node) error {
	text, err := yamlfile.Text(n)
	if err != nil {
		return err
	}
	v, ok := names.value(text)
	if !ok {
		return errors.New(names.unknown(text))
	}
	*dst = v
	return nil
}

// boundOf gives a bound or an edge of an ordered column whose kind and format are known.
func (c *Column) boundOf(n *yaml.Node) (float64, error) {
	t := c.Kind.facts()
	if !t.quoted() {
		x, err := yamlfile.Number(n)
		return x + 0, err // +0 makes 0 of -0
	}
	text, err := yamlfile.Text(n)
	if err != nil {
		return 0, err
	}
	format := cmp.Or(c.Format, t.format)
	x, ok := t.parse(format, []byte(text))
	switch {
	case !ok && format == "":
		return 0, fmt.Errorf("%s is not a %s", yamlfile.Quote(text), c.Kind)
	case !ok:
		return 0, fmt.Errorf("%s is not a %s in the format %s, which is %s", yamlfile.Quote(text), c.Kind,
			yamlfile.Quote(format), spelled(format))
	}
	return x, nil
}
