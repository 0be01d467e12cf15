package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// filled parses args as the verb plan would and returns its flags.
func filled(t *testing.T, args ...string) (*pflag.FlagSet, error) {
	t.Helper()
	root := newRoot(&terminal{stdout: io.Discard, stderr: io.Discard})
	cmd, rest, err := root.Find(append([]string{"plan"}, args...))
	check(t, err)
	check(t, cmd.ParseFlags(rest))
	return cmd.Flags(), fill(cmd)
}

func config(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "decoy.yaml")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestPrecedence(t *testing.T) {
	for _, c := range []struct {
		name, flag, env, file, want string
	}{
		{"default", "", "", "", "1e-09"},
		{"file", "", "", "delta: 1e-6", "1e-06"},
		{"environment over file", "", "1e-5", "delta: 1e-6", "1e-05"},
		{"flag over environment", "--delta=1e-4", "1e-5", "delta: 1e-6", "0.0001"},
		{"flag over file", "--delta=1e-4", "", "delta: 1e-6", "0.0001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DECOY_DELTA", c.env)
			args := []string{"--config", config(t, c.file)}
			if c.flag != "" {
				args = append(args, c.flag)
			}
			flags, err := filled(t, args...)
			check(t, err)
			if got := flags.Lookup("delta").Value.String(); got != c.want {
				t.Errorf("delta is %s, want %s", got, c.want)
			}
			if got := flags.Changed("delta"); got != (c.name != "default") {
				t.Errorf("the flag counts as given: %v", got)
			}
		})
	}
}

func TestConfigFile(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"of another verb", "rows: 100\nepsilon: 1\n", ""},
		{"quoted, dashed and typed values", "schema-out: 'a b.yaml'\nquiet: true\nseed: " +
			"18446744073709551615\n", ""},
		{"empty", "", ""},
		{"unknown key", "epsilonn: 1\n", `line 1: unknown key "epsilonn": did you mean "epsilon"?`},
		{"unknown key with nothing near", "q: 1\n", `unknown key "q": there are adjacency, `},
		{"settings", "method: mst\nsettings:\n  iterations: 7\n", ""},
		{"settings of no method", "settings: 7\n", "settings must hold"},
		{"a map as a setting", "settings:\n  a: {b: 1}\n", `line 2: "settings.a.b" must be one value`},
		{"--set as a key", "set: a=1\n", `unknown key "set"`},
		{"unknown key with a dot", "epsilon.max: 1\n", `line 1: key "epsilon.max" has a dot`},
		{"map", "epsilon: {max: 1}\n", "one value"},
		{"list", "epsilon: [1, 2]\n", "one value"},
		{"null", "epsilon:\n", "no value"},
		{"twice", "epsilon: 1\nepsilon: 2\n", `line 2: key "epsilon" is in line 1 already`},
		{"not a number", "epsilon: much\n", `epsilon: "much" is not a number`},
		{"not YAML", "{", "yaml"},
		{"another file inside", "config: other.yaml\n", `unknown key "config"`},
		{"a promise that must be typed", "public: true\n", `unknown key "public"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := filled(t, "--config", config(t, c.file))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q in it", err, c.want)
			case c.want != "" && exitCode(err) != exitUsage:
				t.Errorf("exit code %d, want %d", exitCode(err), exitUsage)
			}
		})
	}
	if _, err := filled(t, "--config", filepath.Join(t.TempDir(),
		"none.yaml")); exitCode(err) != exitUsage {
		t.Errorf("a config file that is not there: error %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DECOY_CONFIG", config(t, "epsilon: 2\n"))
	t.Setenv("DECOY_JSON", "true")
	flags, err := filled(t)
	check(t, err)
	if got := flags.Lookup("epsilon").Value.String(); got != "2" {
		t.Errorf("epsilon %s, want 2 from the file that DECOY_CONFIG names", got)
	}
	if got := flags.Lookup("json").Value.String(); got != "true" {
		t.Errorf("json %s, want true", got)
	}
	t.Setenv("DECOY_EPSILON", "much")
	if _, err := filled(t); err == nil || err.Error() != `DECOY_EPSILON: "much" is not a number` {
		t.Errorf("error %v, want it to name the variable", err)
	}
}

// TestEveryFlag checks that each flag of each verb can be set in the environment, but for those
// that must be typed.
func TestEveryFlag(t *testing.T) {
	root := newRoot(&terminal{stdout: io.Discard, stderr: io.Discard})
	var walk func(c *cobra.Command)
	flags := 0
	walk = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if typed(f) || c.Parent() != nil && c.Parent().Name() == "completion" {
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
			if err := fill(c); err != nil {
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
