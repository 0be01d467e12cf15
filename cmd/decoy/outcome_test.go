package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestAskOutcome: a wrong name is answered with the nearest one and asked again, nothing is an
// answer too, and an interrupt does not wait for one.
func TestAskOutcome(t *testing.T) {
	names := []string{"age", "income"}
	for _, c := range []struct{ typed, want, says string }{
		{"\n", "", ""},
		{"", "", ""},
		{"None\n", "", ""},
		{" income \n", "income", "if there is one (perhaps)?"},
		{"incom\nincome\n", "income", `There is no column "incom"; did you mean "income"?`},
		{"zzzzz\n\n", "", `There is no column "zzzzz"; there are age, income.`},
	} {
		var out bytes.Buffer
		got, err := askOutcome(t.Context(), strings.NewReader(c.typed), &out, names, " (perhaps)")
		if got != c.want || err != nil || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: %q, %v\n%s", c.typed, got, err, &out)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, w, err := os.Pipe()
	check(t, err)
	defer w.Close()
	if _, err := askOutcome(ctx, r, new(bytes.Buffer), names, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
