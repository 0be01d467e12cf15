package shares

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// maxSigns is the most signed sums of a marginal.
const maxSigns = 64

// Question is what all parties count: the cells of marginals; or, with Signs from 1 to 64, so many
// sums of the cells of each marginal, each cell with a public sign ([SignsOf]), from which the
// marginal's norm can be told; or, in their place, the gradient of a critic.
type Question struct {
	Rho       float64 // what the sum may cost, > 0
	Marginals []privacy.Marginal
	Signs     int
	Seed      [32]byte // of the signs
	Gradient  *Gradient
}

// counting is a question that fits a session.
type counting struct {
	of    access.Key // all that is public about it
	cost  accountant.Shares
	count func(rows access.Rows) ([]int64, error) // the party's own numbers, exact
	addTo func(xs []int64, src *noise.Source)     // a share of the noise
	// the sum, with the noise of so many parties
	total func(sum []int64, parties int) Total
}

// compile has a question fit a session. Errors wrap errTerms.
func (q Question) compile(s *privacy.Session, t Terms) (c counting, err error) {
	switch {
	case !access.Positive(q.Rho):
		err = fmt.Errorf("ρ %v of a sum", q.Rho)
	case q.Signs < 0 || q.Signs > maxSigns:
		err = fmt.Errorf("%d signed sums, at most %d", q.Signs, maxSigns)
	case q.Gradient != nil:
		c, err = q.gradient(s, t)
	default:
		c, err = q.marginals(s, t)
	}
	if err == nil && c.cost.Cells > privacy.MaxCells {
		err = fmt.Errorf("%d numbers, at most %d", c.cost.Cells, privacy.MaxCells)
	}
	if err == nil && !(c.cost.Rho() <= q.Rho) {
		err = fmt.Errorf("no noise is worth ρ %v", q.Rho)
	}
	if err != nil {
		return c, fmt.Errorf("shares: %w: %w", err, errTerms)
	}
	c.of.Floats(q.Rho)
	return c, nil
}

// marginals compiles a question about marginals: the noise is the least that ρ pays for.
func (q Question) marginals(s *privacy.Session, t Terms) (c counting, err error) {
	queries, err := access.QueriesOf(s, queriesOf(q.Marginals))
	if err != nil {
		return c, err
	}
	c.of, c.cost = q.ask(queries), q.cost(queries, s.Neighbours(), t).Within(q.Rho)
	gaussian, err := noise.NewDiscreteGaussian(c.cost.Sigma)
	if err != nil {
		return c, err
	}
	c.addTo = gaussian.AddTo
	c.count = func(rows access.Rows) ([]int64, error) { return q.count(queries, rows), nil }
	c.total = func(sum []int64, parties int) Total { return q.split(queries, sum, c.cost, parties) }
	return c, nil
}

func queriesOf(marginals []privacy.Marginal) (qs []privacy.Query) {
	for _, m := range marginals {
		qs = append(qs, m)
	}
	return qs
}

// SignsOf are the signs of the cells of a question's marginal, bit k of a cell for its k-th sum: 1
// is minus. They are uniform, and the same for everybody.
func SignsOf(seed [32]byte, marginal, cells int) []uint64 {
	g := rand.NewChaCha8(seed)
	stream := rand.NewPCG(g.Uint64()+uint64(marginal), g.Uint64())
	out := make([]uint64, cells)
	for i := range out {
		out[i] = stream.Uint64()
	}
	return out
}

// Signed are the sums of cells under their signs, one for each of the first sums bits.
func Signed[N int64 | float64](cells []N, signs []uint64, sums int) []N {
	out := make([]N, sums)
	for i, x := range cells {
		for k := range out {
			if signs[i]>>k&1 == 1 {
				out[k] -= x
			} else {
				out[k] += x
			}
		}
	}
	return out
}

// ask hashes all that is public about the question.
func (q Question) ask(queries []access.Counted) access.Key {
	of := access.Ask("question").Ints(int64(q.Signs), int64(len(queries))).Text(string(q.Seed[:]))
	for _, m := range queries {
		of.Text(m.Key)
	}
	return of
}

// cost is the question's sum over the parties, but for the noise. A unit has at most k rows at each
// of at most m parties: so it moves the sum by what one of k·m rows does. A marginal's cells move
// by l2 in the norm L2, by l1 in L1, and so each of its signed sums by at most l1.
func (q Question) cost(queries []access.Counted, nb privacy.Neighbours, t Terms) accountant.Shares {
	s := accountant.Shares{Honest: len(t.Identities) - t.Colluding}
	square := 0.0
	for _, m := range queries {
		_, l1, l2 := m.Kind.Sensitivity(max(1, nb.MaxRowsPerUnit)*t.PerPerson, nb.Adjacency)
		if q.Signs > 0 {
			s.Cells += q.Signs
			square += float64(q.Signs) * l1 * l1
			continue
		}
		s.Cells += m.Cells
		square += l2 * l2
	}
	s.Sensitivity = math.Sqrt(square) * (1 + 1e-12)
	return s
}

// count is the party's own numbers, exact.
func (q Question) count(queries []access.Counted, rows access.Rows) (out []int64) {
	const together = 64 // marginals whose cells are in memory at once
	for at := 0; at < len(queries); at += together {
		for i, cells := range rows.Counts(queries[at:min(at+together, len(queries))]) {
			if q.Signs > 0 {
				cells = Signed(cells, SignsOf(q.Seed, at+i, len(cells)), q.Signs)
			}
			out = append(out, cells...)
		}
	}
	return out
}

// split is the sum as the numbers of each marginal, with what it cost and the noise of all parties.
func (q Question) split(
	queries []access.Counted, sum []int64, cost accountant.Shares, parties int,
) Total {
	out := Total{Cost: cost, Sigma: cost.Sigma * math.Sqrt(float64(parties))}
	for _, m := range queries {
		n := m.Cells
		if q.Signs > 0 {
			n = q.Signs
		}
		out.Counts, sum = append(out.Counts, sum[:n:n]), sum[n:]
	}
	return out
}
