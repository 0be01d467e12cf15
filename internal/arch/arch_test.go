package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

const module = "github.com/decoy-dp/decoy"

// allowed lists, for each package, the packages of this module that it may import. A package that
// is not listed fails the test: the table is the map of the project, and the reviewer of a privacy
// claim relies on it.
var allowed = map[string][]string{
	"schema":            {"internal/spelling", "internal/yamlfile"},
	"table":             {"schema"},
	"noise":             {},
	"accountant":        {},
	"accountant/derive": {"accountant"},
	"accountant/pld":    {"accountant"},
	"ledger":            {"accountant", "internal/disk"},
	"bounds":            {"accountant"},
	"privacy": {
		"schema", "table", "noise", "accountant", "ledger", "internal/disk", "privacy/internal/access",
		"internal/engine",
	},
	"privacy/internal/access": {
		"schema", "table", "noise", "accountant", "internal/engine",
	},
	"privacy/internal/gatetest": {"schema", "table", "accountant", "internal/stattest"},
	"privacy/logistic": {
		"privacy", "privacy/internal/access", "table", "noise", "accountant",
	},
	"privacy/threshold": {
		"privacy", "privacy/internal/access", "table", "noise", "accountant",
	},
	"privacy/vote": {
		"privacy", "privacy/internal/access", "schema", "table", "noise", "accountant", "internal/disk",
	},
	"privacy/randomized": {"privacy", "privacy/internal/access", "noise", "accountant"},
	"privacy/shares": {
		"privacy", "privacy/internal/access", "privacy/internal/ellipsoid", "privacy/gradient", "noise",
		"accountant", "bounds",
	},
	"privacy/internal/ellipsoid": {
		"privacy", "privacy/internal/access", "schema", "table", "noise", "accountant", "bounds",
		"gan/critic", "internal/engine",
	},
	"privacy/internal/mechtest": {
		"privacy", "privacy/internal/gatetest", "accountant",
		"accountant/pld", "bounds", "gan/critic", "table", "internal/stattest",
	},
	"privacy/gradient": {
		"privacy", "privacy/internal/ellipsoid", "table", "noise", "accountant", "bounds", "gan/critic",
	},
	"privacy/linked": {"privacy", "privacy/internal/access", "schema", "table"},
	"privacy/text": {
		"privacy", "privacy/internal/access", "privacy/linked", "schema", "table", "noise", "accountant",
		"ledger", "internal/engine",
	},
	"marginal":   {"internal/kernels", "internal/matrix"},
	"gan":        {"gan/critic", "internal/kernels", "internal/matrix", "marginal"},
	"gan/critic": {"schema", "table", "bounds", "internal/kernels"},
	"workload":   {"internal/yamlfile", "schema", "table", "marginal"},
	"release": {
		"schema", "table", "accountant", "ledger",
		"accountant/derive", "privacy",
		"marginal", "gan",
		"workload",
	},
	"synth": {
		"schema", "table", "accountant", "accountant/pld", "privacy",
		"privacy/gradient", "privacy/linked", "privacy/text", "privacy/vote", "bounds",
		"marginal", "workload", "gan", "gan/critic",
		"internal/kernels", "internal/matrix", "release",
	},
	"configs": {
		"schema", "table", "accountant", "analysis", "ledger", "privacy",
		"privacy/text", "release", "synth", "datasets",
		"internal/disk", "internal/engine", "internal/engine/sql",
		"internal/spelling", "internal/yamlfile",
	},
	"synth/synthtest": {"schema", "table", "internal/stattest"},
	"eval":            {"schema", "table", "internal/matrix"},
	"eval/linked":     {"schema", "table", "eval"},
	"eval/report":     {"schema", "table", "eval", "eval/linked"},
	"attack": {
		"bounds", "schema", "table", "accountant", "accountant/pld", "privacy",
		"privacy/vote", "privacy/gradient", "privacy/logistic",
		"release", "synth",
		"eval",
	},
	"analysis": {
		"internal/spelling", "schema", "table", "accountant", "ledger",
		"marginal", "privacy",
		"privacy/logistic", "privacy/randomized", "privacy/text", "privacy/threshold",
		"privacy/vote", "eval", "release",
	},
	"party": {
		"internal/yamlfile",
		"schema", "accountant", "bounds", "marginal",
		"privacy", "privacy/gradient", "privacy/shares", "release", "synth",
	},
	"datasets":          {"internal/spelling", "schema", "table"},
	"internal/arch":     {},
	"internal/kernels":  {},
	"internal/matrix":   {"internal/kernels"},
	"internal/spelling": {},
	"internal/yamlfile": {"internal/spelling"},
	"internal/stattest": {},
	"internal/disk":     {},
	"internal/cmd/bench": {
		"schema", "table", "accountant", "privacy", "release", "synth",
		"analysis", "configs", "datasets", "eval", "eval/linked",
	},
	"internal/engine":       {"schema"},
	"internal/engine/sql":   {"internal/disk", "internal/engine", "schema"},
	"internal/engine/sums":  {"internal/engine", "gan/critic", "internal/kernels", "schema", "table"},
	"spark/worker":          {"internal/engine", "internal/engine/sums", "schema", "table"},
	"spark/driver":          {"internal/engine", "internal/engine/sql", "schema", "spark/worker"},
	"spark/cmd/decoy-spark": {"internal/engine", "spark/driver", "spark/worker"},
	"docs":                  {},
	"internal/serve": {"accountant", "configs", "internal/disk", "internal/spelling", "ledger",
		"schema"},
	"cmd/decoy": {
		"docs", "internal/serve", "internal/spelling", "internal/yamlfile",
		"schema", "table", "accountant",
		"accountant/pld",
		"ledger",
		"privacy",
		"release", "synth", "analysis", "configs",
		"datasets", "eval", "attack",
		"eval/linked", "eval/report", "party", "privacy/vote", "workload",
	},
}

