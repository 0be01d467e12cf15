package release

import (
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/derive"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Verification is what [Model.Verify] recomputed.
type Verification struct {
	Claim    Claim
	Reserved accountant.Bound // cost of everything the run reserved, at the claim's δ
	Charged  accountant.Bound // bound on the cost of what it charged, at the claim's δ
	Charges  int              // mechanism calls
	Derived  derive.Range     // of the reservation, by arithmetic that is not the accountant's
	Parties  []Verification   // of a joint model, in place of all but the claim
}

// agrees reports whether the derived range allows the claim, and what the accountant says of the
// reservation, which is proven to be no more than its slack above the truth.
func (v Verification) agrees() bool {
	return v.Derived.Lower <= v.Claim.Epsilon && v.Derived.Upper >= v.Reserved.Epsilon-v.Reserved.Slack
}

// Verify recomputes the claim from the model's own ledger, without the data: the chain of hashes,
// one run, closed as done; every charge in the reservation; the composition of the reservation
// within the claim, by the accountant and by package derive; unit, schema and parameters as the
// ledger and the manifest say. What it cannot check is that the binary which wrote the file ran the
// mechanisms it logged: that is what the audit and the source are for. Of a joint model, each
// party's claim is checked so, and the joint one by theirs. A local claim has no ledger to check.
// Errors wrap [ErrClaim].
func (m *Model) Verify(price accountant.Pricer) (v Verification, err error) {
	v = Verification{Claim: m.Claim}
	switch {
	case len(m.Parties) > 0:
		err = m.verifyJoint(price, &v)
	case m.Claim.Local:
		err = m.verifyCollected()
	default:
		return verifyFile(m, price)
	}
	if err == nil {
		err = delivered(m, m.Outputs)
	}
	return v, err
}

// Check returns an error if the schema, the method or the measurements are not those of the run.
func (m *Model) Check(run ledger.VerifiedRun) error {
	reserve := run.Reserve
	if m.schema.Unit != reserve.Unit || m.schema.Unit != "" &&
		max(1, m.schema.MaxRowsPerUnit) != reserve.MaxRowsPerUnit {
		return errors.New("the schema's privacy unit is not the ledger's")
	}
	declared, err := m.declared()
	if err != nil {
		return err
	}
	own := m.Tables().Fingerprint()
	want := own
	if m.DeclaredYAML != "" {
		want = declared.Fingerprint()
	}
	tables, linked := m.params.(*Linked)
	if m.SchemaSHA256 != own || m.Claim.Linked != linked ||
		reserve.SchemaSHA256 != want && !m.boughtSchema(reserve) {
		return errors.New("the schema's fingerprint differs")
	}
	if m.Method != run.Method {
		return fmt.Errorf("the manifest says method %q, the ledger %q", m.Method, run.Method)
	}
	if m.Method == MethodParty || m.Claim.Among != (Among{}) || len(m.Sums) > 0 {
		if err := m.checkSums(run.Reserved); err != nil {
			return err
		}
	}
	if p, ok := m.params.(*Marginal); ok {
		return m.held("", m.schema, p.Measured)
	}
	for i := 0; linked && i < len(tables.views) && err == nil; i++ {
		err = m.held(tables.views[i].Name, tables.views[i].Schema, tables.Views[i].Measured)
	}
	return err
}

// fail is an error of a kind.
func fail(kind error, format string, args ...any) error {
	return fmt.Errorf(""+format+": %w", append(args, kind)...)
}

// verifyFile is [Verify] of a file with a ledger: it is that of one run, which is done, its
// reservation costs no more than the claim, and the run delivered this file.
func verifyFile(f File, price accountant.Pricer) (v Verification, err error) {
	claim, tool := f.States()
	v.Claim = claim
	run, err := f.Account().Run(price)
	if err != nil {
		return v, fail(ErrClaim, "%v", err)
	}
	if err := delivered(f, run.Outputs); err != nil {
		return v, err
	}
	if tool != run.Reserve.Tool {
		return v, fail(ErrClaim, "the file is by %q, the run by %q", tool, run.Reserve.Tool)
	}
	want := paid(run.Budget, run.Reserve).Claim()
	want.Among, want.Linked = claim.Among, claim.Linked // which are in no ledger
	if claim != want {
		return v, fail(ErrClaim, "the file claims %v, the ledger %v", claim, want)
	}
	if v.Reserved, err = price.Epsilon(run.Reserved, claim.Delta, claim.Adjacency); err != nil {
		return v, fail(ErrClaim, "the reservation: %v", err)
	}
	if v.Reserved.Epsilon > claim.Epsilon {
		return v, fail(ErrClaim, "the reservation costs epsilon %v", v.Reserved.Epsilon)
	}
	v.Derived = derive.Epsilon(run.Reserved, claim.Delta, claim.Adjacency)
	if !v.agrees() {
		return v, fail(ErrClaim, "the reservation costs epsilon %v by the accountant, %v to %v by "+
			"another derivation", v.Reserved.Epsilon, v.Derived.Lower, v.Derived.Upper)
	}
	if v.Charges = run.Calls; v.Charges > 0 {
		v.Charged = v.Reserved // which is a bound too
	}
	if v.Charges > 0 && len(run.Charged) <= maxCharged {
		if v.Charged, err = price.Epsilon(run.Charged, claim.Delta, claim.Adjacency); err != nil {
			return v, fail(ErrClaim, "the charges: %v", err)
		}
	}
	if err := f.Check(run); err != nil {
		return v, fail(ErrClaim, "%w", err)
	}
	return v, nil
}

// maxCharged bounds the different events of which the cost of a run's charges is composed. The time
// for it grows with their square: some seconds at this number.
const maxCharged = 200

// declared is the schema that the run was opened with: the model's own, or one that says of some
// columns that their bins are bought, and of which the model's is a coarser form.
func (m *Model) declared() (*schema.Schema, error) {
	if m.DeclaredYAML == "" {
		return m.schema, nil
	}
	d, err := schema.Parse([]byte(m.DeclaredYAML))
	if err != nil {
		return nil, fmt.Errorf("the declared schema: %w", err)
	}
	if _, err := d.Groups(m.schema); err != nil {
		return nil, fmt.Errorf("the declared schema: %w", err)
	}
	return d, nil
}

// IsOf reports whether s is the model's schema, or the one that it was fitted with, some of whose
// bins the run bought, as declared or by default ([schema.Schema.BuyDefaults]).
func (m *Model) IsOf(s *schema.Schema) bool {
	of := s.Fingerprint()
	d, err := m.declared()
	return of == m.schema.Fingerprint() || err == nil &&
		(of == d.Fingerprint() || s.BuyDefaults().Fingerprint() == d.Fingerprint())
}

// boughtSchema reports a run that was opened on texts, and bought the model's schema itself: its
// reservation names none. Such a run pays for rare texts (accountant.Approx), and goes over to a
// lenient schema, or one of linked tables, only. The claim is of what the reservation
// costs, under the ledger's relation and
// unit: it does not rest on the schema (docs/claims/session.md).
func (m *Model) boughtSchema(reserve ledger.Entry) bool {
	return reserve.SchemaSHA256 == "" && m.DeclaredYAML == "" &&
		(m.schema.Lenient || m.Claim.Linked) &&
		slices.ContainsFunc(reserve.Composition, func(c accountant.Charge) bool {
			_, texts := c.Event.(accountant.Approx)
			return texts
		})
}
