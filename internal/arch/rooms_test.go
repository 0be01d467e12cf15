package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// roomsFile has the caps. After a commit that made room:
//
//	go test ./internal/arch -run TestRoomSizes -args -write
//
// lowers each to what is there, and raises none.
const roomsFile = "rooms.txt"

// slack is how far a count may fall before its cap must follow: so that two who make room at once
// seldom touch the same line.
var slack = map[string]int{
	"lines": 150, "packages": 3, "names": 20, "settings": 5, "functions": 20 + chance, "files": 8,
	"stops": 3, "complex": 10,
}

// roomOf is the room of a folder: the folder at the top that it is in.
func roomOf(folder string) string {
	room, _, _ := strings.Cut(folder, "/")
	return room
}

// isTest reports whether a file is there for tests: by its own name, because it is in no ordinary
// build, or because its package, whose name then ends in "test", is imported by tests alone.
func isTest(file string, src []byte) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(path.Dir(file), "test") ||
		unshipped(src)
}

// isTemplate reports whether a file has the templates of texts, which are code.
func isTemplate(file string) bool { return path.Base(file) == "results.txt" }

// codeLines has the lines of a source that hold code: something that is neither comment nor blank.
// Every line of a raw string counts.
func codeLines(src []byte) map[int]bool {
	lines := map[int]bool{}
	files := token.NewFileSet()
	f := files.AddFile("", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(f, src, func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		first := f.Line(pos)
		for i := range 1 + strings.Count(text, "\n") {
			lines[first+i] = true
		}
	}
}

// crowded counts statements that stand on the line of the one before them, in the same block; those
// of a function on one line may.
func crowded(files *token.FileSet, f *ast.File) (n int) {
	line := func(p token.Pos) int { return files.Position(p).Line }
	ast.Inspect(f, func(node ast.Node) bool {
		var list []ast.Stmt
		switch node := node.(type) {
		case *ast.BlockStmt:
			if list = node.List; line(node.Lbrace) == line(node.Rbrace) {
				list = nil
			}
		case *ast.CaseClause:
			list = node.Body
		case *ast.CommClause:
			list = node.Body
		}
		for i := 1; i < len(list); i++ {
			if line(list[i].Pos()) == line(list[i-1].End()) {
				n++
			}
		}
		return true
	})
	return n
}

// house is what is counted, by the name that a line of the file has.
type house struct {
	counts  map[string]int
	lengths []int // lines of code of each function of the product, in order
	crowded int
	test    []string // imports of packages for tests by others
}

// quantile of the lengths of functions.
func (h *house) quantile(q float64) int { return h.lengths[int(q*float64(len(h.lengths)-1))] }

// measure counts the tree below root.
func measure(t *testing.T, root string) *house {
	t.Helper()
	h := &house{counts: map[string]int{}}
	packages := map[string]bool{}
	modules := []string{}
	walk := func(visit func(file string)) {
		stattest.Check(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != root):
				return filepath.SkipDir
			case !d.IsDir():
				rel, _ := filepath.Rel(root, p)
				visit(filepath.ToSlash(rel))
			}
			return nil
		}))
	}
	walk(func(file string) {
		if path.Base(file) == "go.mod" {
			modules = append(modules, path.Dir(file))
		}
	})
	slices.SortFunc(modules, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	walk(func(file string) {
		folder := path.Dir(file)
		room := roomOf(folder)
		if isTemplate(file) {
			text := stattest.Must(os.ReadFile(filepath.Join(root, file)))
			for line := range strings.Lines(string(text)) {
				h.counts["code "+room] += min(1, len(strings.TrimSpace(line)))
			}
		}
		if path.Ext(file) != ".go" {
			return
		}
		src := stattest.Must(os.ReadFile(filepath.Join(root, file)))
		lines := codeLines(src)
		kind := "code "
		if isTest(file, src) {
			kind = "test "
		}
		h.counts[kind+room] += len(lines)
		files := token.NewFileSet()
		f := stattest.Must(parser.ParseFile(files, file, src, parser.SkipObjectResolution))
		h.crowded += crowded(files, f)
		if !packages[folder] {
			packages[folder] = true
			for _, m := range modules {
				if m == "." || folder == m || strings.HasPrefix(folder, m+"/") {
					h.counts["packages "+m]++
					break
				}
			}
		}
		if isTest(file, src) {
			return
		}
		if folder != "data/schema" {
			h.counts["forks between one table and linked ones"] += len(forks.FindAll(src, -1))
		}
		for _, spec := range f.Imports {
			if p, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(p, module) &&
				strings.HasSuffix(p, "test") {
				h.test = append(h.test, file+" imports "+p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				length := 0
				for l := files.Position(n.Pos()).Line; l <= files.Position(n.End()).Line; l++ {
					if lines[l] {
						length++
					}
				}
				h.lengths = append(h.lengths, length)
				if complexity(n) > mostComplex {
					h.counts["complex functions"]++
				}
			case *ast.Field:
				if n.Tag == nil || !strings.HasPrefix(file, "synth/") {
					break
				}
				tag, _ := strconv.Unquote(n.Tag.Value)
				if _, ok := reflect.StructTag(tag).Lookup("mapstructure"); ok {
					h.counts["settings of methods"]++
				}
			}
			return true
		})
	})
	slices.Sort(h.lengths)
	h.counts["lines of the longest function"] = h.lengths[len(h.lengths)-1]
	h.counts["lines of 95 % of functions"] = h.quantile(.95)
	h.counts["lines of half of the functions"] = h.quantile(.5)
	return h
}

