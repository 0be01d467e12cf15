package configs

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "write texts.json")

// TestTexts compares texts.json with the comments of the fields in the sources; with -args -write
// it writes the file.
func TestTexts(t *testing.T) {
	out := map[string]string{}
	for _, name := range []string{"job.go", "batch.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		check(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						text := strings.Fields(field.Doc.Text() + " " + field.Comment.Text())
						if name.IsExported() && len(text) > 0 {
							out[spec.Name.Name+"."+name.Name] = strings.Join(text, " ")
						}
					}
				}
			}
			return false
		})
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	check(t, enc.Encode(out))
	switch {
	case *write:
		check(t, os.WriteFile("texts.json", want.Bytes(), 0o644))
	case string(textsJSON) != want.String():
		t.Error("texts.json differs from the comments in the sources: run go generate ./configs")
	}
}
