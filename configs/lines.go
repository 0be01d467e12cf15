package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// Place is where a key of a YAML document stands.
type Place struct {
	Line int
	Text string // of a value without structure, as it is written; "" of others
}

// Read gives v the content of a YAML document, and returns the place of each key, which Viper does
// not know: nested keys joined by dots, in lower case as Viper has them, items of a list by their
// number from 0. A key that is there twice, one with a dot, which could be mistaken for nested
// keys, and a second document are errors. They begin with ", line N" or ": ", to be put after the
// name of the file.
func Read(v *viper.Viper, document []byte) (map[string]Place, error) {
	places, err := placesOf(document)
	if err != nil {
		return nil, err
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(document)); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return places, nil
}

// maxKeys is how many wrong keys an error names.
const maxKeys = 3

func placesOf(document []byte) (map[string]Place, error) {
	var root, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(document))
	if err := d.Decode(&root); err == io.EOF {
		return map[string]Place{}, nil
	} else if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf(", line %d: a second document begins here (after ---), which would not "+
			"be read: one file is one document", more.Line)
	case err != io.EOF:
		return nil, fmt.Errorf(": %w", err)
	}
	places := map[string]Place{}
	var wrong []string
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		switch n.Kind {
		case yaml.DocumentNode:
			for _, c := range n.Content {
				walk(prefix, c)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				name, value := strings.ToLower(n.Content[i].Value), n.Content[i+1]
				key, line := prefix+name, n.Content[i].Line
				if first, there := places[key]; there {
					wrong = append(wrong, fmt.Sprintf(", line %d: key %q is in line %d already", line, key,
						first.Line))
					continue
				}
				if above, below, dotted := strings.Cut(name, "."); dotted {
					wrong = append(wrong, fmt.Sprintf(", line %d: key %q has a dot: write %s: {%s: ...}", line,
						name, above, below))
					continue
				}
				if value.Kind == yaml.AliasNode {
					value = value.Alias
				}
				places[key] = Place{Line: line, Text: value.Value}
				walk(key+".", value)
			}
		case yaml.SequenceNode:
			for i, c := range n.Content {
				key := fmt.Sprint(prefix, i)
				places[key] = Place{Line: c.Line, Text: c.Value}
				walk(key+".", c)
			}
		}
	}
	walk("", &root)
	if more := len(wrong) - maxKeys; more > 0 {
		wrong = append(wrong[:maxKeys], fmt.Sprintf("; and %d more", more))
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, ""))
	}
	return places, nil
}
