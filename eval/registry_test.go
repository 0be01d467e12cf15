package eval

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestEveryMetricIsDocumented ties the registry and the doc comments: each states name, alias,
// range, goal and source.
func TestEveryMetricIsDocumented(t *testing.T) {
	documented := map[string]string{} // name → doc comment
	files := slices.Concat(stattest.Must(filepath.Glob("*.go")),
		stattest.Must(filepath.Glob("linked/*.go")))
	name := regexp.MustCompile(`\bName ([A-Za-z]+)\.`)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f := stattest.Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			text := strings.Join(strings.Fields(fn.Doc.Text()), " ")
			for _, m := range name.FindAllStringSubmatch(text, -1) {
				documented[m[1]] = text
			}
		}
	}
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		text, ok := documented[m.Name]
		if !ok {
			t.Errorf("no doc comment says \"Name %s.\"", m.Name)
			continue
		}
		for _, want := range []string{"Alias ", "Range ", "goal:"} {
			if !strings.Contains(text, want) {
				t.Errorf("the comment of %s has no %q", m.Name, want)
			}
		}
		if !strings.Contains(text, "Source") && m.Name != "TRTR" && m.Name != "AveragePrecision" {
			t.Errorf("the comment of %s has no source", m.Name)
		}
		if m.Alias == "" || m.Range == "" || m.Goal == "" || !strings.HasSuffix(m.Meaning, ".") ||
			strings.Count(m.Meaning, ". ") > 0 {
			t.Errorf("%+v: a field is empty or the meaning is not one sentence", m)
		}
	}
	for n := range documented {
		if !seen[n] {
			t.Errorf("%s is documented as a metric but not listed", n)
		}
	}
}
