package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// layer is a part of what NIST SP 800-226 asks of a claim of differential privacy. Each rests on
// those below it.
type layer struct {
	Name string `json:"layer"`
	Text string `json:"text"`
}

// Layers says what the model's file tells of its claim, from the parameters down to the collection
// of the data, in the order of the pyramid of NIST SP 800-226, "Guidelines for Evaluating
// Differential Privacy Guarantees" (2025), https://doi.org/10.6028/NIST.SP.800-226. It believes the
// file: see [Model.Verify].
func (m *Model) Layers() []layer {
	unit := "The unit is one row: a person with several rows is protected less"
	if m.Claim.Unit != "" {
		unit = fmt.Sprintf("The unit is all rows of one %q", m.Claim.Unit)
	}
	public := "the schema: names, kinds, bounds and categories of the columns"
	switch {
	case m.DeclaredYAML != "":
		public += "; bins were bought with noise"
	case slices.ContainsFunc(m.Ledger, func(e ledger.Entry) bool {
		return e.Kind == ledger.EntryReserve && m.boughtSchema(e)
	}):
		public = "the names of the columns, and what was declared of them; all other kinds, bounds and " +
			"categories were bought with noise"
	}
	for _, text := range m.schema.Constraints() {
		public += "; " + text
	}
	trust := "Central: one program read the rows, and is trusted to have run what its ledger lists. " +
		"What left it is the model, tables drawn from it, and this account."
	account := "The cost was reserved in a ledger before the first row was read."
	ms := mechanisms(m.Ledger)
	switch {
	case m.Claim.Local:
		trust = "Local: the program of each respondent is trusted to have randomised their answer, and " +
			"nobody else with a row. Who collected the answers saw nothing but them."
		account = "Every respondent keeps their own account; the model has no ledger."
		ms = fmt.Sprintf("randomised response, by each respondent to one question, at ε = %.4g; %.0f "+
			"answers", m.Claim.Epsilon, m.Rows)
	case len(m.Parties) > 0:
		trust = "Central at each party: its program read its rows and no other's, and is trusted to " +
			"have run what its ledger lists. What left a party is its model."
		account = "Each party's cost was reserved in its own ledger before its first row was read."
		ms = "of each party, under its own ledger"
		for _, p := range m.Parties {
			ms += fmt.Sprintf("; %s (method %s): %s", p.Name, p.Method, mechanisms(p.Ledger))
		}
	}
	return []layer{
		{"Parameters and unit", fmt.Sprintf("%v. %s.", m.Claim, unit)},
		{"Mechanisms", fmt.Sprintf("Method %s: %s. The proofs are in docs/claims of decoy's source.",
			m.Method, ms)},
		{"Taken as public", strings.ToUpper(public[:1]) + public[1:] + "."},
		{"Trust", trust},
		{"Implementation", "Noise is drawn exactly, on integers, from the operating system's random " +
			"numbers. The time that a run took and the memory that it used are not covered. By its own " +
			"word, the program was " + m.Tool + "."},
		{"Access and account", account + " Who can read the real rows, what else was released of them " +
			"and what the limit is: to be stated by who holds them."},
		{"Collection of the data", "To be stated by who collected them."},
	}
}

// mechanisms lists what a run reserved, and how often it took of it.
func mechanisms(l ledger.Excerpt) string {
	out, calls := []string(nil), 0
	for _, e := range l {
		if e.Kind == ledger.EntryCharge && e.Event != nil {
			calls += e.Event.Count
		}
		if e.Kind == ledger.EntryReserve {
			for _, c := range e.Composition {
				out = append(out, fmt.Sprintf("%d × %s", c.Count, inWords(c.Event)))
			}
		}
	}
	return fmt.Sprintf("%s; calls made, each a line of the ledger: %d", strings.Join(out, ", "), calls)
}

func inWords(e accountant.Event) string {
	switch e := e.(type) {
	case accountant.Gaussian:
		return fmt.Sprintf("Gaussian noise of %.4g times the sensitivity", e.NoiseMultiplier)
	case accountant.SubsampledGaussian:
		return fmt.Sprintf("Gaussian noise of %.4g times the norm on a sample of rate %.4g",
			e.NoiseMultiplier, e.Rate)
	case accountant.Laplace:
		return fmt.Sprintf("Laplace noise at ε = %.4g", e.Epsilon)
	case accountant.Exponential:
		return fmt.Sprintf("choice by the exponential mechanism at ε = %.4g", e.Epsilon)
	case accountant.GDPFilter:
		return fmt.Sprintf("pool of μ = %.4g for measurements and choices that are planned on the way",
			e.Mu)
	}
	step := e.(accountant.Approx) // the last one: the set of events is sealed
	return fmt.Sprintf("mechanism of (ε = %.4g, δ = %.4g)", step.Epsilon, step.Delta)
}