// readers lists the files outside table that may call table.Read and its kind: everything else
// cannot open a table file, and so cannot get at private rows around the gate.
var readers = []string{
	"privacy/session.go",           // the gate
	"spark/worker/block.go",        // counts inside a task of Spark
	"privacy/text/text.go",         // the same, of texts
	"privacy/linked/read.go",       // of linked tables
	"datasets/table.go",            // the embedded, simulated tables
	"internal/cmd/bench/tables.go", // compares public tables
	"eval/linked/read.go",          // compares linked tables, for who may see every row
	"cmd/decoy/evaluate.go",        // compares tables without protection, and says so
	"cmd/decoy/predict.go",         // applies a classifier to rows, for who has them
}

// tools lists the packages that are not in the program, which write files as they like.
var tools = []string{"internal/cmd/bench"}

// changers are the functions of package os that change a folder or what a file holds.
var changers = []string{
	"Create", "CreateTemp", "OpenFile", "WriteFile", "CopyFS", "Rename", "Remove", "RemoveAll",
	"Mkdir", "MkdirAll", "MkdirTemp", "Truncate", "Link", "Symlink",
}

type file struct {
	path, pkg string
	ast       *ast.File
}

// sources parses every Go file that is not a test, in-process: a shelled-out go list would hide a
// new import behind the test cache.
func sources(t *testing.T) []file {
	t.Helper()
	root := stattest.Must(filepath.Abs("../.."))
	var out []file
	stattest.Check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
	}))
	if len(out) < 20 {
		t.Fatalf("found only %d files: the walk is broken", len(out))
	}
	return out
}

// core lists packages that use no reflection.
var core = []string{"privacy", "noise", "accountant", "bounds"}

// imports is what breaks the table of packages.
func imports(files []file) (broken []string) {
	for _, f := range files {
		may, ok := allowed[f.pkg]
		if !ok {
			broken = append(broken,
				fmt.Sprintf("%s: package %s is not in the table of packages", f.path, f.pkg))
			continue
		}
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if path == "unsafe" && f.pkg != "internal/kernels" ||
				path == "reflect" && slices.Contains(core, f.pkg) {
				broken = append(broken, fmt.Sprintf("%s imports %s", f.path, path))
			}
			rel, inside := strings.CutPrefix(path, module+"/")
			if inside && !slices.Contains(may, rel) {
				broken = append(broken, fmt.Sprintf("%s: %s must not import %s", f.path, f.pkg, rel))
			}
		}
	}
	return broken
}

// fileReads is every use of table.Read and its kind outside the files that may. The package may not
// be imported under another name, or the search would miss it.
func fileReads(files []file) (broken []string) {
	for _, f := range files {
		if f.pkg == "table" || slices.Contains(readers, f.path) {
			continue
		}
		for _, spec := range f.ast.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == module+"/table" && spec.Name != nil {
				broken = append(broken, fmt.Sprintf("%s imports table under another name", f.path))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				x, ok := sel.X.(*ast.Ident)
				name := sel.Sel.Name
				if ok && x.Name == "table" && strings.HasPrefix(name, "Read") && name != "ReadOptions" {
					broken = append(broken,
						fmt.Sprintf("%s calls table.%s; only %v may", f.path, name, readers))
				}
			}
			return true
		})
	}
	return broken
}

