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
	"data/schema":               {"internal/spelling", "internal/yamlfile"},
	"data/table":                {"data/schema"},
	"noise":                     {},
	"privacy/accountant":        {},
	"privacy/accountant/derive": {"privacy/accountant"},
	"privacy/accountant/pld":    {"privacy/accountant"},
	"privacy/ledger":            {"privacy/accountant", "internal/disk"},
	"bounds":                    {"privacy/accountant"},
	"privacy": {
		"data/schema", "data/table", "noise", "privacy/accountant", "privacy/ledger",
		"internal/disk", "privacy/internal/access",
		"data/engine",
	},
	"privacy/internal/access": {
		"data/schema", "data/table", "noise", "privacy/accountant", "data/engine",
	},
	"privacy/internal/gatetest": {
		"data/schema", "data/table", "privacy/accountant", "internal/stattest",
	},
	"privacy/mech/logistic": {
		"privacy", "privacy/internal/access", "data/table", "noise", "privacy/accountant",
	},
	"privacy/mech/threshold": {
		"privacy", "privacy/internal/access", "data/table", "noise", "privacy/accountant",
	},
	"privacy/mech/vote": {
		"privacy", "privacy/internal/access", "data/schema", "data/table", "noise",
		"privacy/accountant", "internal/disk",
	},
	"privacy/mech/randomized": {"privacy", "privacy/internal/access", "noise", "privacy/accountant"},
	"privacy/mech/shares": {
		"privacy", "privacy/internal/access", "privacy/internal/ellipsoid",
		"privacy/mech/gradient", "noise",
		"privacy/accountant", "bounds",
	},
	"privacy/internal/ellipsoid": {
		"privacy", "privacy/internal/access", "data/schema", "data/table", "noise",
		"privacy/accountant", "bounds",
		"gan/critic", "data/engine",
	},
	"privacy/internal/mechtest": {
		"privacy", "privacy/internal/gatetest", "privacy/accountant",
		"privacy/accountant/pld", "bounds", "gan/critic", "data/table", "internal/stattest",
	},
	"privacy/mech/gradient": {
		"privacy", "privacy/internal/ellipsoid", "data/table", "noise", "privacy/accountant",
		"bounds", "gan/critic",
	},
	"privacy/mech/linked": {"privacy", "privacy/internal/access", "data/schema", "data/table"},
	"privacy/mech/text": {
		"privacy", "privacy/internal/access", "privacy/mech/linked", "data/schema",
		"data/table", "noise", "privacy/accountant",
		"privacy/ledger", "data/engine",
	},
	"model/marginal": {"internal/kernels", "internal/matrix"},
	"gan":            {"gan/critic", "internal/kernels", "internal/matrix", "model/marginal"},
	"gan/critic":     {"data/schema", "data/table", "bounds", "internal/kernels"},
	"model/workload": {"internal/yamlfile", "data/schema", "data/table", "model/marginal"},
	"model/release": {
		"data/schema", "data/table", "privacy/accountant", "privacy/ledger",
		"privacy/accountant/derive", "privacy",
		"model/marginal", "gan",
		"model/workload",
	},
	"synth": {
		"data/schema", "data/table", "privacy/accountant", "privacy/accountant/pld", "privacy",
		"privacy/mech/gradient", "privacy/mech/text",
		"privacy/mech/vote", "bounds",
		"model/marginal", "model/workload", "gan", "gan/critic",
		"internal/kernels", "internal/matrix", "model/release",
	},
	"configs": {
		"data/schema", "data/table", "privacy/accountant", "infer", "privacy/ledger", "privacy",
		"privacy/mech/linked", "privacy/mech/text", "model/release", "synth", "datasets",
		"internal/disk", "data/engine", "data/engine/sql",
		"internal/spelling", "internal/yamlfile",
	},
	".": {
		"configs", "data/schema", "eval/report", "model/release", "privacy/accountant",
		"privacy/accountant/pld", "privacy/ledger", "synth",
	},
	"synth/synthtest": {"data/schema", "data/table", "internal/stattest"},
	"eval":            {"data/schema", "data/table", "internal/matrix"},
	"eval/linked":     {"data/schema", "data/table", "eval"},
	"eval/report":     {"data/schema", "data/table", "eval", "eval/linked"},
	"eval/attack": {
		"bounds", "data/schema", "data/table", "privacy/accountant", "privacy/accountant/pld", "privacy",
		"privacy/mech/vote", "privacy/mech/gradient", "privacy/mech/logistic",
		"model/release", "synth",
		"eval",
	},
	"infer": {
		"internal/spelling", "data/schema", "privacy/accountant", "privacy/ledger", "model/marginal",
		"privacy", "privacy/mech/text", "model/release",
	},
	"stats": {
		"data/schema", "data/table", "privacy/accountant", "privacy/ledger",
		"model/marginal", "privacy",
		"privacy/mech/logistic", "privacy/mech/randomized", "privacy/mech/threshold",
		"privacy/mech/vote", "eval", "model/release",
	},
	"stats/party": {
		"internal/yamlfile",
		"data/schema", "privacy/accountant", "bounds", "model/marginal",
		"privacy", "privacy/mech/gradient", "privacy/mech/shares", "model/release", "synth",
	},
	"datasets":          {"internal/spelling", "data/schema", "data/table"},
	"internal/arch":     {},
	"internal/kernels":  {},
	"internal/matrix":   {"internal/kernels"},
	"internal/spelling": {},
	"internal/yamlfile": {"internal/spelling"},
	"internal/stattest": {},
	"internal/disk":     {},
	"cmd/bench": {
		"data/schema", "data/table", "privacy/accountant", "privacy", "model/release", "synth",
		"stats", "configs", "datasets", "eval", "eval/linked", "privacy/mech/linked",
	},
	"data/engine":     {"data/schema"},
	"data/engine/sql": {"internal/disk", "data/engine", "data/schema"},
	"data/engine/sums": {
		"data/engine", "gan/critic", "internal/kernels", "data/schema", "data/table",
	},
	"data/spark/worker": {"data/engine", "data/engine/sums", "data/schema", "data/table"},
	"data/spark/driver": {
		"data/engine", "data/engine/sql", "data/schema", "data/spark/worker",
	},
	"data/spark/cmd/decoy-spark": {"data/engine", "data/spark/driver", "data/spark/worker"},
	"docs":                       {},
	"cmd/decoy/serve": {"privacy/accountant", "configs", "internal/disk", "internal/spelling",
		"privacy/ledger",
		"data/schema"},
	"cmd/decoy": {
		"docs", "cmd/decoy/serve", "internal/spelling", "internal/yamlfile",
		"data/schema", "data/table", "privacy/accountant",
		"privacy/accountant/pld",
		"privacy/ledger",
		"privacy",
		"model/release", "synth", "infer", "stats", "configs",
		"datasets", "eval", "eval/attack",
		"eval/linked", "eval/report", "stats/party", "privacy/mech/vote", "model/workload",
	},
}

