package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// onlyByHand are the flags that neither the environment nor a config file can set: one that accepts
// a risk, or makes sense once, must be typed each time.
var onlyByHand = []string{"help", "config", "public", "header-is-public", "set", "resume", "force"}

// Where a flag's value comes from: the higher wins.
const (
	fromDefault     = "default"
	fromPreset      = "preset"
	fromFile        = "file"
	fromEnvironment = "environment"
	fromCommandLine = "command line"
)

const originKey = "decoy-origin"

// mark notes where a flag's value comes from: the rank, and the place as an error should name it.
func mark(f *pflag.Flag, rank, place string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[originKey] = []string{rank, place}
}

// origin is what mark noted.
func origin(f *pflag.Flag) (rank, place string) {
	switch noted := f.Annotations[originKey]; {
	case len(noted) == 2:
		return noted[0], noted[1]
	case f.Changed:
		return fromCommandLine, "--" + f.Name
	}
	return fromDefault, fromDefault
}

// rankOf is the rank of a flag's value.
func rankOf(cmd *cobra.Command, name string) string {
	rank, _ := origin(cmd.Flags().Lookup(name))
	return rank
}

// typedKey annotates a flag of one verb that must be typed, since its name means something else in
// other verbs.
const typedKey = "typed"

// typed reports whether a flag must be typed.
func typed(f *pflag.Flag) bool {
	return slices.Contains(onlyByHand, f.Name) || f.Annotations[typedKey] != nil
}

// settle gives every flag that the command line left alone its value from the environment or the
// config file, in this order; what is in neither keeps its default. One config file may serve
// several verbs: a key that only other verbs know is left alone, one that no verb knows is an
// error.
func settle(cmd *cobra.Command) error {
	v := viper.New()
	v.SetEnvPrefix("decoy")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	var err error
	config := cmd.Flags().Lookup("config")
	if !config.Changed {
		config.Value.Set(os.Getenv(variable("config")))
	}
	path := config.Value.String()
	from := func(key string) string { return "--config " + path + ": " + key }
	if path != "" {
		var lines map[string]int
		if lines, err = readConfig(v, path, settable(cmd.Root())); err != nil {
			return err
		}
		from = func(key string) string { return fmt.Sprintf("--config %s, line %d", path, lines[key]) }
	}
	file := v.GetStringMap(settingsKey) // of the file: nothing else is bound yet
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if s, ok := f.Value.(*settings); ok {
			s.settle(file, from)
			return
		}
		if err != nil || f.Changed || typed(f) {
			return
		}
		v.BindEnv(f.Name)
		if !v.IsSet(f.Name) {
			return
		}
		rank, source := fromEnvironment, variable(f.Name)
		if os.Getenv(source) == "" {
			rank, source = fromFile, from(f.Name)
		}
		value := fmt.Sprint(v.Get(f.Name))
		if f.Value.Set(value) != nil {
			if rank == fromFile {
				source += ": " + f.Name
			}
			err = usagef("%s: %q is not %s", source, value, kindOf(f))
			return
		}
		f.Changed = true
		mark(f, rank, source)
	})
	return err
}

// settingsKey is the key of a config file that holds the settings of the method.
const settingsKey = "settings"

// readConfig reads a YAML file of flags and gives the lines of its keys.
func readConfig(v *viper.Viper, path string, known []string) (map[string]int, error) {
	text, err := readBounded(path, 1<<20)
	if err != nil {
		return nil, usagef("--config %w", err)
	}
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return nil, usagef("--config %s: %w", path, err)
	}
	lines := configs.Lines(text)
	keys := v.AllKeys() // of the file: nothing else is bound yet
	slices.Sort(keys)
	for _, key := range keys {
		top, rest, nested := strings.Cut(key, ".")
		if top == settingsKey {
			if !nested {
				return nil, usagef("--config %s, line %d: settings must hold lines of key: value", path,
					lines[key])
			}
			if strings.Contains(rest, ".") {
				return nil, usagef("--config %s, line %d: %q must be one value", path, lines[key], key)
			}
			continue
		}
		switch {
		case !slices.Contains(known, top):
			near := "there are " + strings.Join(known, ", ")
			if n := spelling.Nearest(top, known); n != "" {
				near = fmt.Sprintf("did you mean %q?", n)
			}
			return nil, usagef("--config %s, line %d: unknown key %q: %s", path, lines[top], top, near)
		case nested:
			return nil, usagef("--config %s, line %d: %q must be one value", path, lines[top], top)
		}
		switch v.Get(key).(type) {
		case nil:
			return nil, usagef("--config %s, line %d: %q has no value", path, lines[key], key)
		case []any:
			return nil, usagef("--config %s, line %d: %q must be one value", path, lines[key], key)
		}
	}
	return lines, nil
}

// settable lists the flags of all verbs that a config file may hold.
func settable(root *cobra.Command) []string {
	var names []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.LocalNonPersistentFlags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if !typed(f) {
					names = append(names, f.Name)
				}
			})
		}
		for _, sub := range c.Commands() {
			if sub.Name() != "completion" && sub.Name() != "help" {
				walk(sub)
			}
		}
	}
	walk(root)
	slices.Sort(names)
	return slices.Compact(names)
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "DECOY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// kindOf says what a flag's value must be.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "float64":
		return "a number"
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number from 0 to 18446744073709551615"
	case "bool":
		return "true or false"
	case "key=value":
		return "KEY=VALUE"
	}
	return "valid"
}
