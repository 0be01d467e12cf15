package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// block is a fenced block of a document.
type block struct {
	line     int
	language string // sh: a script; console: commands after "$ ", with what they print; go: a program
	// why it is not run: the text of a comment <!-- not run: ... --> on the line before
	skip  string
	lines []string
}

var notRun = regexp.MustCompile(`^\s*<!-- not run: (.+) -->$`)

// blocks finds the fenced blocks of a Markdown text.
func blocks(text string) (out []block) {
	var open *block
	before, indent := "", ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			indent = line[:len(line)-len(trimmed)]
			open = &block{line: i + 1, language: strings.TrimPrefix(trimmed, "```")}
			if m := notRun.FindStringSubmatch(before); m != nil {
				open.skip = m[1]
			}
		case open != nil && strings.HasPrefix(trimmed, "```"):
			out, open = append(out, *open), nil
		case open != nil:
			open.lines = append(open.lines, strings.TrimPrefix(line, indent))
		}
		if trimmed != "" {
			before = line
		}
	}
	return out
}

// command is a line of a shell, and the lines that it is said to print.
type command struct {
	text  string
	print []string
}

// commands are what a block runs: the whole script, or each line after "$ " with the lines until
// the next one.
func (b block) commands() (out []command) {
	if b.language == "sh" {
		return []command{{text: strings.Join(b.lines, "\n")}}
	}
	for i := 0; i < len(b.lines); i++ {
		text, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			if len(out) > 0 && b.lines[i] != "" {
				out[len(out)-1].print = append(out[len(out)-1].print, b.lines[i])
			}
			continue
		}
		for strings.HasSuffix(text, "\\") && i+1 < len(b.lines) {
			i++
			text += "\n" + b.lines[i]
		}
		out = append(out, command{text: text})
	}
	return out
}

// looksRun says whether a block of no known language has lines that a reader would type.
func looksRun(b block) bool {
	for _, line := range b.lines {
		for _, start := range []string{"$ ", "decoy ", "./decoy ", "go run ", "go test ", "go build ",
			"CGO_ENABLED=0 ", "go install "} {
			if strings.HasPrefix(strings.TrimSpace(line), start) {
				return true
			}
		}
	}
	return false
}

// inTest is how a command is run here: the test has built the program already.
var inTest = strings.NewReplacer("go run ./cmd/decoy ", "decoy ",
	"CGO_ENABLED=0 go build -trimpath -o decoy ./cmd/decoy", "true", "go install ./cmd/decoy", "true",
	"./decoy ", "decoy ")

var digits = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// shape is a line without its numbers and its column widths, which change from run to run.
func shape(line string) string {
	return strings.Join(strings.Fields(digits.ReplaceAllString(line, "0")), " ")
}

// everyTime are the documents that are run without -long, too.
var everyTime = []string{"README.md", "schema.md", "epsilon.md"}

// TestDocuments runs every command of README.md and, with -long, docs/*.md, each document in a
// folder of its own from top to bottom. What is marked <!-- not run: reason --> is counted.
func TestDocuments(t *testing.T) {
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	ran, skipped := make([]int, len(paths)+1), make([]int, len(paths)+1)
	t.Run("all", func(t *testing.T) {
		for i, path := range append(paths, "../../README.md") {
			t.Run(filepath.Base(path), func(t *testing.T) {
				if !*long && !slices.Contains(everyTime, filepath.Base(path)) {
					t.Skip("-long runs every document")
				}
				t.Parallel()
				ran[i], skipped[i] = runDocument(t, path)
			})
		}
	})
	all, not := 0, 0
	for i := range ran {
		all, not = all+ran[i], not+skipped[i]
	}
	t.Logf("%d commands were run, %d blocks are marked as not run", all, not)
	if all < 10 {
		t.Errorf("only %d commands: the search is broken", all)
	}
}

