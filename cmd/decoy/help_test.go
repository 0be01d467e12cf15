package main

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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
		printHelp(&b, c)
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

// TestGlossary: the glossary is printed as text, and explains a term of every plan.
func TestGlossary(t *testing.T) {
	code, out, _ := decoy("help", "glossary")
	if code != 0 || !strings.Contains(out, "\nBudget. The ") || strings.Contains(out, "](") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out, _ := decoy("help", "plan"); code != 0 || !strings.Contains(out, "decoy plan") {
		t.Errorf("help on a verb: exit code %d\n%s", code, out)
	}
}

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
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
		})
	})
}
