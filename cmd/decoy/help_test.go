package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/docs"
)

// everyVerb calls fn for every command that does something.
func everyVerb(fn func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" {
			return
		}
		if c.Annotations[exitsKey] != "" { // which a group of verbs has not
			fn(c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&terminal{stdout: io.Discard, stderr: io.Discard}, nil))
}

func TestHelpIsComplete(t *testing.T) {
	n := 0
	everyVerb(func(c *cobra.Command) {
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

// TestTopics: each page is printed, whatever else has its name.
func TestTopics(t *testing.T) {
	for _, topic := range docs.Topics() {
		says(t, exitOK, "help "+topic.Name, docs.Page(topic.Name))
	}
	says(t, exitOK, "help schema", "# The schema\n", "draft a schema")
	says(t, exitOK, "help schema infer", "decoy schema infer INPUT")
	for name, want := range map[string]string{
		"nosuch":     "there is no help on \"nosuch\"; 'decoy help' lists",
		"epsilno":    `did you mean "epsilon"?`,
		"genrate":    `did you mean "generate"?`,
		"schema foo": `did you mean "schema"?`,
	} {
		says(t, exitUsage, "help "+name, want)
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
	everyVerb(func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) {
			if slow := []string{"analyze", "audit", "batch", "evaluate", "fit", "join", "release", "rows",
				"run", "sample", "verify"}; !*long && slices.Contains(slow, c.Name()) {
				t.Skip("-long runs every session")
			}
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
