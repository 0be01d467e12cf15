package spelling

import (
	"errors"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"table: line 3: fewer cells":              "table: line 3: fewer cells",
		"no setting \"a\": invalid configuration": "no setting \"a\"",
		"a\nb: invalid workload":                  "a\nb",
		"epsilon 0: privacy budget out of range":  "epsilon 0",
		"an invalid workload":                     "an invalid workload",
		"open x+y://me:p/ w@s@h/t: no file":       "open x+y:…: no file",
		"INPUT s3:me:pw@h: none":                  "INPUT s3:…: none",
		"a: b@c, line 3: d":                       "a: b@c, line 3: d",
	} {
		if got := Plain(errors.New(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
