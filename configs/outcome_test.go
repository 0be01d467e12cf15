package configs

import (
	"strings"
	"testing"
)

// TestLikelyOutcome: a name decides, or the last column of few codes.
func TestLikelyOutcome(t *testing.T) {
	for _, c := range []struct {
		names string
		codes []int
		want  string
	}{
		{"age income", nil, "income"},
		{"income death", nil, "death"},
		{"Y day", nil, "Y"},
		{"age Is_Died", nil, "Is_Died"},
		{"age study", nil, ""},
		{"age kind", []int{50, 3}, "kind"},
		{"age place", []int{50, 40}, ""},
		{"age", []int{2}, ""},
	} {
		if got := likelyOutcome(strings.Fields(c.names), c.codes); got != c.want {
			t.Errorf("%s: %q, want %q", c.names, got, c.want)
		}
	}
}
