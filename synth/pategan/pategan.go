// Package pategan is PATE-GAN with every vote charged: teachers on disjoint shards of the private
// rows tell real rows from generated ones, a student sees generated rows and noisy votes only, and
// a generator is trained to agree with the student and with marginals bought from the same budget.
//
// The loop: the generator starts at the one-way marginals and the pairs with the target, as a
// mixture over its codes, and learns from other pairs too. Then, round by round, the teachers, who
// stay inside the gate and keep their weights, learn to tell their shard from the newest generated
// rows; all of them vote on some hundred generated rows; the student learns from every vote so far;
// the generator takes steps towards more votes and the measured marginals. Votes are answered with
// their noisy counts, which are kept and used again: that is post-processing.
//
// Sources: Jordon, Yoon, van der Schaar 2019 (PATE-GAN, ICLR); Papernot et al. 2017 and 2018 (arXiv
// 1610.05755, 1802.08908) for votes; Ganev, Annamalai, De Cristofaro 2024 (arXiv 2406.13985) for
// what goes wrong in implementations, each of which is a test here or in package privacy.
package pategan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// Name is the method's name.
const Name = "pategan"

// Config are the settings. The zero value is the default.
type Config struct {
	// column whose pairs with all others are measured; default the last column of the schema
	Target string `mapstructure:"target"`
	// share of the budget (in μ²) for the number of rows; default 0.01
	TotalShare float64 `mapstructure:"total_share" default:"0.01" min:"1e-4" max:"0.5"`
	// share for the one-way marginals; default 0.12
	MarginalShare float64 `mapstructure:"marginal_share" default:"0.12" min:"1e-4" max:"0.9"`
	// share for the pairs with the target; default 0.5
	TargetShare float64 `mapstructure:"target_share" default:"0.5" min:"1e-4" max:"0.9"`
	// share for choosing and measuring other pairs, a tenth of it for the choice; default 0.22
	PairShare float64 `mapstructure:"pair_share" default:"0.22" min:"1e-4" max:"0.9"`
	// other pairs that are measured; default half to twice the number of columns, by the budget
	Pairs int `mapstructure:"pairs" min:"0" max:"65536"`
	// codes are merged in pairs until their noisy count is this many σ; default 4
	GroupSigmas float64 `mapstructure:"group_sigmas" default:"4" min:"1e-3" max:"1e3"`
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
	// hidden units of a teacher beside its linear part; default 4
	TeacherHidden int `mapstructure:"teacher_hidden" default:"4" min:"1" max:"1024"`
	// passes over its shard a round; default 3
	TeacherEpochs int `mapstructure:"teacher_epochs" default:"3" min:"1" max:"1e5"`
	// Adagrad's learning rate of teachers; default 0.1
	TeacherRate float64 `mapstructure:"teacher_rate" default:"0.1" min:"1e-6" max:"10"`
	// hidden units of the student; default 32
	StudentHidden int `mapstructure:"student_hidden" default:"32" min:"1" max:"4096"`
	// steps of the student a round; default 200
	StudentSteps int `mapstructure:"student_steps" default:"200" min:"1" max:"1e6"`
	// length of the pull of a student that is fully trusted, beside that of the measured marginals;
	// default 0.3
	StudentWeight float64 `mapstructure:"student_weight" default:"0.3" min:"1e-9" max:"1e9"`
	// Adam's learning rate for the generator, falling to a tenth over PostSteps; default 0.002
	GeneratorRate float64 `mapstructure:"generator_rate" default:"0.002" min:"1e-8" max:"1"`
	// generator steps before the first vote; default 300
	WarmSteps int `mapstructure:"warm_steps" default:"300" min:"1" max:"1e7"`
	// generator steps after each vote; default 50
	GeneratorSteps int `mapstructure:"generator_steps" default:"50" min:"1" max:"1e6"`
	// generator steps after the last one; default 1200
	PostSteps int `mapstructure:"post_steps" default:"1200" min:"1" max:"1e7"`
	// generated rows a generator step, even; default 1024
	Batch int `mapstructure:"batch" default:"1024" min:"2" max:"1048576"`
	// buy no marginals; start the generator at random, as the paper does
	ColdStart bool `mapstructure:"cold_start"`
}

// Fitter is a configured method.
type Fitter struct{ cfg Config }