// readers lists the files outside table that may call table.Read and its kind: everything else
// cannot open a table file, and so cannot get at private rows around the gate.
var readers = []string{
	"privacy/rows.go",             // the gate
	"data/spark/worker/block.go",  // counts inside a task of Spark
	"privacy/mech/text/text.go",   // the same, of texts
	"privacy/mech/linked/read.go", // of linked tables
	"datasets/table.go",           // the embedded, simulated tables
	"cmd/bench/tables.go",         // compares public tables
	"eval/linked/read.go",         // compares linked tables, for who may see every row
	"eval/report/read.go",         // compares tables without protection, and says so
	"cmd/decoy/predict.go",        // applies a classifier to rows, for who has them
}

// tools lists the packages that are not in the program, which write files as they like.
var tools = []string{"cmd/bench"}

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
var core = []string{"privacy", "noise", "privacy/accountant", "bounds"}

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
		if f.pkg == "data/table" || slices.Contains(readers, f.path) {
			continue
		}
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if path == module+"/data/table" && spec.Name != nil {
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
		{"good", "model/release/x.go",
			`package release; import "github.com/decoy-dp/decoy/data/table"; var _ table.ReadOptions`, 0, 0, 0},
		{"post-processing sees the gate", "model/marginal/x.go",
			"package marginal; " + inside + "privacy\"", 1, 0, 0},
		{"unknown package", "sidedoor/x.go", `package sidedoor`, 1, 0, 0},
		{"unsafe", "privacy/x.go", `package privacy; import _ "unsafe"`, 1, 0, 0},
		{"reflection in the core", "noise/x.go", `package noise; import _ "reflect"`, 1, 0, 0},
		{"reads a file", "synth/x.go",
			`package synth; import "os"; var _ = table.ReadCSV`, 0, 1, 0},
		{"reads under another name", "model/release/x.go",
			`package release; import t "github.com/decoy-dp/decoy/data/table"; var _ = t.Read`, 0, 1, 0},
		{"renames a file", "model/release/x.go",
			`package release; import "os"; var _ = os.Rename("a", "b")`, 0, 0, 1},
		{"under another name", "model/release/x.go",
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
