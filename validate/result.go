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
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	out := &Result{}
	if out.altered, err = release.ReadJSON(b, out); err != nil || out.Format != format {
		return nil, errors.New("validate: not a validated statistic")
	}
	return out, nil
}

func (r *Result) delivered() release.Delivered {
	claim := release.Claim{Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Adjacency: r.Adjacency,
		Unit: r.Unit, MaxRowsPerUnit: r.MaxRowsPerUnit}
	return release.Delivered{Claim: claim, Tool: r.Tool, Ledger: r.Ledger, File: r,
		Altered: r.altered}
}

// Verify recomputes the guarantee from the ledger in the result, without data, as
// [release.Model.Verify] does for a model. Errors wrap [release.ErrClaim].
func (r *Result) Verify(price accountant.Pricer) (release.Verification, error) {
	v, run, err := release.VerifyRun(r.delivered(), price)
	if err == nil && (run.Method != methodName || run.Reserve.Run != r.Run) {
		err = fmt.Errorf("validate: the ledger is of another run: %w", release.ErrClaim)
	}
	return v, err
}