func runDocument(t *testing.T, path string) (ran, skipped int) {
	text := stattest.Must(os.ReadFile(path))
	dir := t.TempDir()
	for _, b := range blocks(string(text)) {
		at := fmt.Sprintf("%s:%d", filepath.Base(path), b.line)
		switch {
		case b.skip != "":
			skipped++
		case b.language == "go":
			runProgram(t, dir, at, b)
			ran++
		case b.language == "sh" || b.language == "console":
			for _, c := range b.commands() {
				ran++
				cmd := exec.Command("sh", "-eu", "-c", inTest.Replace(c.text))
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "COLUMNS=120")
				output, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %s\n%v\n%s", at, c.text, err, output)
				}
				missing(t, at, c, string(output))
			}
		case looksRun(b):
			t.Errorf("%s: a block of commands must begin with ```sh or ```console, or be marked <!-- not "+
				"run: reason -->", at)
		}
	}
	return ran, skipped
}

// missing reports the lines that a command is said to print and does not, apart from numbers. A
// line "..." stands for any.
func missing(t *testing.T, at string, c command, output string) {
	t.Helper()
	have := map[string]bool{}
	for line := range strings.Lines(output) {
		have[shape(line)] = true
	}
	for _, want := range c.print {
		if s := shape(want); s != "..." && !have[s] {
			t.Errorf("%s: %s does not print %q:\n%s", at, c.text, want, output)
		}
	}
}

// runProgram builds a Go program of a document as if it stood in this module, and runs it where the
// commands before it ran.
func runProgram(t *testing.T, dir, at string, b block) {
	t.Helper()
	tmp := t.TempDir()
	file, program := filepath.Join(tmp, "main.go"), filepath.Join(tmp, "program")
	check(t, os.WriteFile(file, []byte(strings.Join(b.lines, "\n")), 0o600))
	if output, err := exec.Command("go", "build", "-o", program, file).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", at, err, output)
		return
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", at, err, output)
	}
}

// TestModule follows the page of the library from an empty folder beside a clone: the module is set
// up as it says, and its first program runs there. In that module it compiles the page's other
// programs, the examples of all packages and testdata/outside, which together use every package.
func TestModule(t *testing.T) {
	if !*long {
		t.Skip("-long: sets up a module and builds it")
	}
	text := stattest.Must(os.ReadFile("../../docs/library.md"))
	clone := stattest.Must(filepath.Abs("../.."))
	dir := t.TempDir()
	check(t, os.Symlink(clone, filepath.Join(dir, "decoy")))
	script := "set -eu\n"
	programs, imported := 0, ""
	put := func(path string, source []byte) {
		path = filepath.Join(dir, "programs", path)
		check(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, source, 0o600)))
		imported += string(source)
	}
	for _, b := range blocks(string(text)) {
		switch {
		case strings.HasPrefix(b.skip, "TestModule"):
			script += strings.Join(b.lines, "\n") + "\n"
		case b.language == "go":
			path := fmt.Sprintf("%d/main.go", programs)
			put(strings.TrimPrefix(path, "0/"), []byte(strings.Join(b.lines, "\n")))
			programs++
		}
	}
	if programs < 2 || strings.Count(script, "\n") < 6 {
		t.Fatalf("the page has no programs or no commands:\n%s", script)
	}
	main, err := os.ReadFile("testdata/outside/main.go")
	check(t, err)
	put("outside/main.go", main)
	packages := publicPackages(t, clone)
	for _, p := range packages {
		if example, err := os.ReadFile(filepath.Join(clone, p, "example_test.go")); err == nil {
			put(p+"/example_test.go", example)
		}
	}
	for _, p := range packages {
		if !strings.Contains(imported, `"github.com/decoy-dp/decoy/`+p+`"`) {
			t.Errorf("no program outside the module uses %s: testdata/outside may", p)
		}
	}
	script = strings.Replace(script, "go mod tidy", "mv ../programs/* .\n"+
		"decoy datasets export icu-mortality --out icu.csv --schema-out icu.yaml\ngo mod tidy", 1)
	cmd := exec.Command("sh", "-c", script+
		"decoy verify icu.decoy\nwc -l synthetic-icu.csv\ngo vet ./...\ngo build -o /dev/null ./outside")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off",
		"GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-mod=readonly", ""))
	output, err := cmd.CombinedOutput()
	if err != nil && regexp.MustCompile("GOPROXY=off|dial tcp|no such host").Match(output) {
		t.Skip("the modules that go mod tidy asks for are not on this machine, nor is there a proxy")
	}
	if err != nil || !strings.Contains(string(output), "the claim holds") {
		t.Errorf("%v\n%s", err, output)
	}
}

