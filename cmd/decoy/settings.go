package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// onlyByHand are the flags that neither the environment nor a config file can set: one that accepts a risk must be typed each time.
var onlyByHand = []string{"help", "config", "public"}

// settle gives every flag that the command line left alone its value from the environment or the config file, in this order; what is
// in neither keeps its default. One config file may serve several verbs: a key that only other verbs know is left alone, one that no
// verb knows is an error.
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
	if path != "" {
		if err := readConfig(v, path, settable(cmd.Root())); err != nil {
			return err
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || slices.Contains(onlyByHand, f.Name) {
			return
		}
		v.BindEnv(f.Name)
		if !v.IsSet(f.Name) {
			return
		}
		value := fmt.Sprint(v.Get(f.Name))
		if f.Value.Set(value) != nil {
			source := variable(f.Name)
			if os.Getenv(source) == "" {
				source = fmt.Sprintf("--config %s: %s", path, f.Name)
			}
			err = usagef("%s: %q is not %s", source, value, kindOf(f))
			return
		}
		f.Changed = true
	})
	return err
}

// readConfig reads a YAML file of flags.
func readConfig(v *viper.Viper, path string, known []string) error {
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	if err := v.ReadInConfig(); err != nil {
		return usagef("--config %s: %w", path, err)
	}
	keys := v.AllKeys() // of the file: nothing else is bound yet
	slices.Sort(keys)
	for _, key := range keys {
		switch top, _, nested := strings.Cut(key, "."); {
		case !slices.Contains(known, top):
			return usagef("--config %s: unknown key %q: there are %s", path, top, strings.Join(known, ", "))
		case nested:
			return usagef("--config %s: %q must be one value", path, top)
		}
		switch v.Get(key).(type) {
		case nil:
			return usagef("--config %s: %q has no value", path, key)
		case []any:
			return usagef("--config %s: %q must be one value", path, key)
		}
	}
	return nil
}

// settable lists the flags of all verbs that a config file may hold.
func settable(root *cobra.Command) []string {
	var names []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.LocalNonPersistentFlags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if !slices.Contains(onlyByHand, f.Name) {
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
	}
	return "valid"
}
