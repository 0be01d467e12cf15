package publish

import (
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/release"
)

// errFormat is wrapped by the error about a file that is no published evaluation.
var errFormat = errors.New("not a published evaluation")

// format is the version of the JSON.
const format = 1

// Estimate is one number that was bought, with its standard error: of the noise and, for an AUROC,
// of the rows drawn.
type Estimate struct {
	Name    string  `json:"name"`
	Of      string  `json:"of"`
	Value   float64 `json:"value"`
	StdErr  float64 `json:"std_err"`
	LeftOut string  `json:"left_out,omitempty"` // why there is no value
	Meaning string  `json:"meaning"`
}

// Result is a published evaluation: all of it may be given away.
type Result struct {
	Format      int    `json:"decoy_published"`
	Publishable bool   `json:"publishable"` // always true
	Tool        string `json:"tool,omitempty"`
	release.Paid
	SchemaSHA256  string     `json:"schema_sha256"`
	SyntheticRows int        `json:"synthetic_rows"`
	Target        string     `json:"target,omitempty"`
	Positive      string     `json:"positive,omitempty"`
	Estimates     []Estimate `json:"estimates"`
	release.Proof
}

// Read reads the JSON of a result. It verifies nothing.
func Read(r io.Reader) (*Result, error) {
	out := &Result{}
	if err := release.ReadFile(r, out); err != nil || out.Format != format || !out.Publishable {
		return nil, fmt.Errorf("publish: %w", errFormat)
	}
	return out, nil
}

// States are the claim and the program that the file names.
func (r *Result) States() (release.Claim, string) { return r.Claim(), r.Tool }

// Verify recomputes the guarantee from the ledger in the result, without data, as
// [release.Model.Verify] does for a model. Errors wrap [release.ErrClaim].
func (r *Result) Verify(price accountant.Pricer) (release.Verification, error) {
	v, run, err := release.VerifyRun(r, price)
	if err == nil && run.Reserve.SchemaSHA256 != r.SchemaSHA256 {
		err = fmt.Errorf("publish: the ledger is of another schema: %w", release.ErrClaim)
	}
	return v, err
}
