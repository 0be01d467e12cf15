package validate

import (
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/release"
)

// format is the version of the JSON.
const format = 1

// Read reads the JSON of a result. It verifies nothing.
func Read(r io.Reader) (*Result, error) {
	out := &Result{}
	if err := release.ReadFile(r, out); err != nil || out.Format != format {
		return nil, errors.New("validate: not a validated statistic")
	}
	return out, nil
}

// States are the claim and the program that the file names.
func (r *Result) States() (release.Claim, string) { return r.Claim(), r.Tool }

// Verify recomputes the guarantee from the ledger in the result, without data, as
// [release.Model.Verify] does for a model. Errors wrap [release.ErrClaim].
func (r *Result) Verify(price accountant.Pricer) (release.Verification, error) {
	v, run, err := release.VerifyRun(r, price)
	if err == nil && (run.Method != methodName || run.Reserve.Run != r.Run) {
		err = fmt.Errorf("validate: the ledger is of another run: %w", release.ErrClaim)
	}
	return v, err
}
