package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func filledFor(t *testing.T, verb string, args ...string) (*pflag.FlagSet, error) {
	t.Helper()
	root := newRoot(&terminal{stdout: io.Discard, stderr: io.Discard}, nil)
	cmd, rest, err := root.Find(append([]string{verb}, args...))
	check(t, err)
	check(t, cmd.ParseFlags(rest))
	return cmd.Flags(), fill(cmd)
}

// TestConfigMistakes: each bad file of testdata/config, in the environment that its first lines
// give, is refused with the error that they give, before anything is read or spent. The good ones
// mean what their last lines say.
func TestConfigMistakes(t *testing.T) {
	paths := stattest.Must(filepath.Glob("testdata/config/*.yaml"))
	if len(paths) < 60 {
		t.Fatalf("only %d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text := stattest.Must(os.ReadFile(path))
			said := map[string][]string{"verb": {"generate"}}
			for line := range strings.Lines(string(text)) {
				key, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "# "), ": ")
				if strings.HasPrefix(line, "# ") {
					said[key] = append(said[key], value)
				}
			}
			for _, v := range said["env"] {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			var stdout, stderr strings.Builder
			if said["want"] == nil {
				flags := stattest.Must(filledFor(t, "generate", "--config", path))
				flags.VisitAll(func(f *pflag.Flag) {
					fmt.Fprintln(&stdout, f.Name, f.Value, placeOf(f))
				})
				for _, line := range said["show"] {
					if !regexp.MustCompile("(?m)^" + line).MatchString(stdout.String()) {
						t.Errorf("no line %q in\n%s", line, stdout.String())
					}
				}
				return
			}
			args := append(strings.Fields(said["verb"][len(said["verb"])-1]), "--config", path)
			if code := run(args, &stdout, &stderr); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			for _, want := range said["want"] {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("error %q, want %q in it", stderr.String(), want)
				}
			}
		})
	}
}

// TestEveryFlag checks that each flag of each verb can be set in the environment, but for those
// that must be typed.
func TestEveryFlag(t *testing.T) {
	root := newRoot(&terminal{stdout: io.Discard, stderr: io.Discard}, nil)
	var walk func(c *cobra.Command)
	flags := 0
	walk = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if typed(f) || c.Name() == "help" || c.Parent() != nil && c.Parent().Name() == "completion" {
				return
			}
			flags++
			value := map[string]string{"float64": "7", "int": "7", "uint64": "7",
				"bool": "true"}[f.Value.Type()]
			switch {
			case f.Name == "time-limit" || f.Name == "wait": // durations; the first a text too
				value = "7s"
			case value == "":
				value = "text"
			}
			t.Setenv(variable(f.Name), value)
			err := fill(c)
			t.Setenv(variable(f.Name), "")
			if err != nil {
				t.Errorf("%s --%s: %v", c.CommandPath(), f.Name, err)
			}
			if got := strings.Trim(f.Value.String(), "[]"); got != value { // a list prints its brackets
				t.Errorf("%s --%s is %q with %s=%s", c.CommandPath(), f.Name, f.Value, variable(f.Name), value)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if flags < 30 {
		t.Errorf("only %d flags: the walk is broken", flags)
	}
}
