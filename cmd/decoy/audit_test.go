package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/attack"
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
			"the claim is refuted: mst spends epsilon 1.500 at least, more than the 1 it claims, at 95 % " +
				"confidence"},
		{"beyond the account", audited{Method: "wgan", Epsilon: .5, Confidence: .99, Refuted: true,
			Audits: []attack.Result{{Tables: "balanced",
				Broken: &attack.Break{Epsilon: 0, Claimed: .1, Shown: .2}, Refuted: true}}},
			"the claim is refuted: wgan exceeds its account, which at epsilon 0 promises delta ≤ 0.1 " +
				"where the runs show 0.2 at least, at 99 % confidence"},
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
