package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
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

const originKey = "decoy-origin"

// placeOf is where a flag's value comes from, as an error should name it.
func placeOf(f *pflag.Flag) string {
	switch at := f.Annotations[originKey]; {
	case len(at) == 1:
		return at[0]
	case f.Changed:
		return "--" + f.Name
	}
	return "default"
}

// typedNow reports whether a flag was given on this command line.
func typedNow(cmd *cobra.Command, name string) bool {
	return placeOf(cmd.Flags().Lookup(name)) == "--"+name
}

// rank orders the places where a setting may be given: the higher wins.
func rank(place string) int {
	switch {
	case strings.HasPrefix(place, "--config "):
		return 0
	case strings.HasPrefix(place, variable("")):
		return 1
	}
	return 2 // the command line
}

// fill gives every flag that the command line left alone its value from the environment or the
// config file, in this order; what is in neither keeps its default. A key of the file that the verb
// does not have is an error, and so is a variable that no verb has.
func fill(cmd *cobra.Command) error {
	v := viper.New()
	v.SetEnvPrefix("decoy")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	config := cmd.Flags().Lookup("config")
	if !config.Changed {
		config.Value.Set(os.Getenv(variable("config")))
	}
	if err := checkEnvironment(cmd); err != nil {
		return err
	}
	file := configFile{path: config.Value.String()}
	if file.path != "" {
		if err := file.read(cmd); err != nil {
			return err
		}
	}
	if err := v.MergeConfigMap(file.values); err != nil {
		return err
	}
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if s, ok := f.Value.(*settings); ok {
			*s = append(*s, file.settings...)
		}
		if err != nil || f.Changed || typed(f) {
			return
		}
		v.BindEnv(f.Name)
		if !v.IsSet(f.Name) {
			return
		}
		place, what, value := variable(f.Name), "", v.GetString(f.Name)
		if os.Getenv(place) == "" {
			place = fmt.Sprintf("--config %s, line %d", file.path, file.lines[f.Name])
			what = f.Name + ": "
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

// onePath is the value of --config: of two files, one would be passed over.
type onePath string

func (p *onePath) String() string { return string(*p) }
func (p *onePath) Type() string   { return "string" }
func (p *onePath) Set(path string) error {
	if *p != "" {
		return errors.New("a second file")
	}
	*p = onePath(path)
	return nil
}

// settingsKey is the key of a config file that holds the settings of the method.
const settingsKey = "settings"

// configFile is a YAML file of flags.
type configFile struct {
	path     string
	values   map[string]any // texts, by flag
	lines    map[string]int
	settings configs.Settings
}

// read reads the file as the values of a verb's flags.
func (c *configFile) read(cmd *cobra.Command) error {
	text, err := configs.ReadBounded(c.path, 1<<20)
	if err != nil {
		return usagef("--config %w", err)
	}
	c.values, c.lines = map[string]any{}, map[string]int{}
	var problems []string
	r := yamlfile.Reader{Report: func(line int, text string) {
		problems = append(problems, fmt.Sprintf("--config %s, %s", c.path, yamlfile.At(line, text)))
	}}
	flags := settable(cmd)
	names := slices.Sorted(maps.Keys(flags))
	r.Unknown = func(key string, _ []string) string {
		return refusal(cmd, "key "+strconv.Quote(key), key, key, names)
	}
	values := map[string]*yaml.Node{}
	if root := r.Document(text, "a config file", "epsilon: 1"); root != nil {
		values = r.Fields(root, "", names)
	}
	for _, name := range names {
		n := values[name]
		switch {
		case n == nil:
			continue
		case name == settingsKey:
			r.Decode(n, name, &c.settings)
			continue
		}
		c.lines[name] = n.Line
		var err error
		if c.values[name], err = flagText(flags[name], n); err != nil {
			r.Report(n.Line, name+": "+err.Error())
		}
	}
	c.settings = c.settings.In("--config " + c.path)
	const most = 10
	if more := len(problems) - most; more > 0 {
		problems = append(problems[:most], fmt.Sprintf("and %d more", more))
	}
	if len(problems) > 0 {
		return usagef("%s", strings.Join(problems, "\n"))
	}
	return nil
}

// flagText is a value of a config file as the flag would have it on the command line.
func flagText(f *pflag.Flag, n *yaml.Node) (string, error) {
	var err error
	switch f.Value.Type() {
	case "bool":
		_, err = yamlfile.Truth(n)
	case "float64":
		_, err = yamlfile.Number(n)
	case "int":
		_, err = yamlfile.Whole(n, 64)
	case "uint64":
		_, err = yamlfile.Natural(n)
	default:
		if _, err = yamlfile.String(n); err == nil && n.Value == "" {
			err = errors.New("it is empty: leave the key out")
		}
	}
	return n.Value, err
}

// passesKey is the head of a manual that names a verb whose config files this one takes, too.
const passesKey = "passes"

// settable are the keys of config files that a verb takes, with their flags: its own, and those of
// the run that it plans.
func settable(cmd *cobra.Command) map[string]*pflag.Flag {
	out := map[string]*pflag.Flag{}
	add := func(f *pflag.Flag) {
		if _, ok := f.Value.(*settings); ok {
			out[settingsKey] = f
		} else if !typed(f) {
			out[f.Name] = f
		}
	}
	for _, v := range verbs {
		if v.name+" " == cmd.Annotations[passesKey] {
			v.make(new(terminal)).LocalFlags().VisitAll(add)
		}
	}
	cmd.Flags().VisitAll(add)
	return out
}

// refusal says why a verb does not take a key of a file or a variable, which is called name there,
// as the names are that it takes.
func refusal(cmd *cobra.Command, what, key, name string, names []string) string {
	if f := cmd.Flag(key); f != nil && typed(f) || slices.Contains(onlyByHand, key) {
		return fmt.Sprintf("unknown %s: --%s must be typed each time", what, key)
	}
	hint := cmp.Or(spelling.Hint(name, names), fmt.Sprintf("; for %s there are %s", cmd.CommandPath(),
		strings.Join(names, ", ")))
	return fmt.Sprintf("unknown %s%s", what, hint)
}

// checkEnvironment refuses variables that no verb would read. An empty one is none.
func checkEnvironment(cmd *cobra.Command) error {
	var known map[string]bool // made where a variable is there
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		key := strings.ToLower(strings.TrimPrefix(name, variable("")))
		key = strings.ReplaceAll(key, "_", "-")
		if !strings.HasPrefix(name, variable("")) || value == "" {
			continue
		}
		if known == nil {
			known = map[string]bool{"config": true, "spark-token": true}
			addSettable(known, newRoot(new(terminal), nil))
		}
		if !(known[key] && name == variable(key)) {
			var names []string
			for key := range settable(cmd) {
				names = append(names, variable(key))
			}
			slices.Sort(names)
			return usagef("%s", refusal(cmd, "environment variable "+name, key, name, names))
		}
	}
	return nil
}

// addSettable adds the keys that a verb takes, and those of the verbs below it.
func addSettable(known map[string]bool, c *cobra.Command) {
	for name := range settable(c) {
		known[name] = name != settingsKey
	}
	for _, sub := range c.Commands() {
		addSettable(known, sub)
	}
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "DECOY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// kindOf says what a flag's value must be.
func kindOf(f *pflag.Flag) string {
	if f.Name == "config" {
		return "the only one, and one file is all that is read"
	}
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
	case "stringSlice":
		return "a list of names separated by commas"
	}
	return "valid"
}

// settings is the flag --set, and what the environment and the config file say of the same.
type settings configs.Settings

func (s *settings) String() string {
	var parts []string
	for _, g := range *s {
		parts = append(parts, fmt.Sprintf("%s=%v", g.Key, g.Value))
	}
	return strings.Join(parts, " ")
}

func (s *settings) Type() string { return "key=value" }

// Set adds one setting of the command line.
func (s *settings) Set(text string) error {
	g, err := configs.ParseSet(text, "--set")
	if err == nil {
		*s = append(*s, g)
	}
	return err
}

// shorthand are flags that set the method's setting of the same name, where it has one.
var shorthand = []string{"target", "workload"}

// of are all settings of the method that were given, those that win last.
func (s *settings) of(cmd *cobra.Command) (configs.Settings, error) {
	for _, name := range shorthand {
		f, key := cmd.Flags().Lookup(name), strings.ReplaceAll(name, "-", "_")
		if f == nil || !f.Changed { // not of this verb, or not given
			continue
		}
		given := configs.Given{Key: key, Value: f.Value.String(), From: placeOf(f)}
		if slices.ContainsFunc(*s, func(g configs.Given) bool {
			return g.Key == key && rank(g.From) == rank(given.From) && g != given
		}) {
			return nil, usagef("%s: %s is given twice, as a setting and by --%s", given.From, key, name)
		}
		*s = append(*s, given)
	}
	slices.SortStableFunc(*s, func(a, b configs.Given) int {
		return cmp.Compare(rank(a.From), rank(b.From))
	})
	return configs.Settings(*s), nil
}
