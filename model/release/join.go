package release

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// ErrJoin is wrapped by the refusal to join models.
var ErrJoin = errors.New("these models cannot be joined")

// methodJoin is the method of a joint model.
const methodJoin = "join"

// People says whether one privacy unit may be in the tables of several parties.
type People string

const (
	Disjoint   People = "disjoint"    // nobody is at two parties: parallel composition
	MayOverlap People = "may-overlap" // basic composition
)

// partner is a model that was made at one of the parties: its manifest, whole, and a name for it.
type partner struct {
	Name string `json:"name"`
	Manifest
}

// JoinOptions of [Join].
type JoinOptions struct {
	People People            // required
	Names  []string          // of the parties, one for each model
	Tool   string            // program and version
	Price  accountant.Pricer // of the parties' reservations; default closed formulas
}

// Join puts models of several parties into one, each made at home under its own ledger. It is
// post-processing of what they released: no row is needed, and nothing is spent. Rows are drawn of
// each party's model, as many as it has among all.
//
// The joint model has the largest ε and δ of the parties if nobody is at two of them (parallel
// composition), and else their sums. Its number of rows is the sum of theirs.
//
// Errors wrap ErrJoin: fewer than two models, one given twice, one that is joint itself; schemas,
// units or neighbouring relations that differ. They wrap ErrClaim if the claim of one of them does
// not hold.
func Join(models []*Model, o JoinOptions) (*Model, error) {
	if len(models) < 2 {
		return nil, fail(ErrJoin, "a joint model needs two models or more")
	}
	first := models[0]
	out := &Model{schema: first.schema, Manifest: Manifest{Tool: o.Tool, Method: methodJoin,
		SchemaYAML: first.SchemaYAML, SchemaSHA256: first.SchemaSHA256}}
	var params joint
	for i, m := range models {
		why := ""
		switch {
		case m.Claim.Local:
			why = "is of randomised answers: fit the answers of all in one (decoy fit --randomized)"
		case m.Claim.Among != Among{}:
			why = "is of sums over several parties already"
		case len(m.Parties) > 0:
			why = "is a joint model itself: join the models it was made of"
		case m.SchemaSHA256 != first.SchemaSHA256:
			why = "and " + o.Names[0] + " have different schemas, or bins that each has bought for itself"
		}
		if why != "" {
			return nil, fail(ErrJoin, "%s %s", o.Names[i], why)
		}
		if _, err := m.Verify(o.Price); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Names[i], err)
		}
		out.Parties = append(out.Parties, partner{o.Names[i], m.Manifest})
		if m.Created.After(out.Created) {
			out.Created = m.Created
		}
		params = append(params, part{m.params, m.raw})
	}
	var err error
	if out.Claim, err = jointClaim(o.People, out.Parties); err != nil {
		return nil, err
	}
	out.params = params
	return out.complete(o.Price, nil)
}

// jointClaim is what the claims of the parties' models come to. Errors wrap ErrJoin.
//
// Symbols: M_a the model of party a, which is (ε_a, δ_a)-DP. If a unit's rows are at one party
// only, neighbouring tables differ at that party, and the other models are the same: the joint
// model, a function of all of them, is (max ε_a, max δ_a)-DP. A unit with rows at every party moves
// all M_a, whose noise is independent: (Σ ε_a, Σ δ_a).
func jointClaim(people People, parties []partner) (Claim, error) {
	out := parties[0].Claim
	if people != Disjoint && people != MayOverlap {
		return out, fail(ErrJoin, "people %q, want %s or %s", people, Disjoint, MayOverlap)
	}
	epsilon, delta := new(big.Rat), new(big.Rat)
	runs := map[string]string{}
	for _, p := range parties {
		c := p.Claim
		if c.Adjacency != out.Adjacency || c.Unit != out.Unit ||
			c.MaxRowsPerUnit != out.MaxRowsPerUnit {
			return out, fail(ErrJoin, "%s protects %v, and %s %v", parties[0].Name,
				parties[0].Claim.relation(), p.Name, c.relation())
		}
		for _, r := range (&ledger.Ledger{Entries: p.Ledger}).Runs() {
			if other, twice := runs[r.Run]; twice {
				return out, fail(ErrJoin, "%s and %s are of one run", other, p.Name)
			}
			runs[r.Run] = p.Name
		}
		epsilon.Add(epsilon, decimal(c.Epsilon))
		delta.Add(delta, decimal(c.Delta))
		out.Epsilon, out.Delta = max(out.Epsilon, c.Epsilon), max(out.Delta, c.Delta)
	}
	if people == MayOverlap {
		out.Epsilon, _ = epsilon.Float64()
		out.Delta, _ = delta.Float64()
	}
	out.People = people
	return out, nil
}

