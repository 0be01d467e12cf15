package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/synth"
)

func configSettingsCommand(t *terminal) *cobra.Command {
	method := synth.Auto
	return t.verb("config settings", func(_ *cobra.Command, t *terminal, _ []string) error {
		settings, err := synth.Settings(method)
		if err != nil {
			return &configs.UsageError{Err: fmt.Errorf("--method: %w", err)}
		}
		return t.print(listing[synth.Setting]{settings, "KEY\tTYPE\tDEFAULT\tMEANING",
			func(s synth.Setting) string { return row(s.Key, s.Type, s.Default, s.Text) }})
	}, flags{"method": &method})
}

// configShow resolves the flags of generate, and the settings of the method, without a run.
type configShow struct{ generate }

func configShowCommand(t *terminal) *cobra.Command {
	c := &configShow{newGenerate()}
	return t.verb("config show", c.show, c.flags(), c.texts.flags())
}

// resolved is one value and its origin.
type resolved struct {
	Key   string `json:"key" head:"KEY"`
	Value string `json:"value" head:"VALUE"`
	From  string `json:"from" head:"FROM"`
}

// shownKeys are the keys of a job, in the order of a config file.
var shownKeys = []string{"input", "dataset", "schema", "method", "epsilon", "delta",
	"adjacency", "ledger", "rows", "seed", "out", "model"}

func (c *configShow) show(cmd *cobra.Command, t *terminal, _ []string) error {
	var err error
	if c.Settings, err = c.set.of(cmd, c.Method); err != nil {
		return err
	}
	if _, err := c.Fitter(); err != nil {
		return err
	}
	if err := c.checkTexts(cmd); err != nil {
		return err
	}
	var out []resolved
	for _, key := range shownKeys {
		f := cmd.Flags().Lookup(key)
		place := placeOf(f)
		if place == "default" && (f.DefValue == "" || f.DefValue == "0") {
			continue
		}
		out = append(out, resolved{key, f.Value.String(), place})
	}
	settings, err := synth.Settings(c.Method)
	if err != nil {
		return err
	}
	for _, s := range settings {
		r := resolved{"settings." + s.Key, s.Default, "default"}
		for _, g := range slices.Backward(c.Settings) {
			if g.Key == s.Key {
				r.Value, r.From = fmt.Sprint(g.Value), g.From
				break
			}
		}
		out = append(out, r)
	}
	return t.print(listing[resolved]{items: out})
}