// publicPackages are the folders of packages that another module may import.
func publicPackages(t *testing.T, root string) (of []string) {
	list := exec.Command("go", "list", "-f", "{{if ne .Name \"main\"}}{{.ImportPath}}{{end}}", "./...")
	list.Dir = root
	out, err := list.Output()
	check(t, err)
	for _, p := range strings.Fields(string(out)) {
		p, below := strings.CutPrefix(p, "github.com/decoy-dp/decoy/")
		own := strings.Contains(p+"/", "internal/") || strings.HasPrefix(p, "cmd/") ||
			strings.HasPrefix(p, "data/engine") // by which decoy's own programs talk to each other
		if below && !own {
			of = append(of, p)
		}
	}
	return of
}

var inline = regexp.MustCompile("(?s)`(decoy [a-z][^`]*)`")

// TestInlineCommands checks the commands that stand in the text of the documents: the verb and the
// flags exist. They are not run.
func TestInlineCommands(t *testing.T) {
	paths := stattest.Must(filepath.Glob("../../docs/*.md"))
	n := 0
	for _, path := range append(paths, "../../README.md") {
		text := stattest.Must(os.ReadFile(path))
		prose := regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(string(text), "")
		for _, m := range inline.FindAllStringSubmatch(prose, -1) {
			n++
			stattest.Passes(t, parses(strings.Fields(m[1])[1:]), "%s: `%s`", filepath.Base(path), m[1])
		}
	}
	t.Logf("%d commands in the text", n)
	if n < 10 {
		t.Error("the search is broken")
	}
	for _, bad := range []string{"palm", "plan --epsilom 1", "schema chekc", "plan --epsilon much"} {
		if parses(strings.Fields(bad)) == nil {
			t.Errorf("decoy %s passes", bad)
		}
	}
}

// parses checks a command line without running it. A word in capitals or with a brace stands for
// something.
func parses(words []string) error {
	for i, w := range words {
		if w == ">" || w == "|" {
			words = words[:i]
			break
		}
	}
	root := newRoot(&terminal{stdout: io.Discard, stderr: io.Discard}, nil)
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if cmd.Annotations[exitsKey] == "" && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("%s has no verb %q", cmd.CommandPath(), rest[0])
	}
	var typed []string
	for i, w := range rest {
		switch {
		case strings.HasPrefix(w, "[") || strings.HasSuffix(w, "]") || w == "...":
			continue
		case i > 0 && strings.HasPrefix(rest[i-1], "--") && strings.ToUpper(w) == w &&
			strings.ToLower(w) != w && !strings.Contains(rest[i-1], "="):
			if f := cmd.Flags().Lookup(strings.TrimPrefix(rest[i-1], "--")); f != nil &&
				f.Value.Type() != "string" {
				w = "1" // a number that the reader chooses
				if f.Value.Type() == "key=value" {
					w = "a=1"
				}
			}
		}
		typed = append(typed, w)
	}
	if n := len(typed); n > 0 && strings.HasPrefix(typed[n-1], "--") {
		if f := cmd.Flags().Lookup(strings.TrimPrefix(typed[n-1], "--")); f != nil &&
			f.Value.Type() != "bool" {
			typed = typed[:n-1] // the flag is named without a value
		}
	}
	return cmd.ParseFlags(typed)
}
