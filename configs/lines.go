package configs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// Read gives v the content of a YAML document, and returns the line of each key, which Viper does
// not know: nested keys joined by dots, in lower case as Viper has them, items of a list by their
// number from 0. A key that is there twice is an error. Its errors begin with ", line N" or ": ",
// to be put after the name of the file.
func Read(v *viper.Viper, document []byte) (map[string]int, error) {
	lines, err := linesOf(document)
	if err != nil {
		return nil, err
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(document)); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return lines, nil
}

// maxTwice is how many keys that are there twice an error names.
const maxTwice = 3

func linesOf(document []byte) (map[string]int, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	lines := map[string]int{}
	var twice []string
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		switch n.Kind {
		case yaml.DocumentNode:
			for _, c := range n.Content {
				walk(prefix, c)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				key, line := prefix+strings.ToLower(n.Content[i].Value), n.Content[i].Line
				if first, there := lines[key]; there {
					twice = append(twice, fmt.Sprintf(", line %d: key %q is in line %d already", line, key, first))
					continue
				}
				lines[key] = line
				walk(key+".", n.Content[i+1])
			}
		case yaml.SequenceNode:
			for i, c := range n.Content {
				key := fmt.Sprint(prefix, i)
				lines[key] = c.Line
				walk(key+".", c)
			}
		}
	}
	walk("", &root)
	if more := len(twice) - maxTwice; more > 0 {
		twice = append(twice[:maxTwice], fmt.Sprintf("; and %d more", more))
	}
	if len(twice) > 0 {
		return nil, errors.New(strings.Join(twice, ""))
	}
	return lines, nil
}
