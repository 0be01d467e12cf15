package configs

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/synth/all"
)

// TestPresets: each one is read, explains itself, and is accepted by every method that it speaks
// of.
func TestPresets(t *testing.T) {
	if got := Presets(); !slices.Equal(got, presetOrder) {
		t.Fatalf("presets %v, want %v", got, presetOrder)
	}
	for _, name := range Presets() {
		text, err := PresetYAML(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\n# ")) {
			t.Errorf("%s gives no reason", name)
		}
		p, err := PresetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.About == "" {
			t.Errorf("%s does not say what it is for", name)
		}
		if b := (accountant.Budget{Epsilon: 1, Delta: p.Delta}); b.Validate() != nil {
			t.Errorf("%s: delta %v", name, p.Delta)
		}
		for method := range p.Settings {
			if _, err := all.New(method, Decoder(method, p.Given(name, method))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, bad := range []string{"", "smal", "../presets/small"} {
		if _, err := PresetOf(bad); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
