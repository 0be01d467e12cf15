package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// Subject is what is fitted to rows and then attacked by them.
type Subject struct {
	Name string
	// the claim made for it; an infinite ε: none is made
	Budget    accountant.Budget
	Adjacency accountant.Adjacency
	// Fit fits it once to a table. It is called from several goroutines; u is the call's own.
	Fit func(ctx context.Context, t *table.Table, u *rand.Rand) (Signal, error)
	// Conditional: the signal of a row says how likely one column is given the others, as that of a
	// classifier does, and not how likely all of them are
	Conditional bool
}

// Signal is what an attacker computes from one fit for each row of any table of its schema: the log
// odds that a classifier gives to the row's own class, or the logarithm of how often synthetic rows
// look like it. The larger, the more the row looks like one of those that were fitted.
type Signal func(t *table.Table) ([]float64, error)

// unclaimed is the budget of what claims nothing.
var unclaimed = accountant.Budget{Epsilon: math.Inf(1)}

// Synthetic attacks the synthetic tables of a method, of as many rows as it was fitted to.
func Synthetic(
	f synth.Fitter, s *schema.Schema, adj accountant.Adjacency, b accountant.Budget,
) (Subject, error) {
	m, err := newMethod(f, s, adj, b)
	if err != nil {
		return Subject{}, err
	}
	return Subject{Name: m.name, Budget: b, Adjacency: m.nb.Adjacency,
		Fit: func(ctx context.Context, t *table.Table, u *rand.Rand) (Signal, error) {
			params, err := m.fit(ctx, t)
			if err != nil {
				return nil, err
			}
			return likeness(s.Sizes(), drawn(params, t.Rows(), u)), nil
		}}, nil
}

// Plain are the names of subjects without privacy, which show what the attacks find where nothing
// is hidden: classifiers of package eval, and [Bootstrap].
var Plain = []string{"logistic-regression", "gradient-boosting", overfitted, softLabels, Bootstrap}

const (
	overfitted = "overfitted-boosting"
	softLabels = "soft-labels"
	Bootstrap  = "bootstrap" // a table of rows drawn with replacement
)

// Folds and alpha of soft labels.
const (
	softFolds = 10
	softAlpha = .5
)

// PlainSubject is one of [Plain]. The classifiers predict the label of a task.
func PlainSubject(name string, task eval.Task) Subject {
	learners := []eval.Learner{eval.LogisticRegression, eval.GradientBoosting,
		eval.OverfittedBoosting, eval.GradientBoosting, 0}
	task.Learner = learners[slices.Index(Plain, name)]
	return Subject{Name: name, Budget: unclaimed, Conditional: name != Bootstrap,
		Fit: func(_ context.Context, t *table.Table, u *rand.Rand) (Signal, error) {
			if name == Bootstrap {
				rows := make([][]uint16, t.Rows())
				for i := range rows {
					rows[i] = rowOf(t, u.IntN(t.Rows()))
				}
				return likeness(t.Schema().Sizes(), rows), nil
			}
			task, train := task, task.Train
			if name == softLabels {
				task.Seed = u.Uint64()
				train = func(t *table.Table) (eval.Classifier, error) {
					return task.TrainSoft(t, softFolds, softAlpha)
				}
			}
			model, err := train(t)
			if errors.Is(err, eval.ErrOneClass) { // nothing can be learnt but how rare the other one is
				yes := float64(t.Counts(t.Schema().Index(task.Label))[task.Positive])
				model, err = func(rows *table.Table) ([]float64, error) {
					odds := math.Log((yes + .5) / (float64(t.Rows()) - yes + .5))
					return slices.Repeat([]float64{odds}, rows.Rows()), nil
				}, nil
			}
			return func(t *table.Table) ([]float64, error) {
				odds, err := model.Scores(t)
				label := t.Column(t.Schema().Index(task.Label))
				for i := range odds {
					if label.At(i) != task.Positive {
						odds[i] = -odds[i]
					}
				}
				return odds, err
			}, err
		}}
}

// likeness is the signal of synthetic rows: the logarithm of the share of synthetic rows that agree
// with the row, half a row being added, on average over columns and pairs of columns, plus that of
// those that agree in all columns.
func likeness(sizes []int, synthetic [][]uint16) Signal {
	m, whole := newMargins(sizes), map[string]float64{}
	for _, row := range synthetic {
		m.count(row, 1)
		whole[fmt.Sprint(row)]++
	}
	for k, counts := range m.counts {
		total := float64(len(synthetic)) + .5*float64(len(counts))
		for c, n := range counts {
			m.counts[k][c] = math.Log((n + .5) / total)
		}
	}
	return func(t *table.Table) ([]float64, error) {
		out := make([]float64, t.Rows())
		for r := range out {
			row := rowOf(t, r)
			for k := range m.sets {
				out[r] += m.counts[k][m.cell(k, row)] / float64(len(m.sets))
			}
			out[r] += math.Log((whole[fmt.Sprint(row)] + .5) / float64(len(synthetic)+1))
		}
		return out, nil
	}
}

// fit is what the attacker learns from one fit.
type fit struct {
	signals []float64 // of the rows, of the planted ones and of those that are never in
	// of a target: of each column, how many rows were inverted rightly that were out, and that were in
	inverted [][2]int
}

const (
	shadowShare  = .75  // of the fits
	strangers    = 1023 // planted rows are ranked among so many others
	mostInverted = 500  // rows
)

// game is the attack on rows: a coin says of each row, in each fit, whether it is in. The shadows
// are fits whose coins the attacker knows. Of the others, the targets, he is to guess them.
type game struct {
	Subject
	seed     uint64
	all      *table.Table // the candidates, which are rows and then planted ones, and the strangers
	rows     int
	fits     []fit
	shadows  int      // the first so many of them
	in       [][]bool // of each fit, the coins of the candidates
	mean, sd [2][]float64
}

