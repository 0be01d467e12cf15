package configs

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lines gives the line of each key of a YAML document, which Viper does not know: nested keys
// joined by dots, in lower case as Viper has them, items of a list by their number from 0. A
// document that is no YAML has none.
func Lines(document []byte) map[string]int {
	lines := map[string]int{}
	var root yaml.Node
	if yaml.Unmarshal(document, &root) != nil {
		return lines
	}
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		switch n.Kind {
		case yaml.DocumentNode:
			for _, c := range n.Content {
				walk(prefix, c)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := prefix + strings.ToLower(n.Content[i].Value)
				lines[key] = n.Content[i].Line
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
	return lines
}
