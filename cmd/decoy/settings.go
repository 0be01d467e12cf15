package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
)

// onlyByHand are the flags that neither the environment nor a config file can set: one that accepts
// a risk, or makes sense once, must be typed each time.
var onlyByHand = []string{"help", "config", "public", "header-is-public", "set", "resume", "force"}

// typedKey annotates a flag of one verb that must be typed, since its name means something else in
// other verbs.
const typedKey = "typed"

// typed reports whether a flag must be typed.
func typed(f *pflag.Flag) bool {
	return slices.Contains(onlyByHand, f.Name) || f.Annotations[typedKey] != nil
}

// source is where a value comes from: the higher wins.
type source int

const (
	fromDefault source = iota
	fromFile
	fromEnvironment
	fromCommandLine
)

const originKey = "decoy-origin"

// origin is where a flag's value comes from: the source, and the place as an error should name it.
func origin(f *pflag.Flag) (source, string) {
	switch at := f.Annotations[originKey]; {
	case len(at) == 1 && strings.HasPrefix(at[0], "DECOY_"):
		return fromEnvironment, at[0]
	case len(at) == 1:
		return fromFile, at[0]
	case f.Changed:
		return fromCommandLine, "--" + f.Name
	}
	return fromDefault, "default"
}

// typedNow reports whether a flag was given on this command line.
func typedNow(cmd *cobra.Command, name string) bool {
	from, _ := origin(cmd.Flags().Lookup(name))
	return from == fromCommandLine
}

// fill gives every flag that the command line left alone its value from the environment or the
// config file, in this order; what is in neither keeps its default. One config file may serve
// several verbs: a key that only other verbs know is left alone, one that no verb knows is an
// error.
func fill(cmd *cobra.Command) error {
	v := viper.New()
	v.SetEnvPrefix("decoy")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	config := cmd.Flags().Lookup("config")
	if !config.Changed {
		config.Value.Set(os.Getenv(variable("config")))
	}
	path := config.Value.String()
	var places map[string]configs.Place
	var err error
	if path != "" {
		if places, err = readConfig(v, path, settable(cmd.Root())); err != nil {
			return err
		}
	}
	at := func(key string) string {
		return fmt.Sprintf("--config %s, line %d", path, places[key].Line)
	}
	file := v.GetStringMap(settingsKey) // of the file: nothing else is bound yet
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if s, ok := f.Value.(*settings); ok {
			s.fill(file, at)
		}
		if err != nil || f.Changed || typed(f) {
			return
		}
		v.BindEnv(f.Name)
		if !v.IsSet(f.Name) {
			return
		}
		place, what, value := variable(f.Name), "", os.Getenv(variable(f.Name))
		if value == "" {
			place, what, value = at(f.Name), f.Name+": ", fmt.Sprint(v.Get(f.Name))
			if written := places[f.Name].Text; written != "" && f.Value.Type() == "string" {
				value = written // 0123 and 2024-01-01 are names here, and no number nor date
			}
		}
		if f.Value.Set(value) != nil {
			err = usagef("%s: %s%q is not %s", place, what, value, kindOf(f))
			return
		}
		f.Changed = true
		cmd.Flags().SetAnnotation(f.Name, originKey, []string{place})
	})
	return err
}

// settingsKey is the key of a config file that holds the settings of the method.
const settingsKey = "settings"

// readConfig reads a YAML file of flags and gives the places of its keys.
func readConfig(v *viper.Viper, path string, known []string) (map[string]configs.Place, error) {
	text, err := job.ReadBounded(path, 1<<20)
	if err != nil {
		return nil, usagef("--config %w", err)
	}
	places, err := configs.Read(v, text)
	if err != nil {
		return nil, usagef("--config %s%w", path, err)
	}
	keys := v.AllKeys() // of the file: nothing else is bound yet
	slices.Sort(keys)
	for _, key := range keys {
		wrong := func(key, format string, args ...any) error {
			return usagef("--config %s, line %d: %s", path, places[key].Line, fmt.Sprintf(format, args...))
		}
		top, rest, nested := strings.Cut(key, ".")
		value := v.Get(key)
		_, list := value.([]any)
		switch {
		case top == settingsKey && !nested:
			return nil, wrong(key, "settings must hold lines of key: value")
		case top == settingsKey && strings.Contains(rest, "."):
			return nil, wrong(key, "%q must be one value", key)
		case top == settingsKey:
		case !slices.Contains(known, top):
			near := "there are " + strings.Join(known, ", ")
			if n := spelling.Nearest(top, known); n != "" {
				near = fmt.Sprintf("did you mean %q?", n)
			}
			return nil, wrong(top, "unknown key %q: %s", top, near)
		case nested || list:
			return nil, wrong(top, "%q must be one value", top)
		case value == nil:
			return nil, wrong(top, "%q has no value", top)
		}
	}
	return places, nil
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

// settings is the flag --set, and what the environment and the config file say of the same.
type settings map[source]configs.Settings

func (s *settings) String() string {
	var parts []string
	for _, g := range (*s)[fromCommandLine] {
		parts = append(parts, fmt.Sprintf("%s=%v", g.Key, g.Value))
	}
	return strings.Join(parts, " ")
}

func (s *settings) Type() string { return "key=value" }

// Set adds one setting of the command line.
func (s *settings) Set(text string) error {
	g, err := configs.ParseSet(text, "--set")
	if err == nil {
		s.add(fromCommandLine, g)
	}
	return err
}

func (s *settings) add(from source, given ...configs.Given) {
	if *s == nil {
		*s = settings{}
	}
	(*s)[from] = append((*s)[from], given...)
}

// settingsVariable begins the environment variables of single settings: DECOY_SETTINGS_STEPS.
const settingsVariable = "DECOY_SETTINGS_"

// fill takes the config file's key settings, and what the environment says.
func (s *settings) fill(file map[string]any, at func(key string) string) {
	s.add(fromFile, configs.SettingsOf(file,
		func(key string) string { return at("settings." + key) })...)
	environment := map[string]any{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if key, ok := strings.CutPrefix(name, settingsVariable); ok && value != "" {
			environment[strings.ToLower(key)] = value
		}
	}
	s.add(fromEnvironment, configs.SettingsOf(environment, func(key string) string {
		return settingsVariable + strings.ToUpper(key)
	})...)
}

// shorthand are flags that set the method's setting of the same name, where it has one.
var shorthand = []string{"target", "workload", "time-limit"}

// of are all settings of a method that were given, those that win last.
func (s *settings) of(cmd *cobra.Command, method string) (configs.Settings, error) {
	for _, name := range shorthand {
		f, key := cmd.Flags().Lookup(name), strings.ReplaceAll(name, "-", "_")
		if f == nil || !f.Changed { // not of this verb, or not given
			continue
		}
		from, place := origin(f)
		given := configs.Given{Key: key, Value: f.Value.String(), From: place}
		if slices.ContainsFunc((*s)[from], func(g configs.Given) bool {
			return g.Key == key && g != given
		}) {
			return nil, usagef("%s: %s is given twice, as a setting and by --%s", place, key, name)
		}
		s.add(from, given)
	}
	return slices.Concat((*s)[fromFile], (*s)[fromEnvironment], (*s)[fromCommandLine]), nil
}
