// Package vote is private aggregation of teacher ensembles: a table split into disjoint shards, a
// model for each, and noisy counts of their votes. Sources: Papernot et al. 2017 (arXiv 1610.05755)
// and 2018 (arXiv 1802.08908).
package vote

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxClasses is the most classes of a ballot.
const MaxClasses = 256

// Aggregator says how votes leave the gate. Both the noise of a vote and its events come from it.
//
// LNMax and GNMax answer every question, each count plus discrete Laplace noise, P(x) ∝
// exp(−|x|/Laplace), or plus round(N(0, Sigma²)). Two others answer as GNMax, but not every
// question: Confident-GNMax where the teachers agree,
//
//	max_j n_j + round(N(0, CheckSigma²)) ≥ Threshold,
//
// and Interactive-GNMax where they differ from the student: with n_j − M·p_j in the place of n_j, M
// teachers, M·p_j rounded to a whole vote. Elsewhere a student that is sure of its class has it
// confirmed: the caller may take it.
type Aggregator struct {
	Laplace    float64   // > 0: LNMax; all else is 0
	Sigma      float64   // > 0, unless it is LNMax
	CheckSigma float64   // > 0: some questions only
	Threshold  float64   // of the check, in votes: finite
	Student    []float64 // p in [0, 1], one a question and class, row by row; public
}

// Events are the events of one question of a ballot of the given number of classes: of its answer,
// and of the check before it, nil for an aggregator that answers every question.
//
// One unit is in one shard, so at most one teacher votes differently on neighbouring tables: its
// vote moves from one class to another. The check's number moves by at most 1. The histogram of
// more than two classes moves by Δ₁ = 2, Δ₂ = √2. Of two classes one count says all, and Δ = 1.
// This holds under add-remove, because a teacher without rows votes too, and under replace-one,
// because the shard that is drawn for a unit does not depend on the unit's rows
// (docs/claims/split.md); and for units of any number of rows.
func Events(a Aggregator, classes int) (answer, check accountant.Event) {
	one, two := 1.0, 1.0
	if classes > 2 {
		one, two = 2, math.Nextafter(math.Sqrt2, 2)
	}
	if a.Laplace > 0 {
		return accountant.Laplace{Epsilon: access.Up(one, a.Laplace)}, nil
	}
	answer = accountant.Gaussian{NoiseMultiplier: access.Down(a.Sigma, two)}
	if a.CheckSigma != 0 {
		check = accountant.Gaussian{NoiseMultiplier: a.CheckSigma}
	}
	return answer, check
}

// Plan is the composition of asking the questions of a ballot and answering at most answers of
// them; without a check, all of them.
func Plan(a Aggregator, b Ballot, answers int) accountant.Composition {
	answer, check := Events(a, b.Classes)
	if check == nil {
		return accountant.Composition{{Event: answer, Count: b.Questions}}
	}
	return accountant.Composition{{Event: check, Count: b.Questions}, {Event: answer, Count: answers}}
}

// Ballot is the shape of a vote.
type Ballot struct {
	Questions, Answers int // ≥ 1; how many of them are answered at most after a check, 0: all
	Classes            int // 2 to MaxClasses
}

// Tally is the outcome of a vote. It is public.
type Tally struct {
	Ballot
	// noisy counts of each question and class, row by row; 0 for questions without an answer. They
	// may be negative. The winner of a question is its largest count
	Counts   []int64
	Answered []bool
}