// New validates the settings.
func New(c Config) (*Fitter, error) {
	if err := synth.Fill(Name, &c); err != nil {
		return nil, err
	}
	if c.Batch%2 != 0 {
		return nil, fmt.Errorf("pategan: batch %d must be even: %w", c.Batch, synth.ErrConfig)
	}
	if c.Directions > c.Questions {
		return nil, fmt.Errorf("pategan: %d directions need as many questions, not %d: %w",
			c.Directions, c.Questions, synth.ErrConfig)
	}
	if c.ColdStart {
		c.MarginalShare, c.TargetShare, c.PairShare = 0, 0, 0
	}
	if c.TotalShare+c.MarginalShare+c.TargetShare+c.PairShare > .99 {
		return nil, fmt.Errorf("pategan: the shares leave less than 1 %% for votes: %w",
			synth.ErrConfig)
	}
	return &Fitter{cfg: c}, nil
}

// Name is "pategan".
func (f *Fitter) Name() string { return Name }

// maxPairCells is the most cells of a pair that is measured.
const maxPairCells = 1 << 22

// plan is the noise of a fit.
type plan struct {
	cfg         Config
	schema      *schema.Schema
	nb          privacy.Neighbours
	target      int      // −1: none
	targetPairs [][2]int // pairs with the target
	others      [][2]int // candidates for the other pairs
	pairs       int      // how many of them are measured
	total       float64  // σ of the number of rows
	oneWay      float64  // σ of a one-way marginal's cell
	targetPair  float64  // σ of a pair with the target
	pair        float64  // σ of another pair
	epsilon     float64  // of one choice
	votes       float64  // σ of a vote
}

// Plan splits the budget in shares of μ² and scales all noise together until the exact composition
// meets it.
func (f *Fitter) Plan(
	s *schema.Schema, nb privacy.Neighbours, b accountant.Budget,
) (synth.Plan, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if b.Delta == 0 {
		return nil, fmt.Errorf("pategan: its noise is Gaussian and needs delta > 0: %w",
			accountant.ErrBudgetRange)
	}
	p := &plan{cfg: f.cfg, schema: s, nb: nb, target: len(s.Columns) - 1}
	if f.cfg.Target != "" {
		if p.target = s.Index(f.cfg.Target); p.target < 0 {
			return nil, fmt.Errorf("pategan: target: the schema has no column %q%s: %w", f.cfg.Target,
				s.Hint(f.cfg.Target), synth.ErrConfig)
		}
	}
	if cells := cellCount(s); cells > 1<<17 {
		return nil, fmt.Errorf(
			"pategan: %d cells are too many for its networks; coarsen the bins or categories: %w",
			cells, synth.ErrConfig)
	}
	if !f.cfg.ColdStart {
		mu, err := calibrate.Mu(b)
		if err != nil {
			return nil, fmt.Errorf("pategan: %w", err)
		}
		p.choosePairs(s.Sizes(), mu)
	}
	scale, err := calibrate.Scale(b, nb.Adjacency,
		func(scale float64) accountant.Composition { return p.at(scale).Composition() })
	if err != nil {
		return nil, fmt.Errorf("pategan: %w", err)
	}
	return p.at(scale), nil
}

// choosePairs lists the pairs that may be measured, by public knowledge only, and how many others
// than the target's are: with a budget of mu, 2·mu times the number of columns, from half as many
// to twice as many.
func (p *plan) choosePairs(sizes []int, mu float64) {
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			switch {
			case sizes[i] > maxPairCells/sizes[j]:
			case i == p.target || j == p.target:
				p.targetPairs = append(p.targetPairs, [2]int{i, j})
			default:
				p.others = append(p.others, [2]int{i, j})
			}
		}
	}
	if p.pairs = p.cfg.Pairs; p.pairs == 0 {
		p.pairs = int(math.Round(float64(len(sizes)) * min(max(2*mu, .5), 2)))
	}
	p.pairs = min(p.pairs, len(p.others))
}

func cellCount(s *schema.Schema) (cells int) {
	for _, n := range s.Sizes() {
		cells += n
	}
	return cells
}

