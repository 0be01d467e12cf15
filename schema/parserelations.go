package schema

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// What is read here is not of one column of a model: made columns and rules.

// isMade reports whether a column of the file is of a kind of made columns.
func isMade(node *yaml.Node) bool {
	_, ok := madeNames.value(scalarOf(node, "kind"))
	return ok
}

// scalarOf gives the scalar of a key early, for what is said of the rest.
func scalarOf(node *yaml.Node, name string) string {
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if k, v := node.Content[i], node.Content[i+1]; k.Value == name && v.Kind == yaml.ScalarNode {
				return v.Value
			}
		}
	}
	return ""
}

// made reads item i of the list of columns, of a kind of made columns.
func (f *file) made(i int, node *yaml.Node) Made {
	m := Made{At: i, Name: scalarOf(node, "name")}
	kind, _ := madeNames.value(scalarOf(node, "kind"))
	m.Kind = madeKind(kind)
	allowed := []string{"name", "kind", "of", "on_invalid"}
	switch m.Kind {
	case ID:
		allowed = []string{"name", "kind", "pattern"}
	case madeLookup:
		allowed = append(allowed, "map")
	}
	values := f.reader(-1, "").Fields(node, "", allowed)
	read := func(key string, read func(n *yaml.Node) error) {
		if n := values[key]; n != nil {
			if err := read(n); err != nil {
				f.ps.addAt(n.Line, -1, "", "column %s: %s: %s", yamlfile.Quote(m.Name), key, err)
				f.broken.add(keyColumns)
			}
		}
	}
	read("pattern", func(n *yaml.Node) (err error) { m.Pattern, err = yamlfile.Text(n); return err })
	read("of", func(n *yaml.Node) (err error) {
		m.Of, err = textsOf(n)
		return err
	})
	read("on_invalid", func(n *yaml.Node) error {
		return policyNames.read((*uint8)(&m.OnInvalid), n)
	})
	read("map", func(n *yaml.Node) error {
		m.Map = map[string]string{}
		return pairsOf(n, func(key string, v *yaml.Node) (err error) {
			m.Map[key], err = yamlfile.Text(v)
			return err
		})
	})
	return m
}

// textsOf gives a text, or the texts of a list.
func textsOf(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode {
		text, err := yamlfile.Text(n)
		return []string{text}, err
	}
	list, wrong := listOf(n, "a text or a list of texts", "item", yamlfile.Text)
	if len(wrong) > 0 {
		return nil, errors.New(wrong[0].text)
	}
	return list, nil
}

// pairsOf calls do with the keys and values of a mapping whose keys may be anything.
func pairsOf(n *yaml.Node, do func(key string, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("must have keys and values, not %s", yamlfile.Kind(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := yamlfile.Text(n.Content[i])
		if err == nil && seen[key] {
			err = errors.New("is there twice")
		}
		if err == nil {
			err = do(key, n.Content[i+1])
		}
		if err != nil {
			return fmt.Errorf("%s %w", yamlfile.Quote(key), err)
		}
		seen[key] = true
	}
	return nil
}

// rules reads the value of the key rules.
func (f *file) rules(n *yaml.Node) (rules []Rule, err error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("must be a list, not %s", yamlfile.Kind(n))
	}
	for j, node := range n.Content {
		var x Rule
		values := f.reader(-1, "").Fields(node, "", []string{"when", "then"})
		for key, dst := range map[string]*[]Cells{"when": &x.When, "then": &x.Then} {
			if v := values[key]; v != nil {
				if *dst, err = f.cells(v); err != nil {
					return nil, fmt.Errorf("rule number %d: %s: %w", j+1, key, err)
				}
			}
		}
		rules = append(rules, x)
	}
	return rules, nil
}

// cells reads {sex: male, ward: [a, b], age: {from: 3, below: 12}}.
func (f *file) cells(n *yaml.Node) (list []Cells, err error) {
	err = pairsOf(n, func(column string, v *yaml.Node) (err error) {
		x := Cells{Column: column}
		if v.Kind != yaml.MappingNode {
			x.Values, err = textsOf(v)
		} else {
			values := f.reader(-1, "").Fields(v, "", []string{"from", "to", "below"})
			for key, dst := range map[string]*string{"from": &x.From, "to": &x.To, "below": &x.Below} {
				if v := values[key]; v != nil && err == nil {
					*dst, err = yamlfile.Text(v)
				}
			}
		}
		list = append(list, x)
		return err
	})
	return list, err
}
