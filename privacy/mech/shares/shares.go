// Package shares adds up what several parties have counted, each in a session of its own, without
// anybody seeing a party's counts: each adds a share of the noise and masks that cancel in the sum.
// Sources: Bonawitz et al. 2017 (CCS; masks), Kairouz, Liu, Steinke 2021, arXiv 2102.06387 (the
// noise).
package shares

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
)

var (
	// errTerms is wrapped by the refusal of terms and questions.
	errTerms = errors.New("not terms of a sum over parties")
	// errOrder is returned to whoever calls out of order, or after anything went wrong: a run of
	// parties is not continued.
	errOrder = errors.New("this run of several parties is over, or not there yet")
	// errParties is wrapped where the others are not those of the terms, or saw something else.
	errParties = errors.New("the parties do not agree")
)

// Terms are what all parties have agreed on beforehand. All of it is public.
type Terms struct {
	Me         int                 // which of the parties this is
	Identities []ed25519.PublicKey // of all parties, 2 to 1000, in the order of all
	Colluding  int                 // parties whose noise does not count: 1 to all but one
	PerPerson  int                 // parties that may have rows of one unit: 1 to all
	Budget     accountant.Budget   // of the sums together
	Rho        float64             // ρ of all sums together, within the budget
	Agreed     []byte              // a hash of whatever else they agreed on
}

// Event is the one event of a run: an interactive mechanism that is (ε, δ)-DP.
func Event(b accountant.Budget) accountant.Event { return accountant.Approx(b) }

// Run is a party's part of a run. It is used by one goroutine after another.
type Run struct{ *run }

type run struct {
	s       *privacy.Session
	t       Terms
	mu      sync.Mutex
	secret  func() *ecdh.PrivateKey // of this run alone
	public  []byte                  // its other half
	keys    [][]byte                // public ones of all; nil before Begin
	masks   func() [][]byte         // a secret with each other party; nil before Confirm
	history []byte                  // a hash of all that was agreed and summed so far
	step    int
	spent   float64 // of ρ
	dead    bool
}

// Open charges the session for the whole run, and makes a key for its masks: one [Event] of the
// budget. Errors wrap errTerms, or accountant.ErrBudget if the sums cost more than the budget.
func Open(s *privacy.Session, t Terms) (*Run, error) {
	fail := func(err error) (*Run, error) { return nil, fmt.Errorf("shares: %w", err) }
	if err := t.check(); err != nil {
		return fail(err)
	}
	t.Agreed = slices.Clone(t.Agreed)
	of := access.Ask("shares").Ints(int64(t.Me), int64(t.Colluding), int64(t.PerPerson)).
		Floats(t.Budget.Epsilon, t.Budget.Delta, t.Rho).Text(string(t.Agreed))
	h := sha256.New()
	for i, id := range t.Identities {
		t.Identities[i] = slices.Clone(id)
		of.Text(string(id))
		h.Write(id)
	}
	if access.StateOf(s).Replaying {
		return fail(errOrder)
	}
	c := access.Call{Of: of, Cost: access.Once(Event(t.Budget)), What: fmt.Sprintf(
		"shares of sums over %d parties (%.8x)", len(t.Identities), h.Sum(nil))}
	var key *ecdh.PrivateKey // which is no answer: answers are journaled
	c.Draw = func(access.Rows, func(accountant.Charge) error) (a access.Released, err error) {
		key, err = ecdh.X25519().GenerateKey(rand.Reader)
		return a, err
	}
	if _, err := access.Do(s, c); err != nil {
		return nil, err
	}
	return &Run{&run{s: s, t: t, public: key.PublicKey().Bytes(),
		secret: func() *ecdh.PrivateKey { return key }}}, nil
}

func (t *Terms) check() error {
	n := len(t.Identities)
	seen := map[string]bool{}
	for _, id := range t.Identities {
		if len(id) != ed25519.PublicKeySize || seen[string(id)] {
			return fmt.Errorf("a key is none, or that of two parties: %w", errTerms)
		}
		seen[string(id)] = true
	}
	switch {
	case n < 2 || n > 1000 || t.Me < 0 || t.Me >= n:
		return fmt.Errorf("party %d of %d: %w", t.Me+1, n, errTerms)
	case t.Colluding < 1 || t.Colluding >= n:
		return fmt.Errorf("%d of %d parties collude; 1 does in any case, which knows its own "+
			"%w", t.Colluding, n, errTerms)
	case t.PerPerson < 1 || t.PerPerson > n:
		return fmt.Errorf("a person at %d of %d parties: %w", t.PerPerson, n, errTerms)
	case !access.Positive(t.Rho):
		return fmt.Errorf("ρ %v: %w", t.Rho, errTerms)
	case !(accountant.RhoEpsilon(t.Rho*(1+1e-12), t.Budget.Delta) <= t.Budget.Epsilon):
		return fmt.Errorf("the sums cost more than epsilon %v at delta %v: %w", t.Budget.Epsilon,
			t.Budget.Delta, accountant.ErrBudget)
	}
	t.Identities = slices.Clone(t.Identities)
	return nil
}

