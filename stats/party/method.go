package party

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/gradient"
	"github.com/decoy-dp/decoy/privacy/mech/shares"
	"github.com/decoy-dp/decoy/synth"
)

const (
	signs    = 16 // signed sums of a pair, from which its strength is told
	maxCells = 1 << 20
)

// DefaultMethod is the method where none is named.
const DefaultMethod = "mst"

// Fitter is the method of a link's options ([release.MethodParty]) where what is known of rows are
// sums over parties. The pairs of mst's tree cannot be drawn by the exponential mechanism, since
// distances of counts do not add up over parties. What does is a few sums of a pair's cells, with
// public random signs: their mean square, less the noise, estimates the squared distance of the
// pair from independence. The marginal model of wgan is such a tree, too; the gradients of its
// critic add up as they are.
type Fitter struct{ Link *Link }

// Name is "party".
func (Fitter) Name() string { return release.MethodParty }

// plan is a fit, and what it has had added up.
type plan struct {
	link *Link
	b    accountant.Budget
	rho  float64
	nb   privacy.Neighbours

	run      *shares.Run
	progress synth.Progress
	sums     []accountant.Shares
}

// Reserve is the one event of all sums, if the link's method has something to say.
func (f Fitter) Reserve(t synth.Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	if _, err := synth.NewPlan(f.Link.o.Method, schema.One(t.Schema), t.Neighbours, b); err != nil {
		return nil, nil, err
	}
	return accountant.Composition{{Event: shares.Event(b), Count: 1}}, nil, nil
}

// Plan has the largest ρ that the budget allows.
func (f Fitter) Plan(t synth.Terms) (synth.Plan, error) {
	rho, err := accountant.RhoFor(f.Link.o.Budget)
	return &plan{link: f.Link, b: f.Link.o.Budget, rho: rho * (1 - 1e-9), nb: t.Neighbours}, err
}

// Forecast knows nothing: the noise follows from what is measured.
func (p *plan) Forecast(int) synth.Forecast { return synth.Forecast{} }

// Fit pays, fits, and finds that all parties have the same model.
func (p *plan) Fit(
	ctx context.Context, s *privacy.Session, progress synth.Progress,
) (out synth.Model, err error) {
	defer func() {
		if ctx.Err() != nil { // which closes the connection
			err = ctx.Err()
		}
	}()
	q := *p
	if q.run, err = p.start(s); err != nil {
		return out, err
	}
	q.progress = progress
	out, err = p.link.o.Method.(synth.Federated).Train(ctx,
		synth.Terms{Schema: s.Schema(), Neighbours: p.nb}, p.rho, q.source(ctx, s.Schema()), progress)
	if err != nil {
		return out, err
	}
	parties := p.link.o.Parties
	out.Summed = release.Summed{Sums: q.sums, Among: release.Among{Parties: len(parties.Parties),
		Colluding: parties.Colluding, PerPerson: parties.PerPerson}}
	return out, p.same(out.Params)
}

// sum has the parties add up.
func (p *plan) sum(what string, q shares.Question) (shares.Total, error) {
	p.progress.Report(what, 0)
	t, err := p.run.Sum(q, p.link.sum)
	p.sums = append(p.sums, t.Cost)
	return t, err
}

// source has sums over the parties. By those of gradients a method trains by FedSGD: the sum over
// the rows of all parties is, but for its noise, that over one table of them, to the last bit.
func (p *plan) source(ctx context.Context, s *schema.Schema) synth.Source {
	seed := sha256.Sum256(append([]byte("decoy public seed "), p.link.agreed...))
	le := binary.LittleEndian
	return synth.Source{
		Seed: [2]uint64{le.Uint64(seed[:]), le.Uint64(seed[8:])},
		Tree: func(m synth.MST, rho float64) (synth.Model, error) { return p.tree(ctx, s, m, rho) },
		Gradient: func(plan gradient.Plan, n bounds.Network) (gradient.Certified, float64, error) {
			t, err := p.sum("adding up gradients", shares.Question{
				Rho:      1 / (2 * plan.NoiseMultiplier * plan.NoiseMultiplier),
				Gradient: &shares.Gradient{Plan: plan, Network: n}})
			return t.Gradient, t.Sigma, err
		},
	}
}

