package schema

import (
	"cmp"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// columnKeys are the keys of a column in a file.
var columnKeys = []string{"name", "kind", "categories", "min", "max", "bins", "edges", "format",
	"missing", "on_invalid", "other", "decimals"}

// column reads item i of the list of columns.
func (f *file) column(i int, node *yaml.Node) Column {
	f.columns = append(f.columns, columnNodes{node: node, fields: map[key]*yaml.Node{}})
	nodes := &f.columns[i]
	c := Column{Name: columnName(node)}
	values := f.entries(node, i, c.Name, columnKeys...)
	for k := keyName; k < keyNone; k++ {
		if n := values[k.String()]; n != nil {
			nodes.fields[k] = n
			nodes.given.add(k)
		}
	}
	if node.Kind != yaml.MappingNode {
		nodes.broken = ^keys(0) // nothing more to say of it
		return c
	}
	f.bins(i, &c)

	// read reports what is wrong with the value of a key, and breaks it.
	read := func(k key, read func(n *yaml.Node) error) {
		if n := nodes.fields[k]; n != nil && !nodes.broken.has(k) {
			if err := read(n); err != nil {
				f.ps.addAt(n.Line, i, c.Name, "%s: %s", k, err)
				nodes.broken.add(k)
			}
		}
	}
	text := func(k key, dst *string) {
		read(k, func(n *yaml.Node) (err error) { *dst, err = textOf(n); return err })
	}
	whole := func(k key, dst *int) {
		read(k, func(n *yaml.Node) (err error) { *dst, err = wholeOf(n); return err })
	}
	named := func(k key, dst *uint8, from names) {
		read(k, func(n *yaml.Node) error {
			text, err := textOf(n)
			if err != nil {
				return err
			}
			v, ok := from.value(text)
			if !ok {
				return errors.New(from.unknown(text))
			}
			*dst = v
			return nil
		})
	}
	text(keyName, &c.Name)
	named(keyKind, (*uint8)(&c.Kind), kindNames)
	named(keyOnInvalid, (*uint8)(&c.OnInvalid), policyNames)
	named(keySpacing, (*uint8)(&c.Spacing), spacingNames)
	text(keyFormat, &c.Format)
	text(keyOther, &c.Other)
	whole(keyBins, &c.Bins)
	whole(keyDecimals, &c.Decimals)
	whole(keyBuy, &c.BuyBins)
	read(keyShare, func(n *yaml.Node) error {
		text, err := plainOf(n)
		if x, ok := parseNumber([]byte(text)); ok {
			c.BuyShare = x
		} else if err == nil {
			err = fmt.Errorf("must be a number, not %s", quote(text))
		}
		return err
	})
	f.texts(i, &c, keyCategories, &c.Categories)
	f.texts(i, &c, keyMissing, &c.Missing)

	if c.Kind.Ordered() && nodes.broken.has(keyFormat) {
		nodes.broken |= 1<<keyMin | 1<<keyMax | 1<<keyEdges // there is no telling
	} else if c.Kind.Ordered() {
		f.bounds(i, &c, read)
	}
	return c
}

// columnName gives the name of a column early, for what is said of the rest.
func columnName(node *yaml.Node) string {
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if k, v := node.Content[i], node.Content[i+1]; k.Value == "name" && v.Kind == yaml.ScalarNode {
				return v.Value
			}
		}
	}
	return ""
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
	values := f.entries(n, i, c.Name, "count", "spacing", "dp", "share", "grid")
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

// texts reads a list of texts.
func (f *file) texts(i int, c *Column, k key, dst *[]string) {
	nodes := &f.columns[i]
	n := nodes.fields[k]
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		f.ps.addAt(n.Line, i, c.Name, "%s: must be a list of texts, not %s", k, kindOf(n))
		nodes.broken.add(k)
		return
	}
	if len(n.Content) > 0 {
		*dst = make([]string, 0, len(n.Content))
	}
	for j, item := range n.Content {
		text, err := textOf(item)
		if err != nil {
			f.ps.addAt(item.Line, i, c.Name, "%s: item %d %s", k, j+1, err)
			nodes.broken.add(k)
		}
		*dst = append(*dst, text)
	}
}

// bounds reads min, max and edges of a numeric column whose kind and format are known.
func (f *file) bounds(i int, c *Column, read func(key, func(*yaml.Node) error)) {
	read(keyMin, func(n *yaml.Node) (err error) { c.Min, err = c.numberOf(n); return err })
	read(keyMax, func(n *yaml.Node) (err error) { c.Max, err = c.numberOf(n); return err })
	nodes := &f.columns[i]
	n := nodes.fields[keyEdges]
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		f.ps.addAt(n.Line, i, c.Name, "edges: must be a list, not %s", kindOf(n))
		nodes.broken.add(keyEdges)
		return
	}
	for j, item := range n.Content {
		x, err := c.numberOf(item)
		if err != nil {
			f.ps.addAt(item.Line, i, c.Name, "edges: number %d %s", j+1, err)
			nodes.broken.add(keyEdges)
		}
		c.Edges = append(c.Edges, x)
	}
}

// numberOf gives a bound or an edge of a numeric column whose kind and format are known.
func (c *Column) numberOf(n *yaml.Node) (float64, error) {
	t := c.Kind.traits()
	if t.format != "" {
		text, err := textOf(n)
		if err != nil {
			return 0, err
		}
		format := cmp.Or(c.Format, t.format)
		x, ok := c.Kind.ordered().parse(format, []byte(text))
		if !ok {
			return 0, fmt.Errorf("%s is not a %s in the format %s", quote(text), c.Kind, quote(format))
		}
		return x, nil
	}
	text, err := plainOf(n)
	if err != nil {
		return 0, err
	}
	x, ok := parseNumber([]byte(text))
	if !ok {
		return 0, fmt.Errorf("must be a number, not %s", quote(text))
	}
	return x + 0, nil // +0 makes 0 of -0
}
