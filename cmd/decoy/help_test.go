package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
)

// verbs calls fn for every command that does something.
func verbs(fn func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" {
			return
		}
		if !c.HasSubCommands() {
			fn(c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&terminal{stdout: io.Discard, stderr: io.Discard}))
}

func TestHelpIsComplete(t *testing.T) {
	n := 0
	verbs(func(c *cobra.Command) {
		n++
		var b bytes.Buffer
		printHelp(&b, helpOf(c))
		for _, want := range []string{"Usage:\n  " + c.Parent().CommandPath() + " " + c.Name(),
			"Exit status:\n  0   done", "Example:\n  $ ", "DECOY_EPSILON"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("help of %s lacks %q", c.CommandPath(), want)
			}
		}
		for _, word := range strings.FieldsFunc(c.Use,
			func(r rune) bool { return !('A' <= r && r <= 'Z') }) {
			operand := c.Args(c, nil) != nil && strings.Contains(c.Use, c.Name()+" "+word)
			if operand && !strings.Contains(c.Annotations[operandsKey], word) {
				t.Errorf("help of %s does not say what %s is", c.CommandPath(), word)
			}
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if len([]rune(line)) > 100 {
				t.Errorf("help of %s has a line of %d characters: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
	})
	if n < 14 {
		t.Errorf("only %d verbs: the walk is broken", n)
	}
}

// TestTopics: each page is printed as text, whatever else has its name, and what the program says
// names topics, not files.
func TestTopics(t *testing.T) {
	for _, topic := range docs.Topics() {
		code, out, text := decoy("help", topic.Name)
		if code != 0 || len(out) < 500 || strings.Contains(out, "](") || strings.Contains(out, "<!--") {
			t.Errorf("help %s: exit code %d\n%s\n%s", topic.Name, code, out, text)
		}
		for line := range strings.Lines(out) {
			code := strings.HasPrefix(line, "    ")
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 && !code {
				t.Errorf("help %s has a line of %d characters: %s", topic.Name, n, line)
			}
		}
	}
	says(t, exitOK, "help schema", "THE SCHEMA\n", "draft a schema")
	says(t, exitOK, "help schema infer", "decoy schema infer INPUT")
	for name, want := range map[string]string{
		"nosuch":     "there is no help on \"nosuch\"; 'decoy help' lists",
		"epsilno":    "did you mean 'decoy help epsilon'?",
		"genrate":    "did you mean 'decoy help generate'?",
		"schema foo": "did you mean 'decoy help schema'?",
	} {
		says(t, exitUsage, "help "+name, want)
	}
	sources, err := filepath.Glob("*.go")
	check(t, err)
	more, err := filepath.Glob("../../configs/*.go")
	check(t, err)
	for _, path := range append(sources, more...) {
		text, err := os.ReadFile(path)
		check(t, err)
		for line := range strings.Lines(string(text)) {
			code, _, _ := strings.Cut(line, "//")
			if !strings.HasSuffix(path, "_test.go") && strings.Contains(code, "docs/") &&
				!strings.Contains(code, "decoy/docs\"") {
				t.Errorf("%s names a file that the binary does not have: %s", path, line)
			}
		}
	}
}

// TestPageText: what Markdown has beyond plain paragraphs.
func TestPageText(t *testing.T) {
	got := pageText("# A [page](x.md)\n\n**See** [schema.md](schema.md).\n\n<!-- not run: x -->\n```sh\n# no " +
		"heading\n```\n| key | for | |\n| --- | --- | --- |\n| `a` | all | one \\| two |\n\nEnd\n")
	want := "A PAGE\n\nSee 'decoy help schema'.\n\n    # no heading\n  `a`\n      for: all\n      " +
		"one | two\n\n" +
		"End\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMan: there is a page for each verb and topic, which roff reads without a warning.
func TestMan(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.Mkdir("man", 0o755))
	says(t, exitOK, "help --man man")
	pages, err := filepath.Glob("man/*")
	check(t, err)
	for _, want := range []string{"man/decoy.1", "man/decoy-schema-infer.1", "man/decoy-schema.7"} {
		if !slices.Contains(pages, want) {
			t.Errorf("%s is not among %v", want, pages)
		}
	}
	if len(pages) < 40 {
		t.Errorf("only %d pages", len(pages))
	}
	says(t, exitUsage, "help --man man") // written twice
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("needs groff to read them")
	}
	cmd := exec.Command("groff", append([]string{"-man", "-Tutf8", "-ww", "-k"}, pages...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 || !strings.Contains(string(out), "--header-is-public") {
		t.Errorf("%v\n%s", err, complaints.String())
	}
}

// interrupts calls a function when something is written to it.
type interrupts struct{ f func() }

func (i interrupts) Write(p []byte) (int, error) { i.f(); return len(p), nil }

// TestHelpSessions runs the commands of every example, so that none goes stale.
func TestHelpSessions(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	verbs(func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for line := range strings.Lines(c.Example) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if !ok {
					continue
				}
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = dir
				if strings.HasPrefix(command, "decoy serve") { // waits for a browser, and for Ctrl-C
					cmd.Args[2] = "exec " + command
					cmd.Stdout = interrupts{func() { cmd.Process.Signal(os.Interrupt) }}
					if err := cmd.Run(); err != nil {
						t.Fatalf("%s: %v", command, err)
					}
					continue
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
		})
	})
}
