package release

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/marginal"
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
	People   People            // required
	Names    []string          // of the parties, one for each model
	Tool     string            // program and version
	Price    accountant.Pricer // of the parties' reservations; default closed formulas
	Progress func(float64)     // optional
}

// Join fits one model to the noisy marginals that models of several parties keep, each made at home
// under its own ledger. It is post-processing of what they released: no row is needed, and nothing
// is spent. jointTables says what becomes of marginals that only some parties measured.
//
// The joint model has the largest ε and δ of the parties if nobody is at two of them (parallel
// composition), and else their sums. Its number of rows is the sum of theirs.
//
// Errors wrap ErrJoin: fewer than two models, one given twice, one that keeps no noisy marginals or
// is joint itself; schemas, units or neighbouring relations that differ. They wrap ErrClaim if the
// claim of one of them does not hold.
func Join(ctx context.Context, models []*Model, o JoinOptions) (*Model, error) {
	refuse := func(format string, args ...any) (*Model, error) {
		return nil, unjoined(format, args...)
	}
	if len(models) < 2 {
		return refuse("a joint model needs two models or more")
	}
	first := models[0]
	out := &Model{schema: first.schema, Manifest: Manifest{Tool: o.Tool, Method: methodJoin,
		SchemaYAML: first.SchemaYAML, SchemaSHA256: first.SchemaSHA256}}
	params := &Marginal{Grouping: marginal.NoGroups(first.schema.Sizes())}
	var rows []float64
	for i, m := range models {
		p, ok := m.params.(*Marginal)
		switch {
		case m.Claim.Local:
			return refuse("%s is of randomised answers: fit the answers of all in one (decoy fit "+
				"--randomized)", o.Names[i])
		case m.Claim.Among != Among{}:
			return refuse("%s is of sums over several parties already", o.Names[i])
		case len(m.Parties) > 0:
			return refuse("%s is a joint model itself: join the models it was made of", o.Names[i])
		case !ok || len(p.Measured) == 0:
			return refuse("%s, of method %s, keeps no noisy marginals; models of mst, aim and mwem do",
				o.Names[i], m.Method)
		case m.SchemaSHA256 != first.SchemaSHA256:
			return refuse("%s and %s have different schemas, or bins that each has bought for itself",
				o.Names[0], o.Names[i])
		case m.Rows < 1:
			return refuse("%s has no rows beyond its noise", o.Names[i])
		}
		if _, err := m.Verify(o.Price); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Names[i], err)
		}
		out.Parties = append(out.Parties, partner{o.Names[i], m.Manifest})
		if m.Created.After(out.Created) {
			out.Created = m.Created
		}
		params.Measured = append(params.Measured, p.Measured...)
		params.Parties = append(params.Parties, len(p.Measured))
		rows = append(rows, m.Rows)
	}
	var err error
	if out.Claim, err = jointClaim(o.People, out.Parties); err != nil {
		return nil, err
	}
	if params.Model, err = fitJoint(ctx, params, rows, fitOptions(o.Progress)); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	out.params = params
	return out.complete(o.Price, nil)
}

// unjoined is an error about models that cannot be joined.
func unjoined(format string, args ...any) error {
	return fmt.Errorf("release: "+format+": %w", append(args, ErrJoin)...)
}

func fitOptions(progress func(float64)) (o marginal.Options) {
	if progress != nil {
		o.Progress = func(done, total int) { progress(float64(done) / float64(total)) }
	}
	return o
}

// fitJoint fits the model of a joint model's measurements, of parties with these rows.
func fitJoint(
	ctx context.Context, p *Marginal, rows []float64, o marginal.Options,
) (*marginal.Model, error) {
	sizes := p.Sizes()
	tables, err := jointTables(sizes, p.byParty(), rows)
	if err != nil {
		return nil, err
	}
	for _, n := range rows { // in the order of verifyJoint: the sum is rounded
		o.Total += n
	}
	return marginal.Fit(ctx, append(slices.Clone(sizes), len(rows)), tables, o)
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
		return out, unjoined("people %q, want %s or %s", people, Disjoint, MayOverlap)
	}
	epsilon, delta := new(big.Rat), new(big.Rat)
	runs := map[string]string{}
	for _, p := range parties {
		c := p.Claim
		if c.Adjacency != out.Adjacency || c.Unit != out.Unit ||
			c.MaxRowsPerUnit != out.MaxRowsPerUnit {
			return out, unjoined("%s protects %v, and %s %v", parties[0].Name, parties[0].Claim.relation(),
				p.Name, c.relation())
		}
		for _, r := range (&ledger.Ledger{Entries: p.Ledger}).Runs() {
			if other, twice := runs[r.Run]; twice {
				return out, unjoined("%s and %s are of one run", other, p.Name)
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
func (m *Model) verifyJoint(price accountant.Pricer) (Verification, error) {
	v := Verification{Claim: m.Claim}
	p, ok := m.params.(*Marginal)
	if !ok || len(p.Parties) != len(m.Parties) || len(m.Parties) < 2 || m.Method != methodJoin ||
		len(m.Ledger) > 0 {
		return v, unfounded("a joint model has two parties or more, and no ledger of its own")
	}
	rows, measured := 0.0, p.byParty()
	for i, party := range m.Parties {
		one := &Model{Manifest: party.Manifest, schema: m.schema}
		if len(party.Parties) > 0 || party.SchemaYAML != m.SchemaYAML || party.Claim.People != "" {
			return v, unfounded("party %s is a joint model itself, or has another schema", party.Name)
		}
		of, err := verifyFile(one, price)
		if err != nil {
			return v, fmt.Errorf("party %s: %w", party.Name, err)
		}
		if v.Unbound = v.Unbound || of.Unbound; !of.Unbound {
			if err := one.held(measured[i]); err != nil {
				return v, unfounded("party %s: %v", party.Name, err)
			}
		}
		v.Parties = append(v.Parties, of)
		rows += party.Rows
	}
	want, err := jointClaim(m.Claim.People, m.Parties)
	if err != nil {
		return v, unfounded("%v", err)
	}
	if m.Claim != want {
		return v, unfounded("the manifest claims %v, its parties come to %v", m.Claim, want)
	}
	if rows != m.Rows {
		return v, unfounded("%v rows, and its parties have %v", m.Rows, rows)
	}
	unbound, err := m.sealed()
	v.Unbound = v.Unbound || unbound
	return v, err
}
