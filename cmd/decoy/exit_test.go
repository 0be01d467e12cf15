package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

func TestExitCode(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", err)) }
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"none", nil, 0},
		{"any other", errors.New("disk on fire"), 1},
		{"interrupted", wrap(context.Canceled), 1},
		{"usage", wrap(usagef("--rows")), 2},
		{"schema file", wrap(schema.ErrInvalid), 2},
		{"two problems of a schema", errors.Join(wrap(schema.ErrInvalid), wrap(schema.ErrInvalid)), 2},
		{"budget range", wrap(accountant.ErrBudgetRange), 2},
		{"method setting", wrap(synth.ErrConfig), 2},
		{"other units than the ledger", wrap(ledger.ErrMismatch), 2},
		{"unknown data set", wrap(datasets.ErrUnknown), 2},
		{"data set not embedded", wrap(datasets.ErrNotEmbedded), 2},
		{"limit", wrap(accountant.ErrBudget), 10},
		{"not in the plan", wrap(privacy.ErrPlan), 10},
		{"lock", wrap(ledger.ErrLocked), 11},
		{"data", wrap(schema.ErrSchema), 12},
		{"data, and the run could not be closed",
			errors.Join(wrap(schema.ErrSchema), errors.New("no space")), 12},
		{"model file with a bad schema", fmt.Errorf("%w: %w", release.ErrFormat, schema.ErrInvalid), 1},
		{"false claim", wrap(release.ErrClaim), 1},
		{"ledger that broke its limit", fmt.Errorf("%w: %w", ledger.ErrInvalid, accountant.ErrBudget),
			1},
		{"usage about a method", configs.Usagef("--method: %w", synth.ErrConfig), 2},
		{"reworded", &configs.Reworded{Text: "interrupted", Err: context.Canceled}, 1},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPrintError(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("no"), "decoy: no\n"},
		{"usage", usagef("--rows 0 must be at least 1"), "decoy: --rows 0 must be at least 1; see " +
			"'decoy x --help'\n"},
		{"several lines", errors.Join(errors.New("line 1: a"), errors.New("line 2: b")),
			"decoy: line 1: a\ndecoy: line 2: b\n"},
		{"interrupted", context.Canceled, "decoy: interrupted\n"},
	} {
		var b strings.Builder
		printError(&b, c.err, "decoy x")
		if b.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, b.String(), c.want)
		}
	}
}
