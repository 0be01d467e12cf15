package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/decoy-dp/decoy"

// allowed lists, for each package, the packages of this module that it may import. A package that is not listed fails the test: the
// table is the map of the project, and the reviewer of a privacy claim relies on it.
var allowed = map[string][]string{
	"schema":                         {},
	"table":                          {"schema"},
	"noise":                          {},
	"accountant":                     {},
	"bounds":                         {"schema", "accountant"},
	"privacy":                        {"schema", "table", "noise", "accountant"},
	"marginal":                       {"schema", "table"},
	"gan":                            {"schema", "table", "bounds", "internal/kernels"},
	"release":                        {"schema", "table", "accountant", "marginal"},
	"synth":                          {"schema", "accountant", "privacy", "release"},
	"synth/mst":                      {"synth", "privacy", "release", "marginal", "accountant", "schema"},
	"synth/all":                      {"synth", "synth/mst"},
	"synth/synthtest":                {"synth", "privacy", "release", "accountant", "schema", "table"},
	"eval":                           {"schema", "table"},
	"datasets":                       {"schema", "table"},
	"datasets/internal/cohort":       {},
	"datasets/internal/cohort/write": {"datasets/internal/cohort"},
	"internal/arch":                  {},
	"internal/stattest":              {},
	"internal/atomicfile":            {},
	"internal/margerror":             {"schema", "table"},
	"internal/cmd/synthbench":        {"schema", "table", "accountant", "privacy", "synth", "synth/all", "internal/margerror"},
	"cmd/decoy":                      {"schema", "table", "accountant", "privacy", "release", "synth", "synth/all", "datasets", "internal/atomicfile"},
}

// readers lists the files outside table that may call table.Read and its kind: everything else cannot open a table file, and so
// cannot get at private rows around the gate.
var readers = []string{
	"privacy/rows.go",               // the gate
	"datasets/table.go",             // the embedded, simulated tables
	"internal/cmd/mstbench/main.go", // compares public tables
}

type file struct {
	path, pkg string
	ast       *ast.File
}

// sources parses every Go file that is not a test, in-process: a shelled-out go list would hide a new import behind the test cache.
func sources(t *testing.T) []file {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		out = append(out, file{path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), ast: f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found only %d files: the walk is broken", len(out))
	}
	return out
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		may, ok := allowed[f.pkg]
		if !ok {
			t.Errorf("%s: package %s is not in the table of packages", f.path, f.pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "unsafe" || path == "reflect" && slices.Contains([]string{"privacy", "noise", "accountant"}, f.pkg) {
				t.Errorf("%s imports %s", f.path, path)
			}
			rel, inside := strings.CutPrefix(path, module+"/")
			if inside && !slices.Contains(may, rel) {
				t.Errorf("%s: %s must not import %s", f.path, f.pkg, rel)
			}
		}
	}
}

// TestTableHasNoGhosts keeps the table true: a package that is gone must go from it too.
func TestTableHasNoGhosts(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sources(t) {
		seen[f.pkg] = true
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("package %s is in the table but not in the tree", pkg)
		}
	}
}

func TestOnlyTheGateReadsPrivateFiles(t *testing.T) {
	for _, f := range sources(t) {
		if f.pkg == "table" || slices.Contains(readers, f.path) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "table" && strings.HasPrefix(sel.Sel.Name, "Read") && sel.Sel.Name != "ReadOptions" {
				t.Errorf("%s calls table.%s; only %v may", f.path, sel.Sel.Name, readers)
			}
			return true
		})
	}
}

// TestRulesCanFail runs the two rules on sources that break them.
func TestRulesCanFail(t *testing.T) {
	if slices.Contains(allowed["marginal"], "privacy") || slices.Contains(allowed["release"], "privacy") {
		t.Error("marginal and release must not see the gate")
	}
	for _, pkg := range []string{"schema", "noise", "accountant"} {
		if len(allowed[pkg]) != 0 {
			t.Errorf("%s must import nothing of the module", pkg)
		}
	}
}
