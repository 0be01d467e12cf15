package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// treeOf reads a file of JSON or YAML as the nodes that YAML has: keys in the order of the file,
// each once, and scalars as they are written.
func treeOf(data []byte, isYAML bool) (*yaml.Node, error) {
	root, what := &yaml.Node{}, "not a JSON object"
	if isYAML {
		what = "not a YAML mapping from columns to attributes"
		if yaml.NewDecoder(bytes.NewReader(data)).Decode(root) == nil {
			root = root.Content[0]
		}
	} else if json.Valid(data) {
		in := json.NewDecoder(bytes.NewReader(data))
		in.UseNumber()
		root = jsonNode(in)
	}
	if root.Kind != yaml.MappingNode {
		return nil, invalid("%s", what)
	}
	return root, once(root)
}

// jsonNode reads the next value of valid JSON.
func jsonNode(in *json.Decoder) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch t, _ := in.Token(); t := t.(type) {
	case nil:
		n.Tag = "!!null"
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if t == '{' {
			n.Kind = yaml.MappingNode
		}
		for in.More() {
			n.Content = append(n.Content, jsonNode(in))
		}
		_, _ = in.Token()
	default:
		n.Value = fmt.Sprint(t)
	}
	return n
}

// once refuses keys that are there twice.
func once(n *yaml.Node) error {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[child.Value] {
				return invalid("key %q is there twice", child.Value)
			}
			seen[child.Value] = true
		}
		if err := once(child); err != nil {
			return err
		}
	}
	return nil
}

// at is the value at the first of some paths that is there, and is not null; nil if there is none.
// A path is keys with points between them, of which * is the only key there is; paths have spaces
// between them.
func at(n *yaml.Node, paths string) *yaml.Node {
	for path := range strings.FieldsSeq(paths) {
		found := n
		for key := range strings.SplitSeq(path, ".") {
			found = member(found, key)
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// member is the value of a key, the last if several are inherited. A list of one is its item.
func member(n *yaml.Node, key string) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if k, v := n.Content[i], n.Content[i+1]; k.Value == key || key == "*" && len(n.Content) == 2 {
			if v.Tag == "!!null" {
				return nil
			}
			return v
		}
	}
	return nil
}

// text is a text, a number or a truth value at the first of the paths, as it is written; else "".
func text(n *yaml.Node, paths string) string {
	if n = at(n, paths); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// texts are those of one such value or a list of them; a list may name a value and its meaning in
// an object. null reports a null among them.
func texts(n *yaml.Node, paths string) (out []string, null bool) {
	n = at(n, paths)
	if n == nil {
		return nil, false
	}
	items := n.Content
	if n.Kind != yaml.SequenceNode {
		items = []*yaml.Node{n}
	}
	for _, item := range items {
		if value := member(item, "value"); value != nil {
			item = value
		}
		switch {
		case item.Tag == "!!null":
			null = true
		case item.Kind == yaml.ScalarNode:
			out = append(out, item.Value)
		}
	}
	return out, null
}

// entry is an item of a list, or a value of an object with its key.
type entry struct {
	name string
	node *yaml.Node
}

// entriesOf takes a list or an object apart. Items of a list have the name at a path. false for
// another value, and for a list of anything but objects.
func entriesOf(n *yaml.Node, name string) (out []entry, ok bool) {
	switch {
	case n == nil:
		return nil, true
	case n.Kind == yaml.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			out = append(out, entry{pair[0].Value, pair[1]})
		}
		return out, true
	case n.Kind != yaml.SequenceNode:
		return nil, false
	}
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			return nil, false
		}
		names, _ := texts(item, name)
		out = append(out, entry{strings.Join(names[:min(len(names), 1)], ""), item})
	}
	return out, true
}
