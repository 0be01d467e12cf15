package arch

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// importRow is a row of the table of packages in docs/architecture.md: package, what it is (written
// by hand), which packages it may import (written by the test).
var importRow = regexp.MustCompile("(?m)^\\| `([a-z./-]+)` \\| (.*) \\| (.*) \\|\n")

// TestArchitecture compares the table of packages in docs/architecture.md with that of this
// package. After a change of imports write it anew, and say in the page what a new package is:
//
//	go test ./internal/arch -run TestArchitecture -args -write
func TestArchitecture(t *testing.T) {
	const page = "../../docs/architecture.md"
	text := stattest.Must(os.ReadFile(page))
	what := map[string]string{}
	for _, row := range importRow.FindAllStringSubmatch(string(text), -1) {
		what[row[1]] = row[2]
	}
	at := importRow.FindStringIndex(string(text))
	if at == nil {
		t.Fatal("the page has no table of packages")
	}
	rest := importRow.ReplaceAllString(string(text[at[0]:]), "")
	want := string(text[:at[0]]) + importTable(what) + rest
	if *write {
		stattest.Check(t, os.WriteFile(page, []byte(want), 0o644))
	} else if want != string(text) {
		t.Error("the imports have changed: " +
			"go test ./internal/arch -run TestArchitecture -args -write")
	}
	for pkg := range allowed {
		if (what[pkg] == "" || what[pkg] == "?") && !*write {
			t.Errorf("docs/architecture.md does not say what package %s is", pkg)
		}
	}
}

// importTable is the rows of the table, each package after those that it may import.
func importTable(what map[string]string) string {
	depth := map[string]int{}
	var depthOf func(pkg string) int
	depthOf = func(pkg string) int {
		if _, ok := depth[pkg]; !ok {
			for _, below := range allowed[pkg] {
				depth[pkg] = max(depth[pkg], 1+depthOf(below))
			}
		}
		return depth[pkg]
	}
	order := slices.SortedFunc(maps.Keys(allowed), func(a, b string) int {
		return cmp.Or(cmp.Compare(depthOf(a), depthOf(b)), cmp.Compare(a, b))
	})
	var out strings.Builder
	for _, pkg := range order {
		imports := slices.Sorted(slices.Values(allowed[pkg]))
		out.WriteString("| `" + pkg + "` | " + cmp.Or(what[pkg], "?") + " | " +
			cmp.Or(strings.Join(imports, ", "), "–") + " |\n")
	}
	return out.String()
}
