package exchange

import (
	"bytes"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/schema"
)

// fromDPSynth reads a mapping from column to attribute. An attribute with possible_values is
// categorical, one with min_value and max_value numerical, one with default_value or
// public_possible_values an open set of texts; max_tokens is free text, which no schema can have.
func fromDPSynth(data []byte) (*Draft, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); err != nil ||
		len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, invalid("not a YAML mapping from columns to attributes")
	}
	d := &Draft{Notes: []string{"imported from a dpsynth domain"}}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		name, node := top.Content[i].Value, top.Content[i+1]
		if node.Kind != yaml.MappingNode || top.Content[i].Kind != yaml.ScalarNode {
			return nil, invalid("line %d: column %q is no attribute", top.Content[i].Line, name)
		}
		a, err := attributeOf(node)
		if err != nil {
			return nil, invalid("line %d: column %q: %v", node.Line, name, err)
		}
		c, note := a.column(name)
		if note != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("column %q: %s", name, note))
		}
		if c != nil {
			d.Columns = append(d.Columns, *c)
		}
	}
	return d, nil
}

// attribute is what a dpsynth file says of a column.
type attribute struct {
	keys            map[string]bool
	values          []string
	publicValues    []string
	outside         int
	min, max        float64
	edges           []float64
	dtype, unlisted string
	clip            bool
}

func attributeOf(node *yaml.Node) (*attribute, error) {
	a := &attribute{keys: map[string]bool{}, clip: true, unlisted: "<OOD>", dtype: "float"}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, v := node.Content[i].Value, node.Content[i+1]
		if a.keys[key] {
			return nil, fmt.Errorf("%s is there twice", key)
		}
		a.keys[key] = true
		var err error
		switch key {
		case "possible_values":
			a.values, err = texts(v)
		case "public_possible_values":
			a.publicValues, err = texts(v)
		case "default_value":
			a.unlisted = v.Value
		case "out_of_domain_index":
			a.outside, err = strconv.Atoi(v.Value)
		case "min_value":
			a.min, err = strconv.ParseFloat(v.Value, 64)
		case "max_value":
			a.max, err = strconv.ParseFloat(v.Value, 64)
		case "bin_edges":
			a.edges, err = numbers(v)
		case "dtype":
			a.dtype = v.Value
		case "clip_to_range":
			a.clip, err = strconv.ParseBool(v.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s has a value that cannot be", key)
		}
	}
	return a, nil
}

// texts is a list of scalars as they are written.
func texts(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("no list")
	}
	var out []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("no scalar")
		}
		out = append(out, item.Value)
	}
	return out, nil
}

func numbers(n *yaml.Node) ([]float64, error) {
	words, err := texts(n)
	var out []float64
	for _, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("no number")
		}
		out = append(out, x)
	}
	return out, err
}

// column is the attribute as a column; nil with a note if there can be none.
func (a *attribute) column(name string) (c *Column, note string) {
	c = &Column{Column: schema.Column{Name: name}}
	switch {
	case a.keys["possible_values"]:
		c.Kind, c.Categories = schema.Categorical, a.values
		if a.outside >= 0 && a.outside < len(a.values) {
			c.OnInvalid, c.Other = schema.Other, a.values[a.outside]
		}
		if len(a.values) == 0 {
			c.Open = "the categories"
		}
	case a.keys["min_value"] && a.keys["max_value"]:
		c.Kind, c.Min, c.Max, c.OnInvalid = schema.Real, a.min, a.max, schema.Clamp
		if a.dtype == "int" {
			c.Kind = schema.Integer
		}
		if len(a.edges) > 0 {
			c.Min, c.Max, c.Edges = 0, 0, a.edges
			note = "its bin_edges are its edges: values beyond them are clamped to them"
		}
		if !a.clip {
			c.Missing = []string{""}
			note = "values out of range are clamped; only cells that are no numbers are missing"
		}
	case a.keys["max_tokens"]:
		return nil, "left out: free text"
	case a.keys["default_value"] || a.keys["public_possible_values"] || len(a.keys) == 0:
		c.Kind, c.Categories, c.OnInvalid, c.Other = schema.Categorical, append([]string{a.unlisted},
			a.publicValues...), schema.Other, a.unlisted
		if len(a.publicValues) == 0 {
			c.Column = schema.Column{Name: name, Kind: schema.Categorical}
			c.Open = "the categories of an open set: write them, or buy them with decoy schema infer"
		}
	default:
		return nil, "left out: it has neither possible_values nor min_value and max_value"
	}
	return c, note
}
