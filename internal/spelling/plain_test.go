package spelling

import (
	"errors"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"workload: item 2 is empty":               "item 2 is empty",
		"publish: eval: no column":                "no column",
		"m.decoy: release: invalid model file":    "m.decoy: invalid model file",
		"table: line 3: fewer cells":              "table: line 3: fewer cells",
		"no setting \"a\": invalid configuration": "no setting \"a\"",
		"workload: a\nb: invalid workload":        "a\nb",
		"epsilon 0: privacy budget out of range":  "epsilon 0",
		"an invalid workload":                     "an invalid workload",
		"my release: a file":                      "my release: a file",
		"open x+y://me:p/ w@s@h/t: no file":       "open x+y:…: no file",
		"INPUT s3:me:pw@h: none":                  "INPUT s3:…: none",
		"a: b@c, line 3: d":                       "a: b@c, line 3: d",
		"one\neval: two":                          "one\ntwo",
	} {
		if got := Plain(errors.New(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
