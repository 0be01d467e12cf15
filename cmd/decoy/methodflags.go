package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/all"
)

// settingsVariable begins the environment variables of single settings: DECOY_SETTINGS_STEPS.
const settingsVariable = "DECOY_SETTINGS_"

// settings is the flag --set, and what the environment and the config file say of the same.
type settings struct {
	file, env, typed []configs.Given
}

func (s *settings) String() string {
	var parts []string
	for _, g := range s.typed {
		parts = append(parts, fmt.Sprintf("%s=%v", g.Key, g.Value))
	}
	return strings.Join(parts, " ")
}

func (s *settings) Type() string { return "key=value" }

// Set adds one setting of the command line.
func (s *settings) Set(text string) error {
	g, err := configs.ParseSet(text, "--set")
	if err == nil {
		s.typed = append(s.typed, g)
	}
	return err
}

// settle takes what the environment says, and the config file's key settings.
func (s *settings) settle(file map[string]any, from func(key string) string) {
	for key, value := range file {
		s.file = append(s.file, configs.Given{Key: key, Value: value, From: from("settings." + key)})
	}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if key, ok := strings.CutPrefix(name, settingsVariable); ok && value != "" {
			s.env = append(s.env, configs.Given{Key: strings.ToLower(key), Value: value, From: name})
		}
	}
	for _, given := range [][]configs.Given{s.file, s.env} {
		slices.SortFunc(given, func(a, b configs.Given) int { return strings.Compare(a.Key, b.Key) })
	}
}

// methodFlags are the flags that choose and set up a method.
type methodFlags struct {
	method   string
	settings settings
	preset   string
}

// sugar are flags that set the method's setting of the same name, where it has one.
var sugar = map[string]string{
	"target":     "column `C` that the synthetic table will be used to predict",
	"workload":   "marginals or queries `W` that must be accurate",
	"time-limit": "stop refining after `T` (90s, 10m); the guarantee holds",
}

func (m *methodFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.method, "method", all.Default, "synthesis method `M`: "+
		strings.Join(all.Names(), ", "))
	f.Var(&m.settings, "set", "a setting of the method, `KEY=VALUE`, any number of times (decoy "+
		"config settings)")
	f.StringVar(&m.preset, "preset", "", "defaults for a kind of table, `P`: "+
		strings.Join(configs.Presets(), ", "))
	for name, text := range sugar {
		f.String(name, "", text+" (of the methods that have this setting)")
	}
	complete(cmd, "method", all.Names()...)
	complete(cmd, "preset", configs.Presets()...)
}

// settingKey is the setting that a sugar flag sets.
func settingKey(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// given are all settings that were given, those that win last.
func (m *methodFlags) given(cmd *cobra.Command) ([]configs.Given, error) {
	var preset []configs.Given
	byRank := map[string][]configs.Given{fromFile: m.settings.file, fromEnvironment: m.settings.env,
		fromCommandLine: m.settings.typed}
	take := func(name string, f *pflag.Flag) error {
		key := settingKey(name)
		if !configs.Has(m.method, key) {
			return usagef("--%s: method %s has no setting %q (decoy config settings --method %s)", name,
				m.method, key, m.method)
		}
		rank, from := origin(f)
		if slices.ContainsFunc(byRank[rank], func(g configs.Given) bool { return g.Key == key }) {
			return usagef("%s: %s is given twice, as a setting and by --%s", from, key, name)
		}
		byRank[rank] = append(byRank[rank], configs.Given{Key: key, Value: f.Value.String(), From: from})
		return nil
	}
	if f := cmd.Flags().Lookup("preset"); f.Changed {
		p, err := configs.PresetOf(m.preset)
		switch {
		case err == nil:
			preset = p.Given(m.preset, m.method)
		case configs.Has(m.method, "preset"):
			if err := take("preset", f); err != nil {
				return nil, err
			}
		default:
			return nil, &usageError{fmt.Errorf("--preset: %w", err)}
		}
	}
	for name := range sugar {
		if f := cmd.Flags().Lookup(name); f.Changed {
			if err := take(name, f); err != nil {
				return nil, err
			}
		}
	}
	return slices.Concat(preset, byRank[fromFile], byRank[fromEnvironment], byRank[fromCommandLine]),
		nil
}

// fitter is the method with its settings.
func (m *methodFlags) fitter(cmd *cobra.Command) (synth.Fitter, error) {
	if err := m.applyPreset(cmd); err != nil {
		return nil, err
	}
	if !slices.Contains(all.Names(), m.method) {
		_, err := all.New(m.method, nil)
		return nil, &usageError{fmt.Errorf("--method: %w", err)}
	}
	given, err := m.given(cmd)
	if err != nil {
		return nil, err
	}
	f, err := all.New(m.method, configs.Decoder(m.method, given))
	if err != nil {
		return nil, &usageError{err}
	}
	return f, nil
}

// applyPreset gives the flags that nothing else has set the preset's value.
func (m *methodFlags) applyPreset(cmd *cobra.Command) error {
	p, err := configs.PresetOf(m.preset)
	if err != nil {
		return nil // not one of ours: perhaps a setting of the method
	}
	for name, value := range map[string]string{"method": p.Method, "delta": fmt.Sprint(p.Delta)} {
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Changed || value == "" || value == "0" {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			return usagef("preset %s: %s: %q is not %s", m.preset, name, value, kindOf(f))
		}
		mark(f, fromPreset, "preset "+m.preset)
	}
	return nil
}
