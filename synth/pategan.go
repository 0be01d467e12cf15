package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// PATEGAN is PATE-GAN with every vote charged: teachers on disjoint shards of the private
// rows tell real rows from generated ones, a student sees generated rows and noisy votes only, and
// a generator is trained to agree with the student.
//
// The generator starts from a marginal model, which a share of the budget buys in the same session
// (aim), as in wgan: it is trained to have the one- and two-way marginals of many
// rows drawn from that.
//
// Then the loop, round by round: the teachers, who stay inside the gate and keep their weights,
// learn to tell their shard from the newest generated rows; all of them vote on some hundred
// generated rows; the student learns from every vote so far; the generator takes steps towards more
// votes and the marginal model. Votes are answered with their noisy counts, which are kept and used
// again: that is post-processing.
//
// Sources: Jordon, Yoon, van der Schaar 2019 (PATE-GAN, ICLR); Papernot et al. 2017 and 2018 (arXiv
// 1610.05755, 1802.08908) for votes; Ganev, Annamalai, De Cristofaro 2024 (arXiv 2406.13985) for
// what goes wrong in implementations, each of which is a test here or in package privacy.
type PATEGAN struct {
	// column to predict: the marginal model looks at its pairs first; default the last column
	Target string `mapstructure:"target"`
	// share of the budget (in μ²) for the marginal model that the generator is distilled from; the
	// rest is for votes; default 0.9
	MarginalShare float64 `mapstructure:"marginal_share" default:"0.9" min:"1e-4" max:"0.999"`
	// of votes: gnmax (Gaussian noise), lnmax (Laplace noise), or Gaussian noise where only some
	// questions have an answer: confident, on which teachers agree, and interactive, on which they
	// differ from the student; default gnmax
	Aggregator string `mapstructure:"aggregator"`
	// votes; default 10
	Rounds int `mapstructure:"rounds" default:"10" min:"1" max:"1e5"`
	// generated rows a vote; default 200
	Questions int `mapstructure:"questions" default:"200" min:"1" max:"1048576"`
	// G-PATE: teachers vote on that many random directions at each of questions/directions rows:
	// which way is more real; default 0, is the row real
	Directions int `mapstructure:"directions" min:"0" max:"1024"`
	// rows a teacher should have: the number of teachers is the noisy number of rows over it;
	// default 40
	ShardRows int `mapstructure:"shard_rows" default:"40" min:"1" max:"1073741824"`
	// generator steps on the marginal model alone, before the first vote; default 1000
	DistilSteps int `mapstructure:"distil_steps" default:"1000" min:"1" max:"1e7"`
	// generator steps after each vote; default 50
	GeneratorSteps int `mapstructure:"generator_steps" default:"50" min:"1" max:"1e6"`
}

// Name is "pategan".
func (*PATEGAN) Name() string { return "pategan" }

func (c *PATEGAN) check() error {
	c.Aggregator = cmp.Or(c.Aggregator, vote.GNMax)
	switch {
	case !slices.Contains(vote.Aggregators, c.Aggregator):
		return fmt.Errorf("aggregator %q must be one of %s", c.Aggregator,
			strings.Join(vote.Aggregators, ", "))
	case c.Directions > c.Questions:
		return fmt.Errorf("%d directions need as many questions, not %d", c.Directions, c.Questions)
	case c.Directions > 0 && c.Aggregator == vote.Interactive:
		return fmt.Errorf("aggregator %s needs a student, and directions have none", c.Aggregator)
	}
	return nil
}

// plan is the noise of a fit.
type patePlan struct {
	cfg       PATEGAN
	schema    *schema.Schema
	marginals Plan // the model that the generator is distilled from
	votes     vote.Aggregator
	ballot    vote.Ballot // one round
}

// Reserve is one filter; with Laplace noise one for the marginal model, and a pure step for every
// question of every round, scaled together.
func (f *PATEGAN) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	filter, _, err := reserveFor(f.Target, t, b, before)
	if f.Aggregator != vote.LNMax || err != nil {
		return filter, nil, err
	}
	p := patePlan{cfg: *f}
	k := p.questions()
	at := func(scale float64) accountant.Composition {
		mu2 := before + p.cfg.MarginalShare/(scale*scale)
		step := math.Sqrt((1-p.cfg.MarginalShare)/float64(k)) / scale
		return accountant.Composition{{Event: accountant.GDPFilter{Mu: math.Sqrt(mu2)}, Count: 1},
			{Event: accountant.Laplace{Epsilon: step}, Count: k}}
	}
	scale, err := accountant.ScaleFor(b, t.Neighbours.Adjacency, at)
	return at(scale), nil, err
}

// Unseen refuses Laplace noise, which no filter pays for, and a target that is no column.
func (f *PATEGAN) Unseen(columns []string) (target string, err error) {
	if f.Aggregator == vote.LNMax {
		return "", fmt.Errorf("pategan: aggregator %s needs a schema: %w", f.Aggregator,
			ErrConfig)
	}
	return distilled(f.Target).Unseen(columns)
}

// Plan is paid for by what is left.
func (f *PATEGAN) Plan(t Terms) (Plan, error) {
	s := t.Schema
	p := &patePlan{cfg: *f, schema: s}
	if cells := cellCount(s); cells > 1<<17 {
		return nil, fmt.Errorf(
			"pategan: %d cells are too many for its networks; coarsen the bins or categories: %w",
			cells, ErrConfig)
	}
	last := s.Columns[len(s.Columns)-1].Name
	votes := t.Left
	votes.Mu2 *= 1 - f.MarginalShare
	if f.Aggregator != vote.LNMax {
		t.Left = accountant.Account{Mu2: t.Left.Mu2 * f.MarginalShare}
	}
	p.votes, p.ballot = vote.Named(f.Aggregator, p.asked(), p.questions(), votes)
	var err error
	p.marginals, err = distilled(cmp.Or(f.Target, last)).Plan(t)
	return p, err
}

// asked is the ballot of one round, and questions are those of all rounds.
func (p *patePlan) asked() vote.Ballot {
	if k := p.cfg.Directions; k > 0 {
		return vote.Ballot{Questions: p.cfg.Questions / k * k, Classes: directionBins}
	}
	return vote.Ballot{Questions: p.cfg.Questions, Classes: 2}
}

func (p *patePlan) questions() int { return p.cfg.Rounds * p.asked().Questions }
