// Package yamlfile reads the YAML files that people write, strictly: what would not be used, or
// means one thing here and another in other programs, is an error with its line. A file is one
// document of keys and values. Keys are those of a list or the yaml tags of a struct, in this
// spelling, each once. Texts are taken as they are written; numbers are decimal; there are no
// anchors, aliases and tags.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Problem is one thing that is wrong with a file. Its text may quote the file.
type Problem struct {
	Line int // 0: it is about the whole file
	Text string
}

func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// Document parses the one document of a file and gives the node of its keys and values. What names
// such a file ("a schema"), and example is a line of it; both are for the error. A file that has no
// keys is not quoted: it may be a private table that was named by mistake.
func Document(text []byte, what, example string) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF), err == nil && len(document.Content) != 1:
		return nil, &Problem{Text: "the file is empty"}
	case err != nil:
		return nil, syntaxProblem(err, text)
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		return nil, &Problem{next.Line, "a second YAML document starts here; " + what + " is one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxProblem(err, text)
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, &Problem{Text: "the file is empty"}
	case root.Kind != yaml.MappingNode:
		kind := "text"
		if root.Kind == yaml.SequenceNode {
			kind = Kind(root)
		}
		return nil, &Problem{root.Line, fmt.Sprintf("%s has keys and values, such as %s; this is %s",
			what, example, kind)}
	}
	return root, refused(root)
}

// syntaxProblem takes the line out of an error of the YAML package about text.
func syntaxProblem(err error, text []byte) *Problem {
	line, what := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(what, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, what = n, rest
		}
	}
	// The package counts lines from 1 in errors of its scanner, from 0 in these.
	switch rest, _ := strings.CutPrefix(what, "did not find expected "); rest {
	case "key", "node content", "'-' indicator", "',' or '}'", "',' or ']'", "<document start>":
		line++
	}
	number := 0
	for at := range bytes.Lines(text) {
		if number++; number == line && bytes.ContainsRune(at, '\t') {
			what += " (the line has a tab: YAML is indented with spaces)"
		}
	}
	return &Problem{line, "not YAML: " + what}
}

// refused finds anchors and aliases, with which a small file can mean a huge one, and tags. nil if
// there are none.
func refused(n *yaml.Node) *Problem {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return &Problem{n.Line, "anchors and aliases are not allowed"}
	case n.Style&yaml.TaggedStyle != 0:
		return &Problem{n.Line, "tags (" + Quote(n.Tag) + ") are not allowed"}
	}
	for _, child := range n.Content {
		if p := refused(child); p != nil {
			return p
		}
	}
	return nil
}
