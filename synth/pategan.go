package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/schema"
)

// PATEGAN is PATE-GAN with every vote charged: teachers on disjoint shards of the private
// rows tell real rows from generated ones, a student sees generated rows and noisy votes only, and
// a generator is trained to agree with the student.
//
// The generator starts from a marginal model, which a share of the budget buys in the same session
// (package aim), as in package wgan: it is trained to have the one- and two-way marginals of many
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
	// of votes: gnmax (Gaussian noise), lnmax (Laplace noise) or confident (Gaussian noise, and only
	// questions on which teachers agree have an answer); default gnmax
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

// The aggregators.
const (
	gnmax     = "gnmax"
	lnmax     = "lnmax"
	confident = "confident"
)

// Name is "pategan".
func (*PATEGAN) Name() string { return "pategan" }

func (c *PATEGAN) check() error {
	c.Aggregator = cmp.Or(c.Aggregator, gnmax)
	if !slices.Contains([]string{gnmax, lnmax, confident}, c.Aggregator) {
		return fmt.Errorf("aggregator %q must be gnmax, lnmax or confident", c.Aggregator)
	}
	if c.Directions > c.Questions {
		return fmt.Errorf("%d directions need as many questions, not %d", c.Directions, c.Questions)
	}
	return nil
}

// plan is the noise of a fit.
type patePlan struct {
	cfg       PATEGAN
	schema    *schema.Schema
	marginals Plan // the model that the generator is distilled from
	votes     vote.Aggregator
}

// Reserve is one filter; with Laplace noise one for the marginal model, and a pure step for every
// question of every round, scaled together.
func (f *PATEGAN) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	filter, _, err := reserveFor(f.Target, t, b, before)
	if f.Aggregator != lnmax || err != nil {
		return filter, nil, err
	}
	p := patePlan{cfg: *f}
	k := p.cfg.Rounds * p.ballot().Questions
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
	if f.Aggregator == lnmax {
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
	if f.Aggregator == lnmax {
		p.votes.Laplace = p.moves() * p.moves() / t.Left.Epsilon * (1 + 1e-12)
	} else {
		p = p.at(math.Sqrt(t.Left.Mu2))
		t.Left = accountant.Account{Mu2: t.Left.Mu2 * f.MarginalShare}
	}
	var err error
	p.marginals, err = distilled(cmp.Or(f.Target, last)).Plan(t)
	return p, err
}

// moves is how far one teacher moves the counts of a question, in L2; its square is that in L1.
func (p *patePlan) moves() float64 {
	if p.ballot().Classes > 2 {
		return math.Sqrt2
	}
	return 1
}

// at is the plan with Gaussian noise of a budget of mu. Each of k votes has μ² of mu²·(1 −
// MarginalShare)/k: noise of its sensitivity over μ. A check takes half of what it allows, and half
// of the questions of a ballot are answered at most.
func (p *patePlan) at(mu float64) *patePlan {
	q := *p
	k := float64(p.cfg.Rounds * p.ballot().Questions)
	noise := math.Sqrt(k/(1-p.cfg.MarginalShare)) / mu * (1 + 1e-9)
	q.votes.Sigma = p.moves() * noise
	if p.cfg.Aggregator == confident {
		q.votes.CheckSigma = math.Sqrt2 * noise
	}
	return &q
}

// ballot is one round.
func (p *patePlan) ballot() vote.Ballot {
	b := vote.Ballot{Questions: p.cfg.Questions, Classes: 2}
	if k := p.cfg.Directions; k > 0 {
		b = vote.Ballot{Questions: p.cfg.Questions / k * k, Classes: directionBins}
	}
	if p.cfg.Aggregator == confident {
		b.Answers = b.Questions / 2
	}
	return b
}

// Forecast counts the multiplications of the generator's steps, beside the marginal model.
func (p *patePlan) Forecast(int) Forecast {
	c, cells := p.cfg, float64(cellCount(p.schema))
	row, distil := gan.Work(cellCount(p.schema))
	f := p.marginals.Forecast(0)
	f.Joints = nil
	f.Seconds += (float64(c.DistilSteps+c.Rounds*c.GeneratorSteps)*distil +
		float64(c.Rounds*c.GeneratorSteps)*batch*(row+4*cells*studentHidden)) / 2e10
	f.MemoryBytes = max(f.MemoryBytes,
		int64(4*batch*(8*cells+1024)+4*float64(c.Rounds*c.Questions)*cells))
	one := Noise{What: "vote on a generated row", Count: c.Rounds * p.ballot().Questions,
		Sigma: max(p.votes.Sigma, math.Sqrt2*p.votes.Laplace)}
	f.Noise = append(slices.Clone(f.Noise), one)
	if p.votes.CheckSigma > 0 {
		f.Noise = append(f.Noise, Noise{What: "check before a vote", Count: one.Count,
			Sigma: p.votes.CheckSigma})
	}
	return f
}
