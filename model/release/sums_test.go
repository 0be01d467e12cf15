package release

import (
	"testing"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// TestVerifySums: a claim of sums over parties holds by the noise of the sums alone, of as many
// parties as do not collude, and by a reservation of just that.
func TestVerifySums(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	reserved := accountant.Composition{{Event: accountant.Approx(b), Count: 1}}
	good := func() *Model {
		s := accountant.Shares{Honest: 4, Cells: 100, Sensitivity: 3}.Within(.00748)
		return &Model{Manifest: Manifest{Method: MethodParty, Sums: []accountant.Shares{s, s},
			Claim: Claim{Epsilon: 1, Delta: 1e-9, Among: Among{Parties: 5, Colluding: 1, PerPerson: 1}}}}
	}
	if err := good().checkSums(reserved); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(m *Model){
		"half the noise":    func(m *Model) { m.Sums[1].Sigma /= 2 },
		"one sum more":      func(m *Model) { m.Sums = append(m.Sums, m.Sums[0]) },
		"a smaller ε":       func(m *Model) { m.Claim.Epsilon = .9 },
		"all are honest":    func(m *Model) { m.Sums[0].Honest = 5 },
		"nobody colludes":   func(m *Model) { m.Claim.Among.Colluding = 0 },
		"all collude":       func(m *Model) { m.Claim.Among.Colluding = 5 },
		"nobody":            func(m *Model) { m.Claim.Among.PerPerson = 0 },
		"no parties":        func(m *Model) { m.Claim.Among = Among{} },
		"of another method": func(m *Model) { m.Method = "mst" },
	} {
		m := good()
		change(m)
		if err := m.checkSums(reserved); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []accountant.Composition{nil, append(reserved[:1:1], reserved[0]),
		{{Event: accountant.Approx{Epsilon: 1, Delta: 0}, Count: 1}}} {
		if err := good().checkSums(r); err == nil {
			t.Errorf("reserved %v: %v", r, err)
		}
	}
}
