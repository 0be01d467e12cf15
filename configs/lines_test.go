package configs

import (
	"maps"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	got, err := linesOf([]byte("a: 1\nB:\n  c: 2\n  d: [3,\n    {e: 4}]\n"))
	want := map[string]int{"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.0": 4, "b.d.1": 5, "b.d.1.e": 5}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := linesOf([]byte("{")); err == nil {
		t.Errorf("of no YAML: %v", got)
	}
}

// TestTwice: a key that is there more than once is told of a few times, however often it is there.
func TestTwice(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb: 2\nA: 3\n", `, line 3: key "a" is in line 1 already`},
		{"s:\n  - {x: 1}\n  - {x: 1, x: 2}\n", `, line 3: key "s.1.x" is in line 3 already`},
		{strings.Repeat("a: 1\n", 100_000), `, line 2: key "a" is in line 1 already` +
			`, line 3: key "a" is in line 1 already, line 4: key "a" is in line 1 already; and 99996 more`},
	} {
		if _, err := linesOf([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
