package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger/excerpt"
	"github.com/decoy-dp/decoy/privacy"
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
	Format         int                  `json:"decoy_published"`
	Publishable    bool                 `json:"publishable"` // always true
	Tool           string               `json:"tool,omitempty"`
	Budget         accountant.Budget    `json:"budget"`
	Adjacency      accountant.Adjacency `json:"adjacency"`
	Unit           string               `json:"unit,omitempty"`
	MaxRowsPerUnit int                  `json:"max_rows_per_unit,omitempty"`
	SchemaSHA256   string               `json:"schema_sha256"`
	SyntheticRows  int                  `json:"synthetic_rows"`
	Target         string               `json:"target,omitempty"`
	Positive       string               `json:"positive,omitempty"`
	Estimates      []Estimate           `json:"estimates"`
	Ledger         excerpt.Entries      `json:"ledger"`

	altered bool // it was read from a file that is not what JSON writes
}

func newResult(s *privacy.Session, r RunOptions, estimates []Estimate) *Result {
	nb := s.Neighbours()
	out := &Result{Format: format, Publishable: true, Tool: r.Tool, Budget: r.Budget,
		Adjacency: nb.Adjacency, Unit: s.Schema().Unit, SchemaSHA256: s.Schema().Fingerprint(),
		Estimates: estimates}
	if out.Unit != "" {
		out.MaxRowsPerUnit = nb.MaxRowsPerUnit
	}
	return out
}

// JSON writes the result.
func (r *Result) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read reads what JSON wrote. It verifies nothing.
func Read(r io.Reader) (*Result, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	out := &Result{}
	if out.altered, err = release.ReadJSON(b, out); err != nil || out.Format != format ||
		!out.Publishable {
		return nil, fmt.Errorf("publish: %w", errFormat)
	}
	return out, nil
}

// Claim is what the result guarantees.
func (r *Result) Claim() release.Claim {
	return release.Claim{Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Adjacency: r.Adjacency,
		Unit: r.Unit, MaxRowsPerUnit: r.MaxRowsPerUnit}
}

func (r *Result) delivered() release.Delivered {
	return release.Delivered{Claim: r.Claim(), Tool: r.Tool, Ledger: r.Ledger, File: r,
		Altered: r.altered}
}

// Verify recomputes the guarantee from the ledger in the result, without data, as
// [release.Model.Verify] does for a model. Errors wrap [release.ErrClaim].
func (r *Result) Verify(price accountant.Pricer) (release.Verification, error) {
	v, run, err := release.VerifyRun(r.delivered(), price)
	if err == nil && run.Reserve.SchemaSHA256 != r.SchemaSHA256 {
		err = fmt.Errorf("publish: the ledger is of another schema: %w", release.ErrClaim)
	}
	return v, err
}
