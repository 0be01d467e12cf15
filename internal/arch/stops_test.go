package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// points are the functions of this road that take a column, an answer or a table at once: where
// codes become counts, counts a noisy answer, answers a model, and the model drawn codes.
var points = []string{
	"privacy.countTo", "noise.(*RoundedGaussian).AddTo", "model/marginal.Fit",
	"model/marginal.(*Model).Sample",
}

// stops are the functions through which a cell passes in a run of the first of the roads: from the
// file to the noisy answer, and on to the cell that is written. They are those on the stack, up to
// main, when
//
//   - a function of data/table or data/schema is entered for half of the rows by the same calls:
//     it reads, codes, decodes or writes cells;
//   - one of the points is entered.
//
// Those on the way to the answer are of stacks until noise is first added, those on the way to the
// cell written of all. A function that is written inside another is part of that.
func stops(t *testing.T, program, dir string) (answer, written []string) {
	t.Helper()
	file := filepath.Join(dir, "stops")
	run(t, program, dir, roads[0].args, "STOPS="+file, fmt.Sprint("STOPS_OFTEN=", cohort/2))
	text := stattest.Must(os.ReadFile(file))
	first := map[string][]string{} // stack of a function when it was first entered
	noisy := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		stack := ours(fields[1:])
		if begun := first[stack[len(stack)-1]]; stack[len(stack)-1] != "main.main" {
			stack = append(stack, begun...) // what the goroutine that has ended was begun by
		}
		at := stack[0]
		point := slices.Contains(points, at)
		if fields[0] == "1" {
			if first[at] = stack; !point {
				continue
			}
		}
		written = append(written, stack...)
		if !noisy {
			answer = append(answer, stack...)
		}
		noisy = noisy || strings.HasPrefix(at, "noise.")
	}
	for _, p := range points {
		if first[p] == nil {
			t.Errorf("%s is not entered: name what is in its place in points", p)
		}
	}
	slices.Sort(answer)
	slices.Sort(written)
	return slices.Compact(answer), slices.Compact(written)
}

// inner is what a function that is written inside another has behind the name of that one.
var inner = regexp.MustCompile(`(\[\.\.\.\]|\.(func|gowrap|deferwrap)?\d+|-range\d+)+$`)

// ours are the functions of this module on a stack.
func ours(stack []string) (out []string) {
	for _, name := range stack {
		name, ok := strings.CutPrefix(name, module+"/")
		if ok || strings.HasPrefix(name, "main.") {
			out = append(out, inner.ReplaceAllString(name, ""))
		}
	}
	return out
}

// copyTelling copies this module without its tests, with a call of stops.Enter at the beginning of
// each function.
func copyTelling(t *testing.T, to string) {
	t.Helper()
	functions := 0
	stattest.Check(t, filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "../..":
			_, err := os.Stat(filepath.Join(p, "go.mod"))
			if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir // another module, or none
			}
			return os.MkdirAll(filepath.Join(to, stattest.Must(filepath.Rel("../..", p))), 0o700)
		case !d.Type().IsRegular() || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		data, file := stattest.Must(os.ReadFile(p)), stattest.Must(filepath.Rel("../..", p))
		if filepath.Ext(p) == ".go" {
			folder := filepath.ToSlash(filepath.Dir(file))
			data = telling(t, data, &functions, folder == "data/table" || folder == "data/schema")
		}
		return os.WriteFile(filepath.Join(to, file), data, 0o600)
	}))
	folder := filepath.Join(to, "internal/stops")
	stattest.Check(t, os.Mkdir(folder, 0o700))
	data := stattest.Must(os.ReadFile("testdata/stops.go.txt"))
	stattest.Check(t, os.WriteFile(filepath.Join(folder, "stops.go"), data, 0o600))
}

// telling is a source whose functions tell when they are entered, on the lines that they have.
func telling(t *testing.T, src []byte, functions *int, cells bool) []byte {
	t.Helper()
	files := token.NewFileSet()
	f := stattest.Must(parser.ParseFile(files, "", src, parser.SkipObjectResolution))
	at := files.Position(f.Name.End()).Offset
	var out strings.Builder
	fmt.Fprintf(&out, "%s; import stops %q", src[:at], module+"/internal/stops")
	before := at
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			begin := files.Position(fn.Body.Lbrace).Offset + 1
			fmt.Fprintf(&out, "%s stops.Enter(%d, %t);", src[at:begin], *functions, cells)
			at = begin
			*functions++
		}
	}
	if at == before {
		return src
	}
	return append([]byte(out.String()), src[at:]...)
}
