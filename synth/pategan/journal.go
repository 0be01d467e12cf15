package pategan

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
)

// journal is a source that keeps what another returned. It is the checkpoint of a fit: a fit that starts with the same seed and hears the same
// answers again is where it was. Teachers are not in it, for they have seen private rows: a continued run splits anew and makes new ones.
type journal struct {
	from source
	left func(answerKind) bool    // whether the source can still be asked; nil: it can
	save func(state []byte) error // nil: nobody keeps it
	next int                      // the answer to repeat
	journalState
}

type journalState struct {
	Seed    [2]uint64 // of all public randomness
	Answers []answer
}

type answer struct {
	Kind   answerKind
	Counts []int64
	Index  int
	Asked  []int32 // the rows that were voted on
	Lost   bool
}

type answerKind string

const (
	totalAnswer  answerKind = "total"
	oneWayAnswer answerKind = "one-way"
	choiceAnswer answerKind = "choice"
	targetAnswer answerKind = "target pair"
	pairAnswer   answerKind = "pair"
	voteAnswer   answerKind = "vote"
)

// newJournal reads a state; nil begins a fit.
func newJournal(from source, state []byte) (*journal, error) {
	j := &journal{from: from}
	if state == nil {
		j.Seed = [2]uint64{rand.Uint64(), rand.Uint64()}
		return j, nil
	}
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&j.journalState); err != nil {
		return nil, fmt.Errorf("pategan: the state does not decode: %w", synth.ErrCheckpoint)
	}
	return j, nil
}

// ask repeats the next answer if there is one, which must be of that kind, or asks the source and keeps the answer.
func (j *journal) ask(kind answerKind, live func(*answer) error) (answer, error) {
	if j.next < len(j.Answers) {
		a := j.Answers[j.next]
		if a.Kind != kind {
			return a, fmt.Errorf("pategan: the state has an answer of kind %q for %q: %w", a.Kind, kind, synth.ErrCheckpoint)
		}
		j.next++
		return a, nil
	}
	a := answer{Kind: kind, Lost: j.left != nil && !j.left(kind)}
	if !a.Lost {
		if err := live(&a); err != nil {
			return a, err
		}
	}
	j.Answers = append(j.Answers, a)
	j.next++
	if j.save == nil {
		return a, nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(j.journalState); err != nil {
		return a, fmt.Errorf("pategan: %w", err)
	}
	return a, j.save(b.Bytes())
}

func (j *journal) total() (int64, bool, error) {
	a, err := j.ask(totalAnswer, func(a *answer) error {
		n, _, err := j.from.total()
		a.Counts = []int64{n}
		return err
	})
	if err != nil || a.Lost || len(a.Counts) != 1 {
		return 0, true, err
	}
	return a.Counts[0], false, nil
}

func (j *journal) oneWay(column int) ([]int64, error) {
	a, err := j.ask(oneWayAnswer, func(a *answer) (err error) { a.Counts, err = j.from.oneWay(column); return err })
	return a.Counts, err
}

func (j *journal) choose(candidates []privacy.Candidate) (int, error) {
	a, err := j.ask(choiceAnswer, func(a *answer) (err error) { a.Index, err = j.from.choose(candidates); return err })
	if a.Lost {
		return -1, err
	}
	return a.Index, err
}

func (j *journal) pair(m privacy.Marginal, withTarget bool) ([]int64, error) {
	kind := pairAnswer
	if withTarget {
		kind = targetAnswer
	}
	a, err := j.ask(kind, func(a *answer) (err error) { a.Counts, err = j.from.pair(m, withTarget); return err })
	return a.Counts, err
}

func (j *journal) split(teachers int, offsets []int) { j.from.split(teachers, offsets) }

// vote asks about the rows that the answer was about: on another kind of processor a repeated fit might generate others.
func (j *journal) vote(l *lesson) ([]int64, error) {
	a, err := j.ask(voteAnswer, func(a *answer) (err error) {
		a.Counts, err = j.from.vote(l)
		a.Asked = l.asked.at
		return err
	})
	l.asked.at = a.Asked
	return a.Counts, err
}

// can reports whether the session has the calls left for an answer: not if a killed process made them and lost the result.
func (g *gate) can(kind answerKind) bool {
	p, n := g.p, 1
	var e accountant.Event
	switch kind {
	case totalAnswer:
		e = p.nb.TotalEvent(p.total)
	case oneWayAnswer:
		e = p.nb.CountsEvent(p.oneWay)
	case choiceAnswer:
		e = p.nb.SelectEvent(p.epsilon)
	case targetAnswer:
		e = p.nb.CountsEvent(p.withT)
	case pairAnswer:
		e = p.nb.CountsEvent(p.pair)
	default:
		e, _ = p.nb.VoteEvents(p.aggregator(), 2)
		n = p.cfg.Questions
	}
	return g.s.Left(e) >= n
}