// at is the plan whose parts have the shares of μ² = 1/scale², with ε²/4 as that of a choice. A
// share for what the schema has not is the votes'.
func (p *plan) at(scale float64) *plan {
	q, c := *p, p.cfg
	one := float64(max(1, p.nb.MaxRowsPerUnit))
	vector := one
	if p.nb.Adjacency == accountant.ReplaceOne {
		vector *= math.Sqrt2
	}
	left := 1 - c.TotalShare
	q.total = one * scale / math.Sqrt(c.TotalShare)
	if !c.ColdStart {
		q.oneWay = vector * scale * math.Sqrt(float64(len(p.schema.Columns))/c.MarginalShare)
		left -= c.MarginalShare
	}
	if len(p.targetPairs) > 0 {
		q.targetPair = vector * scale * math.Sqrt(float64(len(p.targetPairs))/c.TargetShare)
		left -= c.TargetShare
	}
	if p.pairs > 0 {
		q.pair = vector * scale * math.Sqrt(float64(p.pairs)/(.9*c.PairShare))
		q.epsilon = 2 * math.Sqrt(.1*c.PairShare/float64(p.pairs)) / scale
		left -= c.PairShare
	}
	q.votes = scale * math.Sqrt(float64(c.Rounds*c.Questions)/left)
	if c.Directions > 0 { // a histogram moves by √2
		q.votes *= math.Sqrt2
	}
	return &q
}

// aggregator of the votes.
func (p *plan) aggregator() vote.Aggregator { return vote.Aggregator{Sigma: p.votes} }

// ballot is one round.
func (p *plan) ballot() vote.Ballot {
	if k := p.cfg.Directions; k > 0 {
		return vote.Ballot{Questions: p.cfg.Questions / k * k, Classes: directionBins}
	}
	return vote.Ballot{Questions: p.cfg.Questions, Classes: 2}
}

// Composition is the number of rows, the marginals, the choices and every question of every round.
func (p *plan) Composition() accountant.Composition {
	c := accountant.Composition{{Event: p.nb.MeasureEvent(query.Total{}, p.total), Count: 1}}
	if !p.cfg.ColdStart {
		c = append(c, accountant.Charge{Event: p.nb.MeasureEvent(privacy.Marginal{}, p.oneWay),
			Count: len(p.schema.Columns)})
	}
	if len(p.targetPairs) > 0 {
		c = append(c, accountant.Charge{Event: p.nb.MeasureEvent(privacy.Marginal{}, p.targetPair),
			Count: len(p.targetPairs)})
	}
	if p.pairs > 0 {
		c = append(c, accountant.Charge{Event: p.nb.SelectEvent(p.epsilon), Count: p.pairs},
			accountant.Charge{Event: p.nb.MeasureEvent(privacy.Marginal{}, p.pair), Count: p.pairs})
	}
	all := p.ballot()
	all.Questions *= p.cfg.Rounds
	return append(c, vote.Plan(p.aggregator(), all, 0)...)
}

// Forecast counts the multiplications of the generator's steps, which dominate.
func (p *plan) Forecast() synth.Forecast {
	cells, c := float64(cellCount(p.schema)), p.cfg
	steps := float64(c.WarmSteps + c.Rounds*c.GeneratorSteps + c.PostSteps)
	perStep := float64(c.Batch) * (6*(64*128+128*128+128*cells) + 4*cells*float64(c.StudentHidden) +
		40*float64(len(p.targetPairs)+p.pairs+1))
	noise := []synth.Noise{{What: "number of rows", Count: 1, Sigma: p.total}}
	if !c.ColdStart {
		noise = append(noise, synth.Noise{What: "one-way marginal", Count: len(p.schema.Columns),
			Sigma: p.oneWay})
	}
	if len(p.targetPairs) > 0 {
		noise = append(noise, synth.Noise{What: "pair with the target", Count: len(p.targetPairs),
			Sigma: p.targetPair})
	}
	if p.pairs > 0 {
		noise = append(noise, synth.Noise{What: "choice of a pair", Count: p.pairs, Eps: p.epsilon},
			synth.Noise{What: "pair", Count: p.pairs, Sigma: p.pair})
	}
	noise = append(noise, synth.Noise{What: "vote on a generated row",
		Count: c.Rounds * c.Questions, Sigma: p.votes})
	return synth.Forecast{
		MemoryBytes: int64(4*float64(c.Batch)*(8*cells+8*128) +
			4*float64(c.Rounds*c.Questions)*cells),
		Seconds: steps * perStep / 2e10,
		Noise:   noise,
	}
}
