package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// claim is what a stranger must read to believe a privacy claim: the packages that the gate's
// packages reach, less the premises, and of these the files that they can call.
type claim struct {
	name  string
	roots []string
	// of premises, which the claim needs all the same; or where it enters a root
	files []string
	limit int // lines that no claim before it has
}

// claims has each claim with its limit; a claim is read after those before it.
var claims = []claim{
	{"`mst`, `aim`: the gate, prices, ledger, samplers", []string{"privacy"},
		[]string{"privacy/session.go", "privacy/rows.go", "privacy/marginal.go", "privacy/measure.go",
			"privacy/select.go"}, 3942},
	{"limits that are set and signed", []string{"ledger"}, []string{"ledger/limit.go"}, 90},
	{"tables that Spark counts", []string{"privacy"}, []string{"privacy/elsewhere.go"}, 110},
	{"columns without bins in the schema, and `bins: dp`", []string{"privacy"}, []string{"privacy/bins.go"}, 60},
	{"`mwem`, `bayes`, `smalldb`: other queries, Laplace noise, choices of a database",
		[]string{"privacy"}, []string{"privacy/queries.go", "privacy/laplace.go", "privacy/database.go",
			"table/expr.go"}, 745},
	{"published figures: distances, thresholds",
		[]string{"privacy", "privacy/threshold"}, []string{"privacy/distance.go"}, 240},
	{"`train`", []string{"privacy/logistic"}, []string{"privacy/logistic/gradient.go"}, 330},
	{"`train --by output` and `objective`", []string{"privacy/logistic"}, nil, 200},
	{"`schema infer`", []string{"privacy/text"}, nil, 650},
	{"`pategan`", []string{"privacy/vote"}, nil, 450},
	{"`validate`", []string{"privacy/blocks"}, nil, 140},
	{"`collect`: randomised answers", []string{"privacy/randomized"}, nil, 180},
	{"`wgan`, by default: certificates, the critic, its kernels",
		[]string{"privacy/gradient", "gan/critic"}, []string{"privacy/gradient/gradient.go",
			"gan/critic/sum.go"}, 2670},
	{"`party`: sums over several parties, of counts and of gradients", []string{"privacy/shares"}, nil,
		700},
	{"`wgan`'s other modes: box, thesis, ball, a penalty at private rows",
		[]string{"privacy/gradient", "gan/critic"}, []string{"bounds/modes.go",
			"bounds/ball.go"}, 1055},
	{"subsampled and mixed plans", []string{"accountant/pld"},
		[]string{"accountant/pld/epsilon.go"}, 1080},
}

// premises are packages that a claim takes as given, with what is taken.
var premises = map[string]string{
	"schema":          "a cell's code depends on that cell and the schema",
	"table":           "a row of the file is at most one row of codes, by a rule of that row",
	"internal/engine": "what another engine has counted or added up are such rows, a few of each unit",
	"internal/disk":   "what is synced is there after a crash",
}

// The table of the figures stands in README between these lines.
const (
	sizesBegin = "<!-- lines to read: go test ./internal/arch -run TestClaimSizes -args -write -->\n"
	sizesEnd   = "<!-- end -->"
)

