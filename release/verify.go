package release

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/derive"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/schema"
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
	return v.Derived.Lower <= v.Claim.Epsilon &&
		v.Derived.Upper >= v.Reserved.Epsilon-v.Reserved.Slack
}

// Verify recomputes the claim from the model's own ledger, without the data: the chain of hashes,
// one run, closed as done; every charge in the reservation; the composition of the reservation
// within the claim, by the accountant and by package derive; unit, schema and parameters as the
// ledger and the manifest say. What it cannot check is that the binary which wrote the file ran the
// mechanisms it logged: that is what the audit and the source are for. Of a joint model, each
// party's claim is checked so, and the joint one by theirs. Errors wrap [ErrClaim].
func (m *Model) Verify(price accountant.Pricer) (Verification, error) {
	if m.Parameters.SHA256 != digest(m.raw) || m.Parameters.Bytes != len(m.raw) {
		return Verification{Claim: m.Claim}, fmt.Errorf(
			"release: the parameters are not those of the manifest: %w", ErrClaim)
	}
	if len(m.Parties) > 0 {
		return m.verifyJoint(price)
	}
	return m.verifyRun(price)
}

// verifyRun is [Model.Verify] of a manifest with the ledger of one run.
func (m *Model) verifyRun(price accountant.Pricer) (Verification, error) {
	v := Verification{Claim: m.Claim}
	fail := func(format string, args ...any) (Verification, error) {
		return v, fmt.Errorf("release: "+format+": %w", append(args, ErrClaim)...)
	}
	l := &ledger.Ledger{Entries: m.Ledger}
	runs := l.Runs()
	if len(runs) > 1 { // before the cost of each is computed
		return fail("the ledger has %d runs, want 1", len(runs))
	}
	if err := l.Verify(price); err != nil {
		return fail("the ledger: %v", err)
	}
	if len(runs) != 1 {
		return fail("the ledger has %d runs, want 1", len(runs))
	}
	run := runs[0]
	if run.Status != ledger.StatusDone {
		return fail("the run is %s, not %s", run.Status, ledger.StatusDone)
	}
	var reserve ledger.Entry
	for _, e := range m.Ledger {
		if e.Kind == ledger.EntryReserve {
			reserve = e
		}
		if e.Kind == ledger.EntryCharge {
			v.Charges += e.Event.Count
		}
	}
	want := Claim{Epsilon: run.Budget.Epsilon, Delta: run.Budget.Delta,
		Adjacency: reserve.Adjacency,
		Unit:      reserve.Unit, MaxRowsPerUnit: reserve.MaxRowsPerUnit}
	if m.Claim != want {
		return fail("the manifest claims %v, the ledger %v", m.Claim, want)
	}
	if open := m.Ledger[0]; open.Adjacency != reserve.Adjacency || open.Unit != reserve.Unit ||
		open.MaxRowsPerUnit != reserve.MaxRowsPerUnit {
		return fail("the reservation counts other units than its ledger")
	}
	if m.schema.Unit != reserve.Unit || m.schema.Unit != "" &&
		max(1, m.schema.MaxRowsPerUnit) != reserve.MaxRowsPerUnit {
		return fail("the schema's privacy unit is not the ledger's")
	}
	declared, err := m.declared()
	if err != nil {
		return fail("%v", err)
	}
	if m.SchemaSHA256 != m.schema.Fingerprint() ||
		reserve.SchemaSHA256 != declared.Fingerprint() && !m.boughtSchema(reserve) {
		return fail("the schema's fingerprint differs")
	}
	if m.Method != run.Method {
		return fail("the manifest says method %q, the ledger %q", m.Method, run.Method)
	}
	if v.Reserved, err = price.Epsilon(run.Reserved, m.Claim.Delta,
		m.Claim.Adjacency); err != nil {
		return fail("the reservation: %v", err)
	}
	if v.Reserved.Epsilon > m.Claim.Epsilon {
		return fail("the reservation costs epsilon %v", v.Reserved.Epsilon)
	}
	v.Derived = derive.Epsilon(run.Reserved, m.Claim.Delta, m.Claim.Adjacency)
	if !v.agrees() {
		return fail("the reservation costs epsilon %v by the accountant, %v to %v by another derivation",
			v.Reserved.Epsilon, v.Derived.Lower, v.Derived.Upper)
	}
	if v.Charges > 0 {
		v.Charged = v.Reserved // which is a bound too
	}
	if v.Charges > 0 && len(run.Charged) <= maxCharged {
		if v.Charged, err = price.Epsilon(run.Charged, m.Claim.Delta,
			m.Claim.Adjacency); err != nil {
			return fail("the charges: %v", err)
		}
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

// boughtSchema reports a run that was opened on texts, and bought the model's schema itself: its
// reservation names none. Such a run pays for rare texts (accountant.Approx), and goes over to a
// lenient schema only. The claim is of what the reservation costs, under the ledger's relation and
// unit: it does not rest on the schema (docs/claims/session.md).
func (m *Model) boughtSchema(reserve ledger.Entry) bool {
	return reserve.SchemaSHA256 == "" && m.DeclaredYAML == "" && m.schema.Lenient &&
		slices.ContainsFunc(reserve.Composition, func(c accountant.Charge) bool {
			_, texts := c.Event.(accountant.Approx)
			return texts
		})
}
