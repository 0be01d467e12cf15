package release

import (
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/derive"
)

// MethodParty is the method of a model that is made of sums over several parties (package party).
const MethodParty = "party"

// Among says over whom the sums of a model were made, and whom its claim trusts.
type Among struct {
	Parties   int `json:"parties"`
	Colluding int `json:"colluding"`  // at most so many tell others what they know
	PerPerson int `json:"per_person"` // at most so many have rows of one unit
}

// Summed is what a model of such sums adds to the ledger of the party that wrote it.
type Summed struct {
	Among
	Sums []accountant.Shares // as they were charged
}

func (a Among) String() string {
	at := "at two parties"
	if a.PerPerson > 1 {
		at = fmt.Sprintf("at more than %d parties", a.PerPerson)
	}
	return fmt.Sprintf(", if nobody is %s and no more than %d of the %d parties collude", at,
		a.Colluding, a.Parties)
}

// maxSums bounds the time that a check takes; a fit has at most 103.
const maxSums = 128

// checkSums checks that the noise of the sums is worth the claim, by a derivation that is not the
// one it was planned with.
func (m *Model) checkSums(reserved accountant.Composition) error {
	among, budget := m.Claim.Among, accountant.Budget{Epsilon: m.Claim.Epsilon, Delta: m.Claim.Delta}
	if m.Method != MethodParty {
		return fmt.Errorf("method %q makes no sums over parties", m.Method)
	}
	if len(reserved) != 1 || reserved[0] != (accountant.Charge{Event: accountant.Approx(budget),
		Count: 1}) || among.Colluding < 1 || among.PerPerson < 1 ||
		among.PerPerson > among.Parties || among.Colluding >= among.Parties || len(m.Sums) > maxSums {
		return errors.New("the sums over parties are not what the ledger paid for")
	}
	for _, s := range m.Sums {
		if s.Honest != among.Parties-among.Colluding {
			return fmt.Errorf("%d shares of noise for %d parties, of which %d may collude", s.Honest,
				among.Parties, among.Colluding)
		}
	}
	if delta := derive.SharesDelta(m.Sums, budget.Epsilon); !(delta <= budget.Delta*(1+1e-9)) {
		return fmt.Errorf("the noise of the sums is worth delta %.3g at epsilon %v, not %v", delta,
			budget.Epsilon, budget.Delta)
	}
	return nil
}
