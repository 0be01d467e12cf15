package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"steps", "hidden", "rate"}
	for text, want := range map[string]string{"step": "steps", "hiden": "hidden", "rates": "rate",
		"x": "", "": "", "RATE": "rate", "hiddenlayers": "hidden", "hid": "hidden", "ra": ""} {
		if got := Nearest(text, names); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"adult", "adult", 0},
		{"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
