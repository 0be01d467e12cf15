package main

import (
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/synth/wgan"
)

// TestVariants: each variant of the list has settings that its method takes.
func TestVariants(t *testing.T) {
	names, fitters := variants(func(c wgan.Config) wgan.Config { return c })
	if len(names) != len(fitters) {
		t.Errorf("%d names for %d variants", len(names), len(fitters))
	}
	for _, name := range names {
		if _, err := fitterOf(name, fitters); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	got := split("wgan hidden=8,16 steps=2,mst,wgan hidden=8,16,mst")
	if want := []string{"wgan hidden=8,16 steps=2", "mst", "wgan hidden=8,16",
		"mst"}; !slices.Equal(got, want) {
		t.Errorf("variants %q, want %q", got, want)
	}
	for _, name := range got {
		if _, err := fitterOf(name, fitters); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "no such method", "pategan rounds=x"} {
		if _, err := fitterOf(bad, fitters); err == nil {
			t.Errorf("%q is a variant", bad)
		}
	}
}
