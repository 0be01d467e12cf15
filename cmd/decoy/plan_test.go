package main

import (
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestCostSaysItsSlack: a bound says how loose it is, unless it is exact.
func TestCostSaysItsSlack(t *testing.T) {
	for slack, says := range map[float64]bool{0: false, .01: true} {
		c := costOf(accountant.Bound{Epsilon: 1, Slack: slack})
		if got := strings.Contains(c.String(), "an upper bound"); got != says {
			t.Errorf("slack %v: %s", slack, c)
		}
	}
}