// unused counts the exported names that the programs of no other package use: tests and examples
// are no use. Methods of interfaces, here or of the standard library, are used through these; the
// package at the top is used by other modules.
func unused(names []exported) (n int) {
	interfaces := map[string]bool{}
	for _, name := range names {
		for _, m := range name.abstract {
			interfaces[m] = true
		}
	}
	for _, name := range names {
		last := name.name[strings.LastIndex(name.name, ".")+1:]
		method := strings.Count(name.name, ".") == 2
		if name.programs == 0 && name.pkg != "." &&
			!strings.HasSuffix(name.pkg, "test") &&
			!(method && (slices.Contains(called, last) || interfaces[last])) {
			n++
		}
	}
	return n
}

// limit is a line of the file: a count and what it may be.
type limit struct {
	name     string
	cap      int
	decision string // the page that allowed it to rise, or -
}

// limits reads the file; other lines than those of limits come back as they are, with cap -1. Lines
// of the history may have a column between cap and decision.
func limits(text string) []limit {
	var out []limit
	for line := range strings.Lines(text) {
		l := limit{name: strings.TrimSuffix(line, "\n"), cap: -1}
		fields := strings.Split(l.name, "|")
		if last := len(fields) - 1; last >= 2 && !strings.HasPrefix(line, "#") {
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
			if n, err := strconv.Atoi(fields[1]); err == nil {
				l = limit{fields[0], n, fields[last]}
			}
		}
		out = append(out, l)
	}
	return out
}

func (l limit) String() string {
	if l.cap < 0 {
		return l.name + "\n"
	}
	return fmt.Sprintf("%-32s | %5d | %s\n", l.name, l.cap, l.decision)
}

// slack of a limit, 0 of the lengths of functions, whose caps stay.
func (l limit) slack() int {
	switch kind, _, _ := strings.Cut(l.name, " "); kind {
	case "code", "test":
		return slack["lines"]
	default:
		return slack[kind]
	}
}

// stays reports whether a cap does not follow its count: functions may be shorter for a while.
func (l limit) stays() bool { return strings.HasPrefix(l.name, "lines of ") }

// count is what is counted: the least and the most, where chance has a part in it.
type count struct{ least, most int }

// hold compares counts with the caps of a file: the least must be within the cap, and the cap not
// far above the most. With -write a cap becomes the most, if that is less. It returns the caps.
func hold(t *testing.T, file, test string, counts map[string]count) map[string]int {
	t.Helper()
	lower := "go test ./internal/arch -run " + test + " -args -write"
	text := stattest.Must(os.ReadFile(file))
	var lowered strings.Builder
	caps := map[string]int{}
	for _, l := range limits(string(text)) {
		if l.cap >= 0 {
			n := counts[l.name]
			if _, ok := caps[l.name]; ok {
				t.Errorf("%s has two caps", l.name)
			}
			caps[l.name] = l.cap
			t.Logf("%-32s %5d, cap %5d", l.name, n.most, l.cap)
			switch {
			case n.least > l.cap:
				t.Errorf("%s: %d, cap %d: make room in it; how a cap may rise is in "+
					"docs/decisions/021-caps-and-tests.md", l.name, n.least, l.cap)
			case *write && !l.stays():
				l.cap = min(l.cap, n.most)
			case n.most < l.cap-l.slack() && !l.stays():
				t.Errorf("%s: %d, cap %d: lower it: %s", l.name, n.most, l.cap, lower)
			}
			if l.decision != "-" {
				if pages, _ := filepath.Glob("../../docs/decisions/" + l.decision + "-*.md"); pages == nil {
					t.Errorf("%s: there is no decision %s", l.name, l.decision)
				}
			}
		}
		lowered.WriteString(l.String())
	}
	for name, n := range counts {
		if _, ok := caps[name]; !ok {
			t.Errorf("%s: %d, and no cap", name, n.most)
		}
	}
	if *write && lowered.String() != string(text) {
		stattest.Check(t, os.WriteFile(file, []byte(lowered.String()), 0o644))
	}
	return caps
}