// TestClaimSizes counts the lines that the claims stand on, and holds README to the figures.
func TestClaimSizes(t *testing.T) {
	files := sources(t)
	seen := map[string]bool{}
	figures := "| claim | lines to read, after those above |\n| --- | --- |\n"
	named := map[string]bool{} // by the code that is read
	for _, c := range claims {
		lines := 0
		packages := reached(files, c.roots)
		for before := -1; before < len(seen); {
			before = len(seen)
			for _, f := range files {
				whole := slices.Contains(c.roots, f.pkg) && !entered(c, f.pkg)
				read := whole || slices.Contains(c.files, f.path) ||
					slices.Contains(packages, f.pkg) && callable(f.ast, named)
				if n := linesOf(t, f.path); read && n > 0 && !seen[f.path] {
					t.Logf("%s: %4d %s", c.name, n, f.path)
					seen[f.path] = true
					lines += n
					ast.Inspect(f.ast, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok && foreign(f.ast, s.X) {
							return false // no name of this module
						}
						if id, ok := n.(*ast.Ident); ok && n != f.ast.Name {
							named[id.Name] = true
						}
						return true
					})
				}
			}
		}
		if lines == 0 || lines > c.limit {
			t.Errorf("%s: %d lines to read, at most %d", c.name, lines, c.limit)
		}
		figures += fmt.Sprintf("| %s | %d |\n", c.name, lines)
	}
	readme := stattest.Must(os.ReadFile("../../README.md"))
	before, rest, ok := strings.Cut(string(readme), sizesBegin)
	old, after, ended := strings.Cut(rest, sizesEnd)
	switch {
	case !ok || !ended:
		t.Errorf("README has no table of the lines to read")
	case *write && old != figures:
		text := before + sizesBegin + figures + sizesEnd + after
		if err := os.WriteFile("../../README.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != figures:
		t.Errorf("README has other figures of the lines to read than\n%s", figures)
	}
}

// entered reports whether the code of a root that the claim needs is what some of its files call.
func entered(c claim, pkg string) bool {
	return slices.ContainsFunc(c.files, func(path string) bool { return filepath.Dir(path) == pkg })
}

// foreign reports whether an expression is the name of a package of another module.
func foreign(f *ast.File, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool {
		path := strings.Trim(spec.Path.Value, `"`)
		return spec.Name == nil && filepath.Base(path) == id.Name && !strings.HasPrefix(path, module)
	})
}

// byItself are methods that others than the code which names them call.
var byItself = []string{"As", "Error", "Format", "GoString", "Is", "MarshalJSON", "MarshalText",
	"String", "UnmarshalJSON", "UnmarshalText", "Unwrap"}

// callable reports whether code that has only these names can run something of a file. That is what
// its functions, types and methods need, these of types of other files; variables and init run in
// any case. A file without declarations is for reading.
func callable(f *ast.File, named map[string]bool) bool {
	types := map[string]bool{}
	for _, d := range f.Decls {
		d, ok := d.(*ast.GenDecl)
		for i := 0; ok && i < len(d.Specs); i++ {
			switch s := d.Specs[i].(type) {
			case *ast.ValueSpec:
				if d.Tok == token.VAR || slices.ContainsFunc(s.Names, func(n *ast.Ident) bool {
					return named[n.Name]
				}) {
					return true
				}
			case *ast.TypeSpec:
				if types[s.Name.Name] = true; named[s.Name.Name] {
					return true
				}
			}
		}
	}
	functions := 0
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		functions++
		of := ""
		if d.Recv != nil {
			of = receiver(d.Recv.List[0].Type)
		}
		if d.Name.Name == "init" || !types[of] && named[d.Name.Name] ||
			of != "" && !types[of] && slices.Contains(byItself, d.Name.Name) {
			return true
		}
	}
	return functions == 0 && len(types) == 0
}

// reached is the packages that roots import, with themselves and without premises.
func reached(files []file, roots []string) []string {
	imports := map[string][]string{}
	for _, f := range files {
		for _, spec := range f.ast.Imports {
			rel, inside := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if inside {
				imports[f.pkg] = append(imports[f.pkg], rel)
			}
		}
	}
	todo := slices.Clone(roots)
	var out []string
	for len(todo) > 0 {
		pkg := todo[0]
		todo = todo[1:]
		if premises[pkg] != "" || slices.Contains(out, pkg) {
			continue
		}
		out = append(out, pkg)
		todo = append(todo, imports[pkg]...)
	}
	return out
}

// linesOf counts the lines of a file, none of one that is in no ordinary build.
func linesOf(t *testing.T, path string) int {
	b := stattest.Must(os.ReadFile(filepath.Join("../..", path)))
	if unshipped(b) {
		return 0
	}
	return strings.Count(string(b), "\n")
}

// unshipped reports whether a source is in no ordinary build.
func unshipped(src []byte) bool {
	tag, _, _ := strings.Cut(string(src), "\n")
	return tag == "//go:build seam" || tag == "//go:build faults"
}