// decimal is the number that the shortest decimal form of a finite x says.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

// verifyJoint is [Model.Verify] of a joint model: each party's claim by its own ledger, and the
// joint claim by theirs.
func (m *Model) verifyJoint(price accountant.Pricer, v *Verification) error {
	parts := m.parts()
	if len(parts) < 2 || m.Method != methodJoin || len(m.Ledger) > 0 {
		return fail(ErrClaim, "a joint model has two parties or more, and no ledger of its own")
	}
	rows := 0.0
	for i, one := range parts {
		name := m.Parties[i].Name
		rows += one.Rows
		if len(one.Parties) > 0 || one.SchemaYAML != m.SchemaYAML || one.Claim.People != "" ||
			one.Claim.Local || one.Claim.Among != (Among{}) {
			return fail(ErrClaim, "party %s is of several parties itself, or has another schema", name)
		}
		of, err := verifyFile(one, price)
		if err != nil {
			return fmt.Errorf("party %s: %w", name, err)
		}
		v.Parties = append(v.Parties, of)
	}
	want, err := jointClaim(m.Claim.People, m.Parties)
	if err != nil {
		return fail(ErrClaim, "%v", err)
	}
	if m.Claim != want || m.Rows != rows {
		return fail(ErrClaim, "the manifest claims %v of %v rows, its parties come to %v of %v",
			m.Claim, m.Rows, want, rows)
	}
	return nil
}

// parts are the models of a joint one, in the order of its parties; none if there are not as many.
func (m *Model) parts() (out []*Model) {
	params, _ := m.params.(joint)
	if len(params) != len(m.Parties) {
		return nil
	}
	for i, p := range params {
		out = append(out, &Model{Manifest: m.Parties[i].Manifest, schema: m.schema, params: p.Params})
	}
	return out
}

// kindJoint is the kind of joint.
const kindJoint = "joint"

// part is one party's parameters, and the bytes of them.
type part struct {
	Params
	raw []byte
}

// joint are the parameters of several parties, one behind the other.
type joint []part

// Kind is kindJoint.
func (joint) Kind() string { return kindJoint }

// Total is the sum of the parties' noisy numbers of rows.
func (p joint) Total() (sum float64) {
	for _, one := range p {
		sum += one.Total()
	}
	return sum
}

// Sizes is the number of codes of each column.
func (p joint) Sizes() []int { return p[0].Sizes() }

// Sample draws of each party its share of n rows, rounded up or down without bias.
func (p joint) Sample(n int, u *rand.Rand) [][]uint16 {
	out := make([][]uint16, len(p.Sizes()))
	weights, all := make([]float64, len(p)), 0.0
	for i, one := range p {
		weights[i] = max(1, one.Total())
		all += weights[i]
	}
	v, sum, done := u.Float64(), 0.0, 0
	for i, one := range p {
		sum += weights[i]
		upto := min(int(float64(sum/all*float64(n))+v), n)
		if i == len(p)-1 {
			upto = n
		}
		if upto == done {
			continue
		}
		for c, codes := range one.Sample(upto-done, u) {
			out[c] = append(out[c], codes...)
		}
		done = upto
	}
	return out
}

// Describe is about the models of the parties.
func (p joint) Describe() []string {
	lines := []string{fmt.Sprintf("%d models side by side, of each its share of rows", len(p))}
	for _, one := range p {
		lines = append(lines, one.Describe()[0])
	}
	return slices.Compact(lines)
}

// MarshalBinary writes parameters.bin.
func (p joint) MarshalBinary() (out []byte, err error) {
	for _, one := range p {
		out = append(out, one.raw...)
	}
	return out, nil
}
