package main

import (
	"slices"
	"testing"
)

// TestVariants: a list is cut at the right commas, and each variant has settings that its method
// takes.
func TestVariants(t *testing.T) {
	got := split("wgan hidden=8,16 steps=2,mst,wgan hidden=8,16,mst")
	want := []string{"wgan hidden=8,16 steps=2", "mst", "wgan hidden=8,16", "mst"}
	if !slices.Equal(got, want) {
		t.Errorf("variants %q, want %q", got, want)
	}
	for _, name := range append(got, "wgan mode=thesis marginal_share=.5",
		"pategan rounds=1 questions=1 marginal_share=.999") {
		if _, err := variant(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "no such method", "pategan rounds=x"} {
		if _, err := variant(bad); err == nil {
			t.Errorf("%q is a variant", bad)
		}
	}
}
