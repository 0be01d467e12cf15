package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestAuditVerdict: a refuted claim is an error with exit code 1 that says what was shown; the
// report says it too.
func TestAuditVerdict(t *testing.T) {
	for _, tt := range []struct {
		name string
		out  audited
		want string
	}{
		{"kept", audited{Method: "mst", Epsilon: .9, Confidence: .95}, ""},
		{"beyond the budget", audited{Method: "mst", Epsilon: 1.5, Confidence: .95, Refuted: true,
			Audits: []attack.Result{{Tables: "rare",
				Broken: &attack.Break{Epsilon: 1, Claimed: 1e-9, Shown: .1}, Refuted: true}}},
			"the claim is refuted: mst spends epsilon 1.500 at least of the 1 it claims, or more delta at " +
				"some epsilon, at 95 % confidence"},
	} {
		tt.out.Budget = accountant.Budget{Epsilon: 1, Delta: 1e-9}
		err := tt.out.verdict()
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err == nil || err.Error() != tt.want || !errors.Is(err, errRefuted) ||
			exitCode(err) != exitError {
			t.Errorf("%s: %v, exit code %d, want %q", tt.name, err, exitCode(err), tt.want)
		}
		var b bytes.Buffer
		check(t, (&terminal{stdout: &b, stderr: &b}).print(tt.out))
		if !strings.Contains(b.String(), "exceeded: at epsilon") {
			t.Errorf("%s: the report does not say it:\n%s", tt.name, b.String())
		}
	}
}
