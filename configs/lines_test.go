package configs

import (
	"maps"
	"testing"
)

func TestLines(t *testing.T) {
	got := Lines([]byte("a: 1\nB:\n  c: 2\n  d: [3,\n    {e: 4}]\n"))
	want := map[string]int{"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.0": 4, "b.d.1": 5, "b.d.1.e": 5}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Lines([]byte("{")); len(got) != 0 {
		t.Errorf("of no YAML: %v", got)
	}
}