// Key is the run's public key, for the other parties.
func (r *run) Key() []byte { return slices.Clone(r.public) }

// Begin takes the keys of all parties, in their order, and returns what each signs with the key of
// its identity. It is called once.
func (r *run) Begin(keys [][]byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.dead || r.keys != nil:
		return nil, fmt.Errorf("shares: %w", errOrder)
	case len(keys) != len(r.t.Identities) || string(keys[r.t.Me]) != string(r.public):
		return nil, r.end("the keys are not those of these parties")
	}
	h := access.Ask("sums under masks").Text(string(r.t.Agreed)).
		Ints(int64(r.t.Colluding), int64(r.t.PerPerson)).
		Floats(r.t.Budget.Epsilon, r.t.Budget.Delta, r.t.Rho)
	for i, k := range keys {
		r.keys = append(r.keys, slices.Clone(k))
		h.Text(string(r.t.Identities[i])).Text(string(k))
	}
	r.history = []byte(h.Sum())
	return slices.Clone(r.history), nil
}

// Confirm takes the signatures of all parties. Whoever signed has seen the same keys in this run,
// and agreed to the same set of parties and the same terms: nothing of an earlier run will do.
func (r *run) Confirm(signatures [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead || r.keys == nil || r.masks != nil {
		return fmt.Errorf("shares: %w", errOrder)
	}
	masks := make([][]byte, len(r.keys))
	for i, id := range r.t.Identities {
		if i >= len(signatures) || !ed25519.Verify(id, r.history, signatures[i]) {
			return r.end(fmt.Sprintf("party %d has not signed what the others did", i+1))
		}
		if i == r.t.Me {
			continue
		}
		var err error
		if masks[i], err = pairSecret(r.secret(), r.keys[i], r.history); err != nil {
			return r.end(fmt.Sprintf("the key of party %d is none", i+1))
		}
	}
	r.masks = func() [][]byte { return masks }
	return nil
}

// end makes the run one that answers nothing more.
func (r *run) end(why string) error {
	r.dead, r.masks, r.secret = true, nil, nil
	return fmt.Errorf("shares: %s: %w", why, errParties)
}

// Total is a sum over all parties. It is public.
type Total struct {
	Counts [][]int64 // of each marginal of the question, in order
	// standard deviation of the noise of all parties together; for a gradient, the noise multiplier
	Sigma    float64
	Cost     accountant.Shares // of the parties that do not collude
	Gradient gradient.Certified
}

// Sum counts the question, adds a share of the noise and the masks, hands that over, and takes what
// all parties' come to, modulo 2⁶⁴. The sums of a run cost no more ρ together than its terms have;
// errors wrap accountant.ErrBudget where one would. A sum that is not of this question, these
// parties and everything summed before is noise, since the masks do not cancel.
func (r *run) Sum(
	q Question, add func(masked []uint64, of string) ([]uint64, error),
) (Total, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead || r.masks == nil {
		return Total{}, fmt.Errorf("shares: %w", errOrder)
	}
	asked, err := q.compile(r.s, r.t)
	if err != nil {
		return Total{}, err
	}
	if r.spent+q.Rho > r.t.Rho*(1+1e-12) {
		return Total{}, fmt.Errorf("shares: a sum of ρ %v after %v of %v: %w", q.Rho, r.spent,
			r.t.Rho, accountant.ErrBudget)
	}
	of := asked.of.Ints(int64(r.step))
	c := access.Call{What: "a masked share", Of: access.Ask("share").Text(of.Sum())}
	id := of.Text(string(r.history)).Sum()
	r.step++
	r.spent += q.Rho
	r.dead = true // unless all goes well
	draw := func(rows access.Rows) ([]int64, error) {
		xs, err := asked.count(rows)
		if err != nil {
			return nil, err
		}
		asked.addTo(xs, rows.Source)
		maskTo(xs, r.masks(), r.t.Me, id)
		return xs, nil
	}
	numbers, err := access.ReleaseInts(r.s, c, asked.cost.Cells, draw)
	if err != nil {
		return Total{}, err
	}
	total, err := add(unsigned(numbers), id)
	if err != nil {
		return Total{}, err
	}
	if len(total) != asked.cost.Cells {
		return Total{}, r.end("a sum of another length")
	}
	sum := signed(total)
	r.history = []byte(access.Ask("summed").Text(id).Ints(sum...).Sum())
	r.dead = false
	return asked.total(sum, len(r.keys)), nil
}

// Format says nothing of the secrets, whatever the verb.
func (r *run) Format(f fmt.State, _ rune) { fmt.Fprint(f, "shares.Run") }

// MarshalText refuses.
func (r *run) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }
