package stats

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// PATE trains by private aggregation of teacher ensembles: a teacher on each of many disjoint
// shards, whose noisy votes label public rows, from which a student learns. Sources: Papernot et
// al. 2017 (arXiv 1610.05755) and 2018 (arXiv 1802.08908). Where they take the class with most
// votes for a label, the student learns the noisy shares of all: that is post-processing, and keeps
// what a winner throws away.
const PATE = "pate"

// Teaching is about PATE.
type Teaching struct {
	Aggregator string // of votes, one of [vote.Aggregators]; "" is the first
	// public rows that votes label, with the columns that are predicted from; nil: rows of a model of
	// the private table, which a part of the budget buys first, in the same run, as Model does of a
	// session and what it may spend
	Student *table.Table
	Model   func(context.Context, *privacy.Session, accountant.Account, func(string, float64)) (
		release.Params, error)
	// a file whose name ends in .private.json, for the price of the votes by how much the teachers
	// agreed. It is for the holder of the rows alone: see [vote.Shards.SaveCost]
	Cost string
}

const (
	modelShare   = .1   // of μ² for the model of which a student's rows are drawn
	mostAsked    = 2000 // rows that are labelled
	shardRows    = 60   // about so many rows has a teacher
	mostShards   = 5000
	checkRounds  = 4  // ballots of a student that is asked
	teacherPrior = .2 // Λ of a teacher: 1 in the variance of a weight
)

// lesson is what teachers are shown: public rows, as the codes of the columns to predict from.
type lesson struct {
	columns     []table.Codes
	first, rows int
}

func (l lesson) part(first, rows int) *lesson {
	l.first, l.rows = first, rows
	return &l
}

// about says what a run is continued with alone.
func (o Training) about() string {
	text := fmt.Sprintf("%q", []string{o.Target, o.By, o.Aggregator, fmt.Sprint(o.Drop)})
	if t := o.Student; t != nil {
		for i, c := range t.Schema().Columns {
			text += fmt.Sprintf("%q %v", c.Name, t.Column(i))
		}
	}
	return digest(text)
}

// taught is a plan of votes.
type taught struct {
	ballot vote.Ballot
	rounds int
	cost   accountant.Composition
	shards *vote.Shards[*lesson]
}

// ballots plans them.
func (p *plan) ballots(b accountant.Budget) (err error) {
	t := &p.taught
	if p.o.Aggregator = cmp.Or(p.o.Aggregator, vote.GNMax); !slices.Contains(vote.Aggregators,
		p.o.Aggregator) {
		return fmt.Errorf("aggregator %q: there is %q", p.o.Aggregator, vote.Aggregators)
	}
	if k := len(p.classes); k > vote.MaxClasses {
		return fmt.Errorf("--by %s: %d classes, at most %d can be voted on: %w", PATE, k,
			vote.MaxClasses, ErrTarget)
	}
	questions := mostAsked
	if p.o.Student != nil {
		questions = min(questions, p.o.Student.Rows())
	} else if i := slices.IndexFunc(p.schema.Columns,
		func(c schema.Column) bool { return c.BuyBins > 0 }); i >= 0 {
		return fmt.Errorf("--by %s: column %q has bins that are bought (bins: dp): write bins, "+
			"or give rows of a student: %w", PATE, p.schema.Columns[i].Name, ErrTarget)
	}
	if t.rounds = 1; p.o.Aggregator == vote.Interactive {
		t.rounds = min(checkRounds, questions)
	}
	if questions == 0 || p.o.Student == nil && p.o.Model == nil {
		return fmt.Errorf("--by %s: a student needs rows: %w", PATE, ErrTarget)
	}
	t.ballot = vote.Ballot{Questions: questions / t.rounds, Classes: len(p.classes)}
	t.cost, err = p.reserve(b)
	return err
}

// reserve is what votes and all that is bought before them set aside: one filter of the largest μ,
// or for Laplace noise a filter for what comes before, and a pure step for each question.
func (p *plan) reserve(b accountant.Budget) (c accountant.Composition, err error) {
	if p.o.Aggregator != vote.LNMax {
		return pool(p.mu), nil
	}
	before := rowsShare
	if p.o.Student == nil {
		before += modelShare
	}
	k := p.taught.rounds * p.taught.ballot.Questions
	at := func(scale float64) accountant.Composition {
		step := accountant.Laplace{Epsilon: math.Sqrt((1-before)/float64(k)) / scale}
		return append(pool(math.Sqrt(before)/scale), accountant.Charge{Event: step, Count: k})
	}
	scale, err := accountant.ScaleFor(b, p.nb.Adjacency, at)
	p.mu = 1 / scale * below
	return at(scale), err
}

// teach is the algorithm.
func (p *plan) teach(
	ctx context.Context, s *privacy.Session, report func(string, float64),
) (*Classifier, error) {
	t := &p.taught
	report("counting", 0)
	n, shares, err := p.countClasses(s)
	if err != nil {
		return nil, err
	}
	seed := sha256.Sum256([]byte("decoy student " + s.Run()))
	u := rand.New(rand.NewChaCha8(seed))
	student, err := p.student(ctx, s, u, report)
	if err != nil {
		return nil, err
	}
	teachers := int(min(mostShards, max(1, math.Round(n/shardRows))))
	build := func(int) vote.Teacher[*lesson] { return &scholar{task: p.task, shares: shares} }
	split, err := vote.SplitWatched(s, teachers, build)
	if err != nil {
		return nil, err
	}
	t.shards = split
	report("teaching", 0)
	if err := split.Train(student); err != nil {
		return nil, err
	}
	left := s.Left()
	left.Mu2 *= below
	how, ballot := vote.Named(p.o.Aggregator, t.ballot, t.ballot.Questions*t.rounds, left)
	scale := how.Scale() / float64(teachers)
	learn := softmax{task: p.task, penalty: max(1, 10*(scale*scale+.25/float64(teachers)))}
	v, w := make([]float64, p.cells*p.problem.Outputs()), make([]float64, p.cells*p.problem.Outputs())
	for round := range t.rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report("asking teachers", float64(round)/float64(t.rounds))
		asked := student.part(round*ballot.Questions, ballot.Questions)
		var own []float64
		if p.o.Aggregator == vote.Interactive {
			own = learn.probabilities(w, asked)
		}
		votes, err := split.Vote(how.For(teachers, own), ballot, asked)
		if err != nil {
			return nil, err
		}
		for at, n := range votes.Counts {
			share := float64(n) / float64(teachers)
			if ok := votes.Answered[at/ballot.Classes]; !ok && own != nil { // it is confirmed
				share = own[at]
			} else if !ok {
				share = math.NaN()
			}
			learn.labels = append(learn.labels, share)
		}
		w = learn.fit(v, student.part(0, (round+1)*ballot.Questions))
	}
	c := p.coefficients(w, n)
	learn.calibrate(c.Intercept, w, student, shares)
	return c, nil
}

