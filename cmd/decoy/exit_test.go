package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
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