// Vote asks every teacher all questions of the ballot and releases noisy counts
// (docs/claims/vote.md). Each question is charged as [Events] says before the teachers see any of
// them. With a check, the answers that passed it are charged before they are made; when the
// reservation pays for fewer than passed, the first ones are answered and the rest are not.
func (sh *shardSet[Q]) Vote(a Aggregator, b Ballot, shown Q) (Tally, error) {
	fail := func(err error) (Tally, error) { return Tally{}, fmt.Errorf("a vote: %w", err) }
	a.Student = slices.Clone(a.Student)
	noise, err := a.noise(b)
	if err != nil {
		return fail(err)
	}
	answer, check := Events(a, b.Classes)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	question := access.Ask("vote").
		Ints(int64(sh.count), int64(b.Questions), int64(b.Classes), int64(b.Answers)).
		Floats(a.Laplace, a.Sigma, a.CheckSigma, a.Threshold).
		Floats(a.Student...)
	charges := Plan(a, b, 0)[:1] // of all questions, or of their checks
	c := access.Call{What: "teachers' votes", Of: question, Cost: charges,
		Length: b.Questions * (1 + b.Classes)}
	if check != nil { // how many answers are charged is drawn
		c.Room = base64.StdEncoding.EncodedLen(8*c.Length) + 1<<10
	}
	cost, asked := sh.inner().cost, false
	c.Draw = func(
		in access.Rows, more func(accountant.Charge) error,
	) (none access.Released, err error) {
		asked = true
		counts := sh.votes(b, shown)
		answered := make([]bool, b.Questions)
		for i := range answered {
			answered[i] = check == nil ||
				a.passes(counts[i*b.Classes:][:b.Classes], i, int64(sh.count), noise, in.Source)
		}
		if check != nil {
			if err := payFor(more, answer, answered, b.Answers); err != nil {
				return none, err
			}
		}
		cost.vote(a, b.Classes, counts, answered)
		released := make([]int64, 0, b.Questions*(1+b.Classes))
		for i, ok := range answered {
			row := make([]int64, 1+b.Classes) // whether there is an answer, and its counts
			if ok {
				row[0] = 1
				copy(row[1:], counts[i*b.Classes:])
				noise.addNoise(row[1:], in.Source)
			}
			released = append(released, row...)
		}
		return access.Released{Ints: released}, nil
	}
	released, err := access.Numbers(sh.s, c)
	if err != nil {
		return Tally{}, err
	}
	if cost != nil && !asked {
		cost.missed = true
	}
	out := Tally{Ballot: b}
	for one := range slices.Chunk(released, 1+b.Classes) {
		out.Answered, out.Counts = append(out.Answered, one[0] == 1), append(out.Counts, one[1:]...)
	}
	return out, nil
}

// votes counts the teachers' votes: one number a question and class. Sums of integers do not depend
// on who came first.
func (sh *shardSet[Q]) votes(b Ballot, shown Q) []int64 {
	in := sh.inner()
	parts := make([][]int64, sh.workers())
	for w := range parts {
		parts[w] = make([]int64, b.Questions*b.Classes)
	}
	sh.each(func(w, i int) {
		ballot := make([]uint8, b.Questions) // its own: a teacher that keeps it changes no other's
		if !access.Guard(func() { in.teachers[i].VotesTo(ballot, shown) }) {
			ballot = make([]uint8, b.Questions)
		}
		for q, class := range ballot {
			if int(class) >= b.Classes {
				class = 0
			}
			parts[w][q*b.Classes+int(class)]++
		}
	})
	for _, p := range parts[1:] {
		for i, n := range p {
			parts[0][i] += n
		}
	}
	return parts[0]
}

// payFor charges the answers that a check allowed, at most most of them unless that is 0, and takes
// back from the last ones what the reservation does not pay for.
func payFor(pay func(accountant.Charge) error, e accountant.Event, allowed []bool, most int) error {
	n := 0
	for _, ok := range allowed {
		if ok && (most <= 0 || n < most) {
			n++
		}
	}
	for ; n > 0; n-- {
		if err := pay(accountant.Charge{Event: e, Count: n}); err == nil {
			break
		} else if !errors.Is(err, privacy.ErrPlan) {
			return err
		}
	}
	for i, ok := range allowed {
		if ok && n == 0 {
			allowed[i] = false
		} else if ok {
			n--
		}
	}
	return nil
}