// countClasses buys the number of rows of each class: of all, unless that is public, and the share
// of each class, of which none is 0.
func (p *plan) countClasses(s *privacy.Session) (n float64, shares []float64, err error) {
	of := privacy.Marginal{Cols: []int{p.problem.Target}}
	each := unit(s.Neighbours().MeasureEvent(of, 1))
	counts, err := s.Measure(of, each/(p.mu*math.Sqrt(rowsShare)))
	if err != nil {
		return 0, nil, err
	}
	shares = make([]float64, len(p.classes))
	for code, class := range p.problem.Classes {
		n += float64(counts[code])
		if class >= 0 {
			shares[class] = max(1, float64(counts[code]))
		}
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return cmp.Or(float64(p.o.Rows), max(1, n)), shares, nil
}

// student is the public rows, in which columns are those of the problem.
func (p *plan) student(
	ctx context.Context, s *privacy.Session, u *rand.Rand, report func(string, float64),
) (*lesson, error) {
	l := &lesson{rows: p.taught.ballot.Questions * p.taught.rounds}
	if given := p.o.Student; given != nil {
		order := u.Perm(given.Rows())[:l.rows]
		some := given.Select(order)
		for _, c := range p.problem.Columns {
			l.columns = append(l.columns, some.Column(given.Schema().Index(p.schema.Columns[c].Name)))
		}
		return l, nil
	}
	model, err := p.o.Model(ctx, s, accountant.Account{Mu2: p.mu * p.mu * modelShare}, report)
	if err != nil {
		return nil, err
	}
	codes := model.Sample(l.rows, u)
	for _, c := range p.problem.Columns {
		l.columns = append(l.columns, table.Codes{U16: codes[c]})
	}
	return l, nil
}

// scholar is a teacher: a logistic regression of its shard.
type scholar struct {
	*task
	shares  []float64 // of the classes among all rows
	weights []float64
}

// Train fits the regression to the rows that have a class.
func (t *scholar) Train(shard *table.Table, _ *lesson) {
	rows, l := shard.Rows(), &lesson{rows: shard.Rows()}
	none, one := slices.Repeat([]float64{math.NaN()}, len(t.classes)), make([]float64, len(t.classes))
	fit := softmax{task: t.task, penalty: teacherPrior}
	for i := range rows {
		label := none
		if class := t.problem.Classes[shard.Column(t.problem.Target).At(i)]; class >= 0 {
			label = slices.Clone(one)
			label[class] = 1
		}
		fit.labels = append(fit.labels, label...)
	}
	for _, c := range t.problem.Columns {
		l.columns = append(l.columns, shard.Column(c))
	}
	t.weights = fit.fit(make([]float64, t.problem.Cells(t.schema.Sizes())*t.problem.Outputs()), l)
}

// VotesTo votes for the class that is more probable than it is among all rows, by the largest
// factor: for the most probable one a teacher hardly ever votes if it is rare.
func (t *scholar) VotesTo(votes []uint8, l *lesson) {
	p := softmax{task: t.task}.probabilities(t.weights, l)
	for i := range votes {
		row := p[i*len(t.classes):][:len(t.classes)]
		floats.Div(row, t.shares)
		votes[i] = uint8(slices.Index(row, slices.Max(row)))
	}
}

// softmax is a regression of shares of classes on one-hot cells. It sees what it is given.
type softmax struct {
	*task
	labels  []float64 // row by row the share of each class; NaN: the row has none
	penalty float64   // Λ: Λ/2·‖w‖² is added to the summed loss
}

const fitSteps = 200 // of which the last moves no weight by a hundredth

// fit takes steps of Nesterov's method from v to the minimum, and returns the weights of cells
// there. v has them before they are turned: so the prior of a number is that its neighbouring bins
// have much in common.
func (f softmax) fit(v []float64, l *lesson) []float64 {
	smooth := float64(l.rows*len(l.columns))/4*float64(min(2, f.problem.Outputs())) + f.penalty
	root := math.Sqrt(f.penalty / smooth)
	look, w := slices.Clone(v), make([]float64, len(v))
	for range fitSteps {
		copy(w, look)
		f.rotate(w)
		p := f.probabilities(w, l)
		for i, y := range f.labels {
			if p[i] -= y; math.IsNaN(y) {
				p[i] = 0
			}
		}
		for j := range w {
			w[j] = 0
		}
		f.each(w, func(k, class int, g []float64) {
			for i := range l.rows {
				g[l.columns[k].At(l.first+i)] += p[i*len(f.classes)+class]
			}
		})
		f.rotate(w)
		for j, g := range w {
			next := look[j] - (g+float64(f.penalty*look[j]))/smooth
			look[j] = next + float64((1-root)/(1+root)*(next-v[j]))
			v[j] = next
		}
	}
	copy(w, v)
	f.rotate(w)
	return w
}

const rescalings = 200 // of which the last moves no probability by a thousandth

// calibrate sets the intercepts at which the probabilities of a lesson are, on average, the shares
// of the classes, by iterative scaling: votes are as if all classes had as many rows.
func (f softmax) calibrate(intercept, w []float64, l *lesson, shares []float64) {
	p, row := f.probabilities(w, l), make([]float64, len(shares))
	factors := slices.Repeat([]float64{1}, len(shares))
	for range rescalings {
		mean := make([]float64, len(shares))
		for votes := range slices.Chunk(p, len(shares)) {
			floats.MulTo(row, votes, factors)
			floats.AddScaled(mean, 1/floats.Sum(row)/float64(l.rows), row)
		}
		for k := range factors {
			factors[k] *= shares[k] / mean[k]
		}
	}
	for k := range intercept {
		intercept[k] = math.Log(factors[len(factors)-len(intercept)+k] / factors[0])
	}
}

// each calls do for the weights of each class and column of the problem.
func (f softmax) each(w []float64, do func(column, class int, weights []float64)) {
	for class := len(f.classes) - f.problem.Outputs(); class < len(f.classes); class++ {
		for k, c := range f.problem.Columns {
			n := f.codecs[c].Size()
			do(k, class, w[:n])
			w = w[n:]
		}
	}
}

// rotate multiplies the weights of the n bins of each number by the matrix that has n^-½ where row
// and column together are n − 1 or more, counted from 0, and −n^-½ elsewhere. It is symmetric, so
// gradients are turned alike; no row of it is longer than 1.
func (f softmax) rotate(w []float64) {
	f.each(w, func(k, _ int, w []float64) {
		codec := f.codecs[f.problem.Columns[k]]
		if w = w[:codec.Values()]; !codec.Column().Kind.Ordered() {
			return
		}
		sum, old := 0., slices.Clone(w)
		for _, x := range old {
			sum += x
		}
		scale := 1 / math.Sqrt(float64(len(w)))
		above := 0.
		for b := range w {
			above += old[len(w)-1-b]
			w[b] = scale * (2*above - sum)
		}
	})
}

// probabilities are those of each row and class.
func (f softmax) probabilities(w []float64, l *lesson) []float64 {
	out := make([]float64, l.rows*len(f.classes))
	f.each(w, func(k, class int, w []float64) {
		for i := range l.rows {
			out[i*len(f.classes)+class] += w[l.columns[k].At(l.first+i)]
		}
	})
	for row := range slices.Chunk(out, len(f.classes)) {
		toShares(row)
	}
	return out
}