// Rows attacks a subject a row at a time. In each of Runs fits a fair coin says of every row
// whether it is among those that are fitted; under replace-one, which of two it is. Three quarters
// are shadow models, from which the attacker learns how the signal of each row moves. Of the others
// he guesses who was in:
//
//   - by the likelihood ratio of Gaussians fitted to the row's signals in the shadows, with it and
//     without it (Carlini et al., "Membership inference attacks from first principles", IEEE S&P
//     2022, algorithm 1); standard deviations are pooled over rows below 64 shadows;
//   - by the signal less its mean without the row (difficulty calibration: Watson, Guo, Cormode,
//     Sablayrolles, ICLR 2022), and by the signal alone (Yeom et al., CSF 2018: the loss);
//   - leave-two-unlabelled (Pedersen et al., Algorithms 15(7) 254, 2022): which of two rows was
//     in, one of which was, by the likelihood ratio.
//
// Each gives a bound on ε by the theorem of one-run audits, which holds for any attacker: the coins
// of the targets are independent and fair. All bounds together hold at the confidence of o. Each
// interval of a rate is one of that confidence by itself, as if rows were independent.
//
// Two more results have no bound: the exposure of Canaries random rows that are planted as the
// others are, and model inversion, which guesses each column of a row from the others (Fredrikson
// et al., CCS 2015), for rows in and rows out.
//
// A seed decides every draw but the noise of a private subject. Errors: a table of less than 40
// rows or with an id column, options out of range, those of the subject, and ctx's.
func Rows(ctx context.Context, s Subject, t *table.Table, o Options) ([]Result, error) {
	err := cmp.Or(o.fill(64), attackable(t, 40))
	if err != nil {
		return nil, err
	}
	g, err := newGame(s, t, o)
	if err != nil {
		return nil, err
	}
	err = o.each(ctx, o.Runs, 0, o.Runs, func(ctx context.Context, k int) (err error) {
		g.fits[k], err = g.fit(ctx, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	return g.results(o.Confidence)
}

// newGame draws who plays, and all coins. Every row is in half of the shadows.
func newGame(s Subject, t *table.Table, o Options) (*game, error) {
	u := rand.New(rand.NewPCG(o.Seed, 0))
	g := &game{Subject: s, seed: o.Seed, rows: t.Rows() &^ 1, fits: make([]fit, o.Runs),
		shadows: int(shadowShare*float64(o.Runs)) &^ 1, in: make([][]bool, o.Runs)}
	candidates, others := g.rows+o.Canaries+o.Canaries%2, 0
	if o.Canaries > 0 {
		others = strangers
	}
	var rows [][]uint16
	for _, r := range u.Perm(t.Rows())[:g.rows] {
		rows = append(rows, rowOf(t, r))
	}
	for len(rows) < candidates+others {
		rows = append(rows, randomRow(u, t.Schema().Sizes()))
	}
	for k := range g.in {
		g.in[k] = make([]bool, candidates)
	}
	pairs := s.Adjacency == accountant.ReplaceOne
	for c := range candidates {
		half := u.Perm(g.shadows)
		for k, in := range g.in {
			switch {
			case pairs && c%2 == 1:
				in[c] = !in[c-1]
			case k < g.shadows:
				in[c] = half[k] < g.shadows/2
			default:
				in[c] = u.IntN(2) == 0
			}
		}
	}
	var err error
	g.all, err = tableOf(t.Schema(), 1, rows)
	return g, err
}

// fit makes one fit.
func (g *game) fit(ctx context.Context, k int) (out fit, err error) {
	var members []int
	for c, in := range g.in[k] {
		if in {
			members = append(members, c)
		}
	}
	signal, err := g.Fit(ctx, g.all.Select(members), rand.New(rand.NewPCG(g.seed, uint64(k)+1)))
	if err != nil {
		return out, fmt.Errorf("%s, fitted to %d rows: %w", g.Name, len(members), err)
	}
	if out.signals, err = signal(g.all); err != nil {
		return out, err
	}
	for i, x := range out.signals {
		if out.signals[i] = max(-700, min(700, x)); x != x {
			return out, fmt.Errorf("%s: the signal of a row is not a number", g.Name)
		}
	}
	if k >= g.shadows {
		out.inverted, err = g.invert(signal, g.in[k])
	}
	return out, err
}

// inverted are the rows whose columns are guessed.
func (g *game) inverted() *table.Table {
	rows := make([]int, min(mostInverted, g.rows))
	for i := range rows {
		rows[i] = i
	}
	return g.all.Select(rows)
}

// invert guesses each column of rows as the code at which the row is most likely.
func (g *game) invert(signal Signal, in []bool) (right [][2]int, err error) {
	known := g.inverted()
	n, s := known.Rows(), known.Schema()
	columns := known.Columns()
	for c, size := range s.Sizes() {
		prior, truth := known.Counts(c), columns[c]
		best, guess := slices.Repeat([]float64{math.Inf(-1)}, n), make([]uint16, n)
		for code := range uint16(size) {
			columns[c] = table.NewCodes(size, n)
			for i := range n {
				columns[c].Set(i, code)
			}
			t, err := table.FromColumns(s, slices.Clone(columns), nil)
			if err != nil {
				return nil, err
			}
			x, err := signal(t)
			if err != nil {
				return nil, err
			}
			for i := range x {
				if g.Conditional { // the logarithm of prior times likelihood
					x[i] = min(x[i], 0) - math.Log1p(math.Exp(-math.Abs(x[i]))) +
						math.Log(float64(prior[code])+.5)
				}
				if x[i] > best[i] {
					best[i], guess[i] = x[i], code
				}
			}
		}
		columns[c] = truth
		var hits [2]int
		for i, code := range guess {
			if code == truth.At(i) {
				hits[side(in[i])]++
			}
		}
		right = append(right, hits)
	}
	return right, nil
}

// side is the place of what is out, or in.
func side(in bool) int {
	if in {
		return 1
	}
	return 0
}

// ownDeviations is from how many shadows on each row has standard deviations of its own.
const ownDeviations = 64

// learn fits the Gaussians of every candidate to the shadows.
func (g *game) learn() {
	var pooled [2]float64
	for c := range g.in[0] {
		var x [2][]float64
		for k, f := range g.fits[:g.shadows] {
			s := side(g.in[k][c])
			x[s] = append(x[s], f.signals[c])
		}
		for s := range x {
			mean, sd := stat.MeanStdDev(x[s], nil)
			g.mean[s], g.sd[s] = append(g.mean[s], mean), append(g.sd[s], sd)
			pooled[s] += sd * sd / float64(len(g.in[0]))
		}
	}
	for s, of := range g.sd {
		for c := range of {
			if g.shadows < ownDeviations {
				of[c] = math.Sqrt(pooled[s])
			}
			of[c] = max(of[c], 1e-6*(1+math.Abs(g.mean[s][c])))
		}
	}
}

// ratio is the logarithm of the likelihood ratio of a candidate's signal.
func (g *game) ratio(c int, x float64) float64 {
	z := func(s int) float64 { return (x - g.mean[s][c]) / g.sd[s][c] }
	return (z(0)*z(0)-z(1)*z(1))/2 + math.Log(g.sd[0][c]/g.sd[1][c])
}

// results judges all attackers.
func (g *game) results(confidence float64) (out []Result, err error) {
	g.learn()
	const bounds = 4 // on ε, which share what may go wrong
	share := 1 - (1-confidence)/bounds
	for _, a := range []struct {
		name  string
		score func(c int, x float64) float64
	}{{"likelihood ratio", g.ratio},
		{"calibrated", func(c int, x float64) float64 { return x - g.mean[0][c] }},
		{"loss", func(_ int, x float64) float64 { return x }}} {
		scores, coins := g.played(a.score, g.Adjacency == accountant.ReplaceOne)
		made := max(1, len(coins)/10)
		r := guessed(g.Name, guesses{len(coins), made, right(coins, made)}, g.Budget, share)
		if err := r.score(scores[0], scores[1], confidence, g.Budget); err != nil {
			return nil, err
		}
		r.Attack, r.Curve = a.name, curve(scores[0], scores[1])
		out = append(out, r)
	}
	out = append(out, g.leaveTwo(share))
	if p := g.exposed(); p != nil {
		out = append(out, Result{Mechanism: g.Name, Attack: "exposure", Planted: p})
	}
	return append(out, g.columns(confidence)), nil
}

// played are the scores of the rows of all targets, out and in, and what an attacker guesses by
// them: which rows were in or, of pairs one row of which was, whether it was the second.
func (g *game) played(
	score func(c int, x float64) float64, pairs bool,
) (scores [2][]float64, coins []canary) {
	for k := g.shadows; k < len(g.fits); k++ {
		last := 0.0
		for c, in := range g.in[k][:g.rows] {
			x := score(c, g.fits[k].signals[c])
			scores[side(in)] = append(scores[side(in)], x)
			if !pairs {
				coins = append(coins, canary{in, x})
			} else if c%2 == 1 && in != g.in[k][c-1] {
				coins = append(coins, canary{in, x - last})
			}
			last = x
		}
	}
	return scores, coins
}

// leaveTwo guesses, of two rows one of which was in, which it was. Which two was settled before.
// Under add-remove this is a claim about two rows.
func (g *game) leaveTwo(confidence float64) Result {
	b := g.Budget
	if g.Adjacency != accountant.ReplaceOne && !math.IsInf(b.Epsilon, 1) {
		b = accountant.Group(b, 2)
	}
	_, coins := g.played(g.ratio, true)
	tries := guesses{Canaries: len(coins), Made: len(coins)}
	for _, c := range coins {
		if c.score > 0 == c.in {
			tries.Right++
		}
	}
	r := guessed(g.Name, tries, b, confidence)
	r.Attack = "leave-two-unlabelled"
	return r
}

// exposed are the exposures of the planted rows, on average over the targets: with them and without
// them; nil without any.
func (g *game) exposed() *planted {
	var means [2][]float64
	for c := g.rows; c < len(g.in[0]); c++ {
		var bits [2][]float64
		for k := g.shadows; k < len(g.fits); k++ {
			x, s := g.fits[k].signals, side(g.in[k][c])
			bits[s] = append(bits[s], exposure(x[c], x[len(g.in[k]):]))
		}
		for s, b := range bits {
			if len(b) > 0 {
				means[s] = append(means[s], stat.Mean(b, nil))
			}
		}
	}
	if min(len(means[0]), len(means[1])) < 2 {
		return nil
	}
	of := func(x []float64) measured {
		mean, sd := stat.MeanStdDev(x, nil)
		return measured{mean, sd / math.Sqrt(float64(len(x)))}
	}
	return &planted{Rows: len(g.in[0]) - g.rows, Most: math.Log2(strangers + 1), Out: of(means[0]),
		In: of(means[1])}
}

// columns is model inversion, column by column.
func (g *game) columns(confidence float64) Result {
	r, known := Result{Mechanism: g.Name, Attack: "inversion"}, g.inverted()
	for c, column := range known.Schema().Columns {
		var hits, total [2]int
		for k := g.shadows; k < len(g.fits); k++ {
			for s, n := range g.fits[k].inverted[c] {
				hits[s] += n
			}
			for _, in := range g.in[k][:known.Rows()] {
				total[side(in)]++
			}
		}
		r.Inverted = append(r.Inverted, inverted{Column: column.Name,
			In: rateOf(hits[1], total[1], confidence), Out: rateOf(hits[0], total[0], confidence),
			Commonest: float64(slices.Max(known.Counts(c))) / float64(known.Rows())})
	}
	return r
}
