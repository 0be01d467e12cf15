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
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ReadFile reads a file, of which it is enough to see that it has more than most bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// Document parses the one document of a file and gives the node of its keys and values; nil after a
// problem, whose line may be 0: that of the whole file. What names such a file ("a schema"), and
// example is a line of it, for the errors. A file that has no keys is not quoted: it may be a
// private table that was named by mistake.
func (r Reader) Document(text []byte, what, example string) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	err := decoder.Decode(&document)
	second := io.EOF
	if err == nil {
		second = decoder.Decode(&next)
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && len(document.Content) != 1:
		r.Report(0, "the file is empty")
	case err != nil:
		r.syntax(err, text)
	case second == nil:
		r.Report(next.Line, "a second YAML document starts here; "+what+" is one")
	case !errors.Is(second, io.EOF):
		r.syntax(second, text)
	case null(document.Content[0]):
		r.Report(0, "the file is empty")
	case document.Content[0].Kind != yaml.MappingNode:
		n, kind := document.Content[0], "text"
		if n.Kind == yaml.SequenceNode {
			kind = Kind(n)
		}
		r.Report(n.Line,
			fmt.Sprintf("%s has keys and values, such as %s; this is %s", what, example, kind))
	default:
		if at, what := refused(document.Content[0]); at != nil {
			r.Report(at.Line, what+" are not allowed")
			return nil
		}
		return document.Content[0]
	}
	return nil
}

// syntax reports an error of the YAML package about text, with its line.
func (r Reader) syntax(err error, text []byte) {
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
	lines := bytes.Split(text, []byte("\n"))
	if line == 0 { // of bytes that are no text, which the package does not place
		line = 1 + slices.IndexFunc(lines, func(line []byte) bool {
			return !utf8.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool {
				return unicode.IsControl(r) && r != '\t' && r != '\r' && r != 0x85
			})
		})
		if strings.HasPrefix(what, "control") {
			what += ": write the line anew (of what is pasted, some characters cannot be seen)"
		} else if strings.Contains(what, "UTF-8") {
			what += ": save the file in UTF-8"
		}
	}
	if line > 0 && line <= len(lines) && bytes.ContainsRune(lines[line-1], '\t') {
		what += " (the line has a tab: YAML is indented with spaces)"
	}
	r.Report(line, "not YAML: "+what)
}

// refused finds anchors and aliases, with which a small file can mean a huge one, and tags. nil if
// there are none.
func refused(n *yaml.Node) (at *yaml.Node, what string) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return n, "anchors and aliases"
	case n.Style&yaml.TaggedStyle != 0:
		return n, "tags (" + Quote(n.Tag) + ")"
	}
	for _, child := range n.Content {
		if at, what = refused(child); at != nil {
			break
		}
	}
	return at, what
}

// At is a problem with its line, if it has one.
func At(line int, text string) string {
	if line == 0 {
		return text
	}
	return fmt.Sprintf("line %d: %s", line, text)
}
