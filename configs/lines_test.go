package configs

import (
	"maps"
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	got, err := placesOf([]byte("a: 0123\nB:\n  c: 2\n  d: [3,\n    {e: &x 4}]\nf: *x\n"))
	want := map[string]Place{"a": {1, "0123"}, "b": {2, ""}, "b.c": {3, "2"}, "b.d": {4, ""},
		"b.d.0": {4, "3"}, "b.d.1": {5, ""}, "b.d.1.e": {5, "4"}, "f": {6, "4"}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := placesOf([]byte("{")); err == nil {
		t.Errorf("of no YAML: %v", got)
	}
}

// TestWrongKeys: what would be passed over in silence is an error; of many such keys it names some.
func TestWrongKeys(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb: 2\nA: 3\n", `, line 3: key "a" is in line 1 already`},
		{"s:\n  - {x: 1}\n  - {x: 1, x: 2}\n", `, line 3: key "s.1.x" is in line 3 already`},
		{"a: 1\nsettings.x: 2\n", `, line 2: key "settings.x" has a dot: write settings: {x: ...}`},
		{"a: 1\n---\nb: 2\n", ", line 2: a second document begins here (after ---), which would not " +
			"be read: one file is one document"},
		{strings.Repeat("a: 1\n", 100_000), `, line 2: key "a" is in line 1 already` +
			`, line 3: key "a" is in line 1 already, line 4: key "a" is in line 1 already; and 99996 more`},
	} {
		if _, err := placesOf([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