// tree measures the columns, ranks the pairs, and measures those of the spanning tree.
func (p *plan) tree(
	ctx context.Context, s *schema.Schema, m synth.MST, rho float64,
) (out synth.Model, err error) {
	c, err := synth.Checked(&m)
	if err != nil {
		return out, err
	}
	options := marginal.Options{Iterations: c.Iterations}
	sizes := s.Sizes()
	q := shares.Question{Rho: rho * c.OneWayShare}
	for c := range sizes {
		q.Marginals = append(q.Marginals, privacy.Marginal{Cols: []int{c}})
	}
	if len(sizes) == 1 {
		q.Rho = rho
	}
	t, err := p.sum("adding up columns", q)
	if err != nil {
		return out, err
	}
	measured := measurements(q, t)
	look := possible{columns: s.Columns}
	if err := look.checkMarginals(measured); err != nil {
		return out, err
	}
	groups, err := marginal.NewGrouping(sizes, measured, c.GroupSigmas)
	if err != nil {
		return out, err
	}
	var ms []marginal.Measurement // over groups
	for _, m := range measured {
		ms = append(ms, groups.GroupMeasurement(m))
	}
	options.Grouping = groups
	model, err := marginal.Fit(ctx, groups.Sizes(), ms, options)
	if err != nil {
		return out, err
	}
	q = question(groups)
	if len(q.Marginals) > 0 {
		q.Signs, q.Seed, q.Rho = signs, sha256.Sum256(p.link.agreed), rho*c.SelectShare
		if t, err = p.sum("ranking pairs", q); err != nil {
			return out, err
		}
		if err := look.checkSigned(t.Counts, t.Sigma); err != nil {
			return out, err
		}
		if q, err = strongest(q, t, model); err != nil {
			return out, err
		}
	}
	if len(q.Marginals) > 0 {
		q.Rho = rho * (1 - c.OneWayShare - c.SelectShare)
		if t, err = p.sum("adding up pairs", q); err != nil {
			return out, err
		}
		pairs := measurements(q, t)
		if err := look.checkMarginals(pairs); err != nil {
			return out, err
		}
		for _, m := range pairs {
			measured = append(measured, m)
			m.Groups = nil
			ms = append(ms, m)
		}
		options.Progress = func(done, total int) {
			p.progress.Report("fitting the model", float64(done)/float64(total))
		}
		if model, err = marginal.Fit(ctx, groups.Sizes(), ms, options); err != nil {
			return out, err
		}
	}
	out.Params = &release.Marginal{Model: model, Grouping: groups, Measured: measured}
	out.Settings = p.settings(s, q)
	return out, nil
}

// start pays, and exchanges keys.
func (p *plan) start(s *privacy.Session) (*shares.Run, error) {
	l := p.link
	run, err := shares.Open(s, shares.Terms{Me: l.me, Identities: l.o.Parties.identities(),
		Colluding: l.o.Parties.Colluding, PerPerson: l.o.Parties.PerPerson, Budget: p.b, Rho: p.rho,
		Agreed: l.agreed})
	if err != nil {
		return nil, err
	}
	keys, err := l.all(kindKey, run.Key())
	if err != nil {
		return nil, err
	}
	seen, err := run.Begin(keys)
	if err != nil {
		return nil, err
	}
	signatures, err := l.all(kindSignature, ed25519.Sign(l.o.Key, seen))
	if err != nil {
		return nil, err
	}
	return run, run.Confirm(signatures)
}

// same finds that all parties have the same model.
func (p *plan) same(params release.Params) error {
	raw, err := params.MarshalBinary()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	list, err := p.link.all(kindModel, sum[:])
	if err != nil {
		return err
	}
	for i, other := range list {
		if !bytes.Equal(other, sum[:]) {
			return fmt.Errorf("party: %s has another model, of other sums: %w",
				p.link.o.Parties.Parties[i].Name, errEnded)
		}
	}
	return nil
}

func (p *plan) settings(s *schema.Schema, tree shares.Question) map[string]any {
	names, edges := []any{}, []any{}
	for _, m := range p.link.o.Parties.Parties {
		names = append(names, m.Name)
	}
	for _, m := range tree.Marginals {
		edges = append(edges, []any{s.Columns[m.Cols[0]].Name, s.Columns[m.Cols[1]].Name})
	}
	return map[string]any{"parties": names, "tree": edges}
}

// measurements are the sums as package marginal takes them.
func measurements(q shares.Question, t shares.Total) (out []marginal.Measurement) {
	for i, m := range q.Marginals {
		out = append(out, marginal.NewMeasurement(m.Cols, m.Groups, t.Counts[i], t.Sigma))
	}
	return out
}

// question is all pairs over groups that are not too large.
func question(groups *marginal.Grouping) (q shares.Question) {
	sizes := groups.Sizes()
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			if sizes[i] <= maxCells/sizes[j] {
				q.Marginals = append(q.Marginals, synth.Grouped(groups, i, j))
			}
		}
	}
	return q
}

// strongest is the spanning forest of the pairs that stand out of the noise, the furthest from the
// model of independent columns first.
func strongest(q shares.Question, t shares.Total, independent *marginal.Model) (
	shares.Question, error,
) {
	type ranked struct {
		m     privacy.Marginal
		score float64
	}
	sizes := independent.Sizes()
	var all []ranked
	for i, m := range q.Marginals {
		estimate := make([]float64, sizes[m.Cols[0]]*sizes[m.Cols[1]])
		if err := independent.MarginalTo(estimate, m.Cols); err != nil {
			return q, err
		}
		expected := shares.Signed(estimate, shares.SignsOf(q.Seed, i, len(estimate)), q.Signs)
		score := 0.0
		for k, x := range t.Counts[i] {
			off := float64(x) - expected[k]
			score += off * off / float64(q.Signs)
		}
		if score -= t.Sigma * t.Sigma; score > 0 {
			all = append(all, ranked{m, score})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	part := make([]int, len(sizes)) // of the forest, for each column
	for i := range part {
		part[i] = i
	}
	var tree shares.Question
	for _, r := range all {
		from, to := part[r.m.Cols[0]], part[r.m.Cols[1]]
		if from == to {
			continue
		}
		tree.Marginals = append(tree.Marginals, r.m)
		for i := range part {
			if part[i] == from {
				part[i] = to
			}
		}
	}
	return tree, nil
}
