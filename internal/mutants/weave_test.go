package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// edit replaces a text that occurs exactly once in a file.
type edit struct{ file, old, new string }

// switchName is the environment variable that holds the name of the mutant in force.
const switchName = "MUTANT_IN_FORCE"

// weave writes changed sources to dir and returns the file for "go build -overlay". One program
// then is every mutant: a function that mutants change begins with a copy of its body for each,
// which runs where the environment names that mutant. alone are the mutants that cannot be one
// of many: those that change more than bodies of functions.
//
//	func F(x int) int {
//		if mutantInForce == "halved x" {
//			return x / 2
//		}
//		return x
//	}
func weave(
	root, dir string, mutants map[string][]edit,
) (overlay string, alone []string, err error) {
	type body struct {
		file     string
		from, to int
	}
	copies := map[body]map[string]string{} // of bodies, by the names of mutants
	sources, packages := map[string][]byte{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(mutants)) {
		own := map[body]string{}
		for _, e := range mutants[name] {
			src := sources[e.file]
			if src == nil {
				src, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
				if err != nil {
					return "", nil, err
				}
				sources[e.file] = src
			}
			tree, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
			if err != nil {
				return "", nil, err
			}
			packages[filepath.Dir(e.file)] = tree.Name.Name
			f, void := around(tree, bytes.Index(src, []byte(e.old)), len(e.old))
			if f == nil {
				own = nil
				break
			}
			b := body{e.file, int(f.Lbrace), int(f.Rbrace) - 1}
			text, ok := own[b]
			if !ok {
				if text = string(src[b.from:b.to]); void {
					text += "\nreturn\n"
				}
			}
			own[b] = strings.Replace(text, e.old, e.new, 1)
		}
		if own == nil {
			alone = append(alone, name)
		}
		for b, text := range own {
			if copies[b] == nil {
				copies[b] = map[string]string{}
			}
			copies[b][name] = text
		}
	}
	replace := map[string]string{}
	write := func(file, text string) error {
		path := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[filepath.Join(root, filepath.FromSlash(file))] = path
		return os.WriteFile(path, []byte(text), 0o600)
	}
	for file, src := range sources {
		text, from := "", 0
		var bodies []body
		for b := range copies {
			if b.file == file {
				bodies = append(bodies, b)
			}
		}
		slices.SortFunc(bodies, func(a, b body) int { return a.from - b.from })
		for _, b := range bodies {
			text += string(src[from:b.from])
			for _, name := range slices.Sorted(maps.Keys(copies[b])) {
				text += fmt.Sprintf("\nif mutantInForce == %q {\n//line %s:1\n%s}\n", name, name,
					copies[b][name])
			}
			text += fmt.Sprintf("\n//line %s:%d\n", filepath.Base(file),
				1+bytes.Count(src[:b.from], []byte("\n")))
			from = b.from
		}
		if err := write(file, text+string(src[from:])); err != nil {
			return "", nil, err
		}
	}
	for folder, name := range packages {
		err := write(folder+"/mutant_in_force.go", fmt.Sprintf(
			"package %s\n\nimport \"os\"\n\nvar mutantInForce = os.Getenv(%q)\n", name, switchName))
		if err != nil {
			return "", nil, err
		}
	}
	overlay, err = overlayOf(dir, replace)
	return overlay, alone, err
}

// around is the body of the function that holds n bytes of a file, and whether it has no results;
// nil: none does, or one with labels, of which there cannot be two.
func around(file *ast.File, at, n int) (body *ast.BlockStmt, void bool) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || at < int(f.Body.Lbrace) || at+n >= int(f.Body.Rbrace) {
			continue
		}
		body = f.Body
		ast.Inspect(f, func(x ast.Node) bool {
			if _, ok := x.(*ast.LabeledStmt); ok {
				body = nil
			}
			return true
		})
		return body, f.Type.Results == nil
	}
	return nil, false
}

// overlayOf writes the file for "go build -overlay": a copy in place of each source.
func overlayOf(dir string, replace map[string]string) (string, error) {
	list := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	return list, os.WriteFile(list, text, 0o600)
}
