package arch

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var write = flag.Bool("write", false, "write the hashes into docs/claims instead of comparing them")

// codeSection begins the last section of a claim page.
const codeSection = "\n**Code.** "

// codeLine is a line of that section: a declaration and the hash of its source.
var codeLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([0-9a-f]*)` \\|$")

// TestClaimCode compares the sources of the functions that each claim page is about, as the
// page has their hashes, with the sources as they are. When it fails, read the page beside the new
// code, correct either, and then write the hashes:
//
//	go test ./internal/arch -run TestClaimCode -args -write
func TestClaimCode(t *testing.T) {
	hashes := hashesOf(t)
	pages, err := filepath.Glob("../../docs/claims/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		text := stattest.Must(os.ReadFile(page))
		before, code, found := strings.Cut(string(text), codeSection)
		if !found || strings.Contains(code, "\n**") {
			t.Errorf("%s: the last section is not%s", name, codeSection)
			continue
		}
		lines := codeLine.FindAllStringSubmatch(code, -1)
		if len(lines) == 0 || len(lines) != strings.Count(code, "\n| ")-2 {
			t.Errorf("%s names no functions, or not in lines of | `function` | `hash` |", name)
		}
		for _, l := range lines {
			switch now := hashes[l[1]]; {
			case now == "":
				t.Errorf("%s names %s, which does not exist", name, l[1])
			case now != l[2] && !*write:
				t.Errorf("%s is about another %s: read both, then write the hashes", name, l[1])
			}
		}
		if !*write {
			continue
		}
		code = codeLine.ReplaceAllStringFunc(code, func(line string) string {
			of := codeLine.FindStringSubmatch(line)[1]
			return fmt.Sprintf("| `%s` | `%s` |", of, hashes[of])
		})
		stattest.Check(t, os.WriteFile(page, []byte(before+codeSection+code), 0o644))
	}
}

// hashesOf is the hash of every declaration, named by package, receiver and name, such as
// privacy.session.Total. Where build tags choose among several, it is that of all.
func hashesOf(t *testing.T) map[string]string {
	t.Helper()
	text := map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" ||
			strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution) // without comments
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for name, node := range declared(f) {
			text[filepath.ToSlash(dir)+"."+name] += printed(t, files, node)
		}
		return nil
	})
	stattest.Check(t, err)
	for name, source := range text {
		text[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(source)))[:12]
	}
	return text
}

// declared is the functions, types, constants and variables of a file, by name.
func declared(f *ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			out[name] = d
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out[s.Name.Name] = s
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out[n.Name] = s
					}
				}
			}
		}
	}
	return out
}

// receiver is the name of a receiver's type, without pointer and parameters.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	}
	return x.(*ast.Ident).Name
}

// printed is the source as go/printer has it, with no alignment and no empty lines, which comments
// would decide.
func printed(t *testing.T, files *token.FileSet, node ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	stattest.Check(t, (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, files, node))
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(line)
		}
	}
	return out.String()
}

// TestHashesAreOfCode: comments, empty lines and alignment do not change a hash; a constant does.
func TestHashesAreOfCode(t *testing.T) {
	hash := func(source string) string {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, "x.go", "package x\n"+source, parser.SkipObjectResolution)
		stattest.Check(t, err)
		return printed(t, files, declared(f)["t.F"])
	}
	const start = "func (a *t[Q]) F() int {\n\tx := 1\n\tlong := []int{\n\t\t1,\n\t\t22,\n\t}\n"
	plain := hash(start + "\treturn x * 2\n}")
	for _, same := range []string{
		"// F.\nfunc (a *t[Q]) F() int {\n\t// why\n\tx := 1 // one\n\n" +
			"\tlong := []int{\n\t\t1, // a\n\n\t\t// b\n\t\t22,\n\t}\n\treturn x * 2\n}",
		"func (a *t[Q]) F() int {\n\tx   :=   1\n\tlong := []int{\n\t\t1,\n\t\t22,\n\t}\n\treturn x*2\n}",
	} {
		if hash(same) != plain {
			t.Errorf("comments or spaces count:\n%q\n%q", hash(same), plain)
		}
	}
	if hash(start+"\treturn x * 3\n}") == plain {
		t.Error("a changed constant does not count")
	}
}