// forks are where code asks whether it has one table or linked ones, or which method it has.
var forks = regexp.MustCompile(`[Ll]inked [!=]= nil|\.Single\(\)|` +
	`(\.\(|case )\*(synth\.)?(AIM|MST)\b`)

// TestRoomSizes counts the tree and holds each count to its cap in rooms.txt. Its table, with -v,
// has what is there and the cap.
func TestRoomSizes(t *testing.T) {
	h := measure(t, "../..")
	h.counts["names that no other package uses"] = unused(exportedNames(t))
	counts := map[string]count{}
	for name, n := range h.counts {
		counts[name] = count{n, n}
	}
	caps, found := map[string]int{}, map[string]int{}
	for name, n := range hold(t, roomsFile, "TestRoomSizes", counts) {
		kind, _, _ := strings.Cut(name, " ")
		caps[kind] += n
		found[kind] += h.counts[name]
	}
	for _, kind := range []string{"code", "test", "packages"} {
		t.Logf("%-32s %5d, cap %5d", "sum of "+kind, found[kind], caps[kind])
	}
	if h.crowded > 0 {
		t.Errorf("%d statements stand on the line of the one before them", h.crowded)
	}
	for _, i := range h.test {
		t.Errorf("%s, which is for tests", i)
	}
}

// TestCapsOnlyFall compares the caps with all that the history has: none may be above an earlier
// one, unless it names the decision by which it rose.
func TestCapsOnlyFall(t *testing.T) {
	for _, file := range []string{roomsFile, roadsFile} {
		history, err := exec.Command("git", "log", "-p", "--format=", "--", file).Output()
		if err != nil {
			t.Skip("no history: ", err)
		}
		text := stattest.Must(os.ReadFile(file))
		for _, r := range raised(string(history), string(text)) {
			t.Error(r)
		}
	}
}

// raised is the caps of a text that are above what the additions of a diff have, without a reason.
func raised(diff, text string) (out []string) {
	lowest := map[string]int{}
	for line := range strings.Lines(diff) {
		if added, ok := strings.CutPrefix(line, "+"); ok {
			for _, l := range limits(added) {
				if old, ok := lowest[l.name]; l.cap >= 0 && (!ok || l.cap < old) {
					lowest[l.name] = l.cap
				}
			}
		}
	}
	for _, l := range limits(text) {
		if old, ok := lowest[l.name]; ok && l.cap > old && l.decision == "-" {
			out = append(out, fmt.Sprintf("%s: the cap was %d and is %d: write a decision page, "+
				"and its number beside the cap", l.name, old, l.cap))
		}
	}
	return out
}

func TestRoomsAreCounted(t *testing.T) {
	const src = "package a // x\n\n/* two\nlines */ var a = `\n\n// in a string`\n" +
		"func f() { a = \"\"; a = \"/*\" }\n// x\nfunc g() {\n\ta = \"\"; a = \"*/\"\n}\n"
	got := codeLines([]byte(src))
	if want := 8; len(got) != want || got[3] || !got[5] || got[8] {
		t.Errorf("lines of code %v, want %d", got, want)
	}
	files := token.NewFileSet()
	f := stattest.Must(parser.ParseFile(files, "a.go", src, parser.SkipObjectResolution))
	if n := crowded(files, f); n != 1 {
		t.Errorf("%d statements beside another, want 1", n)
	}
	if got := roomOf("privacy/mech/x"); got != "privacy" {
		t.Errorf("room %q", got)
	}
	const history = "+source a | 100 | 5 | -\n-source a | 90 | -\n+source b | 7 | -\n"
	for text, want := range map[string]int{
		"source a | 100 | -":   0,
		"source a | 101 | -":   1,
		"source a | 101 | 018": 0,
		"source c | 101 | -":   0,
	} {
		if got := raised(history, text); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
