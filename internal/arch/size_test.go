package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
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
	// functions and types, or files, that the code calls for what a later claim is about
	later []string
}

// claims has each claim with its limit; a claim is read after those before it.
var claims = []claim{
	{"`mst`, `aim`: the gate, prices, ledger, samplers", []string{"privacy"},
		[]string{"privacy/session.go", "privacy/rows.go", "privacy/marginal.go", "privacy/measure.go",
			"privacy/select.go"}, 3112, slices.Concat(ofResume, ofLimits, ofPure, ofLinked)},
	{"runs that are killed and continued", []string{"privacy"}, []string{"privacy/resume.go",
		"privacy/journal.go"}, 384, slices.Concat(ofLimits, ofLinked)},
	{"limits that are set and signed", []string{"privacy/ledger"},
		[]string{"privacy/ledger/limit.go", "privacy/ledger/rules.go"}, 380, nil},
	{"tables that Spark counts", []string{"privacy"}, []string{"privacy/elsewhere.go"}, 197, ofLinked},
	{"columns without bins in the schema, and `bins: dp`", []string{"privacy"}, []string{"privacy/bins.go"}, 60, ofLinked},
	{"`mwem`, `bayes`, `smalldb`: other queries, Laplace noise, choices of a database",
		[]string{"privacy"}, []string{"privacy/queries.go", "privacy/laplace.go", "privacy/database.go",
			"data/table/expr.go", "privacy/accountant/responses.go"}, 748, ofLinked},
	{"published figures: distances, thresholds",
		[]string{"privacy", "privacy/mech/threshold"}, []string{"privacy/distance.go"}, 240, ofLinked},
	{"linked tables", []string{"privacy", "privacy/mech/linked"},
		[]string{"privacy/view.go", "privacy/mech/linked/read.go"}, 360, nil},
	{"`train`", []string{"privacy/mech/logistic"}, []string{"privacy/mech/logistic/gradient.go"}, 330, nil},
	{"`train --by output` and `objective`", []string{"privacy/mech/logistic"}, nil, 200, nil},
	{"`schema infer`", []string{"privacy/mech/text"}, nil, 963, nil},
	{"`pategan`", []string{"privacy/mech/vote"}, []string{"privacy/mech/vote/vote.go"}, 515,
		// a cost that nobody keeps is nil, and a mean of blocks is a call of its own
		[]string{"privacy/mech/vote/datadependent.go", "privacy/mech/vote/gnmax.go",
			"privacy/mech/vote/blocks.go"}},
	{"what votes cost where teachers agree, for the holder of the data", []string{"privacy/mech/vote"},
		[]string{"privacy/mech/vote/datadependent.go"}, 270, []string{"privacy/mech/vote/blocks.go"}},
	{"`validate`", []string{"privacy/mech/vote"}, []string{"privacy/mech/vote/blocks.go"}, 140, nil},
	{"`collect`: randomised answers", []string{"privacy/mech/randomized"}, nil, 180, nil},
	{"`wgan`, by default: certificates, the critic, its kernels",
		[]string{"privacy/mech/gradient", "gan/critic"}, []string{"privacy/mech/gradient/gradient.go",
			"gan/critic/sum.go"}, 2670, nil},
	{"`party`: sums over several parties, of counts and of gradients", []string{"privacy/mech/shares"}, nil,
		700, nil},
	{"`wgan`'s other modes: box, thesis, ball, a penalty at private rows",
		[]string{"privacy/mech/gradient", "gan/critic"}, []string{"bounds/thesis.go",
			"bounds/ball.go"}, 1055, nil},
	{"subsampled and mixed plans", []string{"privacy/accountant/pld"},
		[]string{"privacy/accountant/pld/epsilon.go"}, 1080, nil},
	{"what all take as given of a CSV file: the reader, and the codecs that a private cell passes",
		nil, cells, 3060, nil},
}

// cells are the files that a cell of a CSV file passes until it is a code, whole. What a schema
// becomes before a cell is read, and what a code becomes when it is drawn, is not in them.
var cells = []string{"data/table/read.go", "data/table/csv_read.go", "data/table/csv_split.go",
	"data/table/csv_parse.go", "data/table/csv_record.go", "data/table/csv_header.go",
	"data/table/errors.go", "data/table/layout.go", "data/table/related.go",
	"data/table/table.go", "data/schema/rowcodec.go", "data/schema/codec.go", "data/schema/encode.go",
	"data/schema/kind.go", "data/schema/number.go", "data/schema/moment.go",
	"data/schema/text.go", "data/schema/bins.go", "data/schema/rule.go",
	"data/schema/after.go"}

// What a claim calls and need not believe. A run that is not continued asks an earlier journal only
// whether it may begin, and no ledger's rules do more than refuse a run. A reservation without ε-DP
// steps has none to count or to give.
var (
	ofResume = []string{"journal", "header", "openJournal", "withJournal",
		"resume", "repeat", "restore", "holds"}
	ofLimits = []string{"state", "newState", "rules"}
	ofLinked = []string{"privacy/view.go"}
	ofPure   = []string{"pureSteps", "responsesEpsilon", "takePure"}
)

// premises are packages that a claim takes as given, with what is taken.
var premises = map[string]string{
	"data/schema":   "a cell's code depends on that cell and the schema",
	"data/table":    "a row of the file is at most one row of codes, by a rule of that row",
	"data/engine":   "what another engine has counted or added up are such rows, a few of each unit",
	"internal/disk": "what is synced is there after a crash",
}

// The table of the figures stands in docs/claims.md between these lines.
const (
	sizesBegin = "<!-- lines to read: go test ./internal/arch -run TestClaimSizes -args -write -->\n"
	sizesEnd   = "<!-- end -->"
)

// TestClaimSizes counts the lines that the claims stand on; docs/claims.md must have the figures.
func TestClaimSizes(t *testing.T) {
	files := sources(t)
	seen := map[string]bool{}
	figures := "| claim | lines to read, after those above |\n| --- | --- |\n"
	all := map[string]bool{} // names in the code that is read
	for _, c := range claims {
		named, lines := all, 0
		if c.roots == nil { // a premise of all others
			named = maps.Clone(all)
		}
		packages := reached(files, c.roots)
		for before := -1; before < len(seen); {
			before = len(seen)
			for _, f := range files {
				whole := slices.Contains(c.roots, f.pkg) && !entered(c, f.pkg)
				read := whole || slices.Contains(c.files, f.path) ||
					slices.Contains(packages, f.pkg) && callable(f.ast, named) &&
						!slices.Contains(c.later, f.path)
				if n := linesOf(t, f.path); read && n > 0 && !seen[f.path] {
					t.Logf("%s: %4d %s", c.name, n, f.path)
					seen[f.path] = true
					lines += n
					ast.Inspect(f.ast, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok && foreign(f.ast, s.X) {
							return false // no name of this module
						}
						if id, ok := n.(*ast.Ident); ok && n != f.ast.Name &&
							!slices.Contains(c.later, id.Name) {
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
	readme := stattest.Must(os.ReadFile("../../docs/claims.md"))
	before, rest, ok := strings.Cut(string(readme), sizesBegin)
	old, after, ended := strings.Cut(rest, sizesEnd)
	switch {
	case !ok || !ended:
		t.Errorf("docs/claims.md has no table of the lines to read")
	case *write && old != figures:
		text := before + sizesBegin + figures + sizesEnd + after
		stattest.Check(t, os.WriteFile("../../docs/claims.md", []byte(text), 0o644))
	case old != figures:
		t.Errorf("docs/claims.md has other figures of the lines to read than\n%s", figures)
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
