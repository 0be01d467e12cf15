package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// kindsNamed is the most places outside data/schema that name a kind of columns. Others ask the
// kind, by its methods and by what it stores, so that a new kind is known to them.
const kindsNamed = 8

// TestKindsAreAsked counts them.
func TestKindsAreAsked(t *testing.T) {
	kinds := []string{"Categorical", "Integer", "Real", "Boolean", "Date", "Timestamp"}
	named := 0
	for _, f := range sources(t) {
		if f.pkg == "data/schema" || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "schema" && slices.Contains(kinds, s.Sel.Name) {
				t.Logf("%s names %s", f.path, s.Sel.Name)
				named++
			}
			return true
		})
	}
	if named > kindsNamed {
		t.Errorf("%d places outside data/schema name a kind, at most %d", named, kindsNamed)
	}
}