// fileWrites is every change of a file or folder around package internal/disk, where internal/kill
// stops the program.
func fileWrites(files []file) (broken []string) {
	for _, f := range files {
		if f.pkg == "internal/disk" || slices.Contains(tools, f.pkg) {
			continue
		}
		for _, spec := range f.ast.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == "os" && spec.Name != nil {
				broken = append(broken, fmt.Sprintf("%s imports os under another name", f.path))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(changers, n.Sel.Name) {
					broken = append(broken,
						fmt.Sprintf("%s uses os.%s; package internal/disk has it", f.path, n.Sel.Name))
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sync" && len(n.Args) == 0 {
					broken = append(broken, fmt.Sprintf("%s syncs a file; package internal/disk has it", f.path))
				}
			}
			return true
		})
	}
	return broken
}

func TestOnlyDiskWritesFiles(t *testing.T) {
	for _, b := range fileWrites(sources(t)) {
		t.Error(b)
	}
}

func TestImports(t *testing.T) {
	for _, b := range imports(sources(t)) {
		t.Error(b)
	}
}

func TestOnlyTheGateReadsPrivateFiles(t *testing.T) {
	for _, b := range fileReads(sources(t)) {
		t.Error(b)
	}
}

// TestTableHasNoGhosts keeps the table true: a package, an import or a file that is gone must go
// from it too.
func TestTableHasNoGhosts(t *testing.T) {
	packages, files, used := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for _, f := range sources(t) {
		packages[f.pkg], files[f.path] = true, true
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			used[[2]string{f.pkg, strings.TrimPrefix(path, module+"/")}] = true
		}
	}
	for pkg, may := range allowed {
		if !packages[pkg] {
			t.Errorf("package %s is in the table but not in the tree", pkg)
		}
		for _, below := range may {
			if !used[[2]string{pkg, below}] {
				t.Errorf("package %s may import %s, and does not", pkg, below)
			}
		}
	}
	for _, f := range readers {
		if !files[f] {
			t.Errorf("%s is a reader but not in the tree", f)
		}
	}
	for _, pkg := range tools {
		if !packages[pkg] {
			t.Errorf("%s is a tool but not in the tree", pkg)
		}
	}
}

// TestRulesCanFail runs the rules on sources that break them, and on one that keeps them.
func TestRulesCanFail(t *testing.T) {
	const inside = `import _ "github.com/decoy-dp/decoy/`
	tests := []struct {
		name, path, src        string
		imports, reads, writes int
	}{
		{"good", "release/x.go",
			`package release; import "github.com/decoy-dp/decoy/table"; var _ table.ReadOptions`, 0, 0, 0},
		{"post-processing sees the gate", "marginal/x.go",
			"package marginal; " + inside + "privacy\"", 1, 0, 0},
		{"unknown package", "sidedoor/x.go", `package sidedoor`, 1, 0, 0},
		{"unsafe", "privacy/x.go", `package privacy; import _ "unsafe"`, 1, 0, 0},
		{"reflection in the core", "noise/x.go", `package noise; import _ "reflect"`, 1, 0, 0},
		{"reads a file", "synth/x.go",
			`package synth; import "os"; var _ = table.ReadCSV`, 0, 1, 0},
		{"reads under another name", "release/x.go",
			`package release; import t "github.com/decoy-dp/decoy/table"; var _ = t.Read`, 0, 1, 0},
		{"renames a file", "release/x.go",
			`package release; import "os"; var _ = os.Rename("a", "b")`, 0, 0, 1},
		{"under another name", "release/x.go",
			`package release; import f "os"; var _ = f.Rename("a", "b")`, 0, 0, 1},
		{"syncs a file", "privacy/x.go",
			`package privacy; import "os"; func f(g *os.File) { g.Sync() }`, 0, 0, 1},
		{"the layer itself", "internal/disk/x.go",
			`package disk; import "os"; var _ = os.Remove("a")`, 0, 0, 0},
	}
	for _, tt := range tests {
		f, err := parser.ParseFile(token.NewFileSet(), tt.path, tt.src, parser.SkipObjectResolution)
		stattest.Check(t, err)
		files := []file{{path: tt.path, pkg: filepath.ToSlash(filepath.Dir(tt.path)), ast: f}}
		if got := imports(files); len(got) != tt.imports {
			t.Errorf("%s: import violations %q, want %d", tt.name, got, tt.imports)
		}
		if got := fileReads(files); len(got) != tt.reads {
			t.Errorf("%s: read violations %q, want %d", tt.name, got, tt.reads)
		}
		if got := fileWrites(files); len(got) != tt.writes {
			t.Errorf("%s: write violations %q, want %d", tt.name, got, tt.writes)
		}
	}
}
