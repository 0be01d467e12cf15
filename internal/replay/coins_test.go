//go:build seam

package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// While the answers of x are played to a neighbour x′, the gate has the neighbour's own in hand. In
// a world with coins both draw the same batches, shards and rows of units, so what is left of their
// difference without noise is how far one unit moves an answer, on the road that the run took. It
// is held to what the answer was charged, in the norm of its event and by the scale of the noise
// that was drawn; and the noise, to the law of that scale. Neither knows any mechanism: an answer
// is numbers, which noise was added to, or a choice by scores.

// instead is what privacy/seam.go adds in place of noise.
const instead = 1 << 60

// look is a line of the file of coins (privacy/seam.go).
type look struct {
	What                  string
	Answer, Exact, Scales answer
	Laplace               bool
	Choices               []struct {
		Scores []int64
		Lambda float64
	}
	Charges  accountant.Composition
	Replaced bool
}

// answer is numbers, and behind them texts with numbers, as JSON.
type answer struct {
	Ints []int64
	Text []byte
}

// number is one of an answer.
type number struct {
	name  string // its place, or a text
	exact int64
	scale float64 // of its noise; 0: it has none
	of    int     // +1: noise was added, −1: subtracted
	noisy int64   // with noise
	given bool    // with noise it is there
}

// numbers takes an answer apart.
func (l look) numbers() ([]number, error) {
	a, b, c := l.Exact.Ints, l.Scales.Ints, l.Answer.Ints
	texts, err := l.Exact.texts()
	scaled, err2 := l.Scales.texts()
	noisy, err3 := l.Answer.texts()
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	if len(a) != len(b) || len(a) != len(c) || len(texts) != len(scaled) {
		return nil, fmt.Errorf("%d, %d and %d numbers", len(a), len(b), len(c))
	}
	out := make([]number, 0, len(a)+len(texts))
	add := func(name string, exact, scaled, noisy int64, given bool) error {
		n := number{name: name, exact: exact, noisy: noisy, given: given}
		if diff := scaled - exact; diff != 0 {
			n.of = 1
			if diff < 0 {
				n.of, diff = -1, -diff
			}
			n.exact -= int64(n.of) * instead
			n.scale = math.Float64frombits(uint64(diff))
			if !(n.scale >= noise.MinScale && n.scale <= noise.MaxScale) {
				return fmt.Errorf("number %s is no sum with noise of one draw", name)
			}
		}
		out = append(out, n)
		return nil
	}
	for i := range a {
		err = errors.Join(err, add(fmt.Sprint(i), a[i], b[i], c[i], true))
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		x, given := noisy[text]
		err = errors.Join(err, add(text, texts[text], scaled[text], x, given))
	}
	return out, err
}

// texts are the numbers of the texts of an answer.
func (a answer) texts() (map[string]int64, error) {
	var of [][]struct {
		Text []byte
		Rows int64
	}
	if a.Text == nil {
		return nil, nil
	}
	err, texts := json.Unmarshal(a.Text, &of), map[string]int64{}
	for i, column := range of {
		for _, t := range column {
			texts[fmt.Sprintf("%d %q", i, t.Text)] = t.Rows
		}
	}
	return texts, err
}

// allowed is what an answer was charged: Σ 1/z² of its Gaussian events, and Σ ε of the others.
type allowed struct{ square, pure, chosen, approx float64 }

func (l look) allowed() (a allowed) {
	for _, c := range l.Charges {
		n := float64(c.Count)
		switch e := c.Event.(type) {
		case accountant.Gaussian:
			a.square += n / (e.NoiseMultiplier * e.NoiseMultiplier)
		case accountant.SubsampledGaussian:
			z := e.NoiseMultiplier // of the part of one unit
			if l.Replaced {
				z /= 2
			}
			a.square += n / (z * z)
		case accountant.Laplace:
			a.pure += n * e.Epsilon
		case accountant.Exponential:
			a.chosen += n * e.Epsilon
		case accountant.Approx:
			a.approx += n * e.Epsilon
		}
	}
	return a
}

// looked is what a test has seen of answers.
type looked struct {
	sync.Mutex
	answers int
	most    map[string]float64   // of a kind of answer, the largest share of its charge
	drawn   map[string][]float64 // noise by stratum, as uniform numbers
}

// most numbers of a stratum that are kept.
const mostDrawn = 100_000

// judge holds the answers of a command to what they cost. x recorded, y is its neighbour.
func (t *looked) judge(x, y []look, wrong func(format string, args ...any)) {
	t.Lock()
	defer t.Unlock()
	if len(x) != len(y) {
		wrong("%d answers were looked at, and %d", len(x), len(y))
		return
	}
	for i, a := range x {
		say := func(format string, args ...any) {
			wrong("answer %d (%s): %s", i+1, a.What, fmt.Sprintf(format, args...))
		}
		may, kind := a.allowed(), strings.TrimRight(a.What, "0123456789 ")
		if a.Exact.Ints == nil {
			continue // of an event that no reach follows from
		}
		t.answers++
		spent, err := t.moved(a, y[i], say)
		if err != nil {
			say("%v", err)
			continue
		}
		const up = 1 + 1e-9
		for _, c := range []struct {
			norm       string
			got, limit float64
		}{
			{"L2, squared", spent.square, may.square}, {"L1", spent.pure, may.pure},
			{"a choice", spent.chosen, may.chosen},
		} {
			if !(c.got <= c.limit*up) {
				say("a neighbour is %.6g away in units of the noise (%s), %.6g is paid for", c.got, c.norm,
					c.limit)
			}
			if c.limit > 0 {
				t.most[kind+", "+c.norm] = max(t.most[kind+", "+c.norm], c.got/c.limit)
			}
		}
	}
}

// moved is how far two answers are from each other, in units of their noise.
func (t *looked) moved(a, b look, wrong func(format string, args ...any)) (d allowed, err error) {
	if len(a.Choices) != len(b.Choices) {
		return d, fmt.Errorf("%d choices and %d", len(a.Choices), len(b.Choices))
	}
	for i, c := range a.Choices {
		most, apart := loss(c.Scores, b.Choices[i].Scores, c.Lambda, b.Choices[i].Lambda)
		if d.chosen += apart; a.allowed().pure > 0 {
			d.chosen -= apart
			d.pure += most
		}
	}
	if len(a.Choices) > 0 {
		return d, nil // the answer is which
	}
	xs, err := a.numbers()
	if err != nil {
		return d, err
	}
	ys, err := b.numbers()
	if err != nil {
		return d, err
	}
	other := map[string]number{}
	for _, y := range ys {
		other[y.name] = y
	}
	fixed, bare := 0, 0
	for i, x := range xs {
		y, ok := other[x.name]
		if !ok {
			continue // a text of one table alone, which δ is for
		}
		switch {
		case x.scale != y.scale || x.of != y.of:
			return d, fmt.Errorf("number %s has noise of scale %v, and %v for a neighbour", x.name,
				x.scale, y.scale)
		case x.of == 0:
			if bare++; x.exact != y.exact {
				return d, fmt.Errorf("number %s has no noise and is another for a neighbour", x.name)
			} else if x.exact == 1 {
				fixed++ // it says that there is an answer
			}
			continue
		case x.of < 0: // of two numbers with one noise, subtracted and added, the second counts
			if i+1 == len(xs) || xs[i+1].of < 0 || xs[i+1].scale != x.scale ||
				x.noisy+xs[i+1].noisy != x.exact+xs[i+1].exact {
				return d, fmt.Errorf("the noise of number %s is not that of the next", x.name)
			} else if x.exact+xs[i+1].exact != y.exact+other[xs[i+1].name].exact {
				return d, fmt.Errorf("number %s and the next have another sum for a neighbour", x.name)
			}
			continue
		}
		by := math.Abs(float64(x.exact-y.exact)) / x.scale
		if a.Laplace {
			d.pure += by
		} else {
			d.square += by * by
		}
		if x.given && a.Answer.Text == nil { // texts are given only if they are frequent
			t.keep(x, a, len(xs))
		}
	}
	if bare > fixed {
		return d, fmt.Errorf("%d numbers of %d have no noise", bare-fixed, len(xs))
	}
	return d, nil
}

// keep keeps what was drawn for a number, as what is uniform on (0, 1) if it has its law.
func (t *looked) keep(x number, a look, n int) {
	size := "few cells"
	if n > 1<<14 {
		size = "over 2^14 cells"
	} else if n > 256 {
		size = "over 256 cells"
	}
	law, below := "Gaussian", func(r float64) float64 { return math.Erfc(-r/x.scale/math.Sqrt2) / 2 }
	lo, hi := -.5, .5
	if a.Laplace {
		law, lo, hi = "Laplace", -1, 0
		q := math.Exp(-1 / x.scale)
		below = func(r float64) float64 { // P(X ≤ r)
			if r < 0 {
				return math.Pow(q, -r) / (1 + q)
			}
			return 1 - math.Pow(q, r+1)/(1+q)
		}
	}
	truth := "true number large"
	if x.exact == 0 {
		truth = "true number 0"
	} else if math.Abs(float64(x.exact)) < 10*x.scale {
		truth = "true number below 10 scales"
	}
	r := float64(x.noisy - x.exact)
	p, q := below(r+lo), below(r+hi)
	u := p + rand.Float64()*(q-p)
	for _, stratum := range []string{law + ", " + truth, law + ", " + size,
		law + ", " + strings.TrimRight(a.What, "0123456789 ")} {
		if len(t.drawn[stratum]) < mostDrawn {
			t.drawn[stratum] = append(t.drawn[stratum], u)
		}
	}
}

// enough numbers of a stratum tell a scale 30 % off: that moves the distribution by .06.
const enough = 2500

// String says how much of its charge each kind of answer used, and how much noise was seen.
func (t *looked) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d answers of which the sensitivity was seen; the largest share of a charge:",
		t.answers)
	for _, kind := range slices.Sorted(maps.Keys(t.most)) {
		fmt.Fprintf(&b, "\n  %.6f %s", t.most[kind], kind)
	}
	for _, stratum := range slices.Sorted(maps.Keys(t.drawn)) {
		fmt.Fprintf(&b, "\n  %7d numbers of noise: %s", len(t.drawn[stratum]), stratum)
	}
	return b.String()
}

// laws returns what is wrong with the noise of each stratum. Null: each number of each answer has
// the law of its charge, independently; false-alarm rate 1e-6 for each stratum. A scale 30 % off
// must be rejected where there are enough numbers.
func (t *looked) laws() (wrong []string) {
	for stratum, us := range t.drawn {
		laplace := strings.HasPrefix(stratum, "Laplace")
		for _, c := range []struct {
			scale float64
			ok    bool
		}{{1, true}, {.7, false}, {1.3, false}} {
			law := func(u float64) float64 { return off(u, c.scale, laplace) }
			if stat, limit, ok := stattest.KolmogorovSmirnov(us, law); ok != c.ok &&
				(c.ok || len(us) >= enough) {
				wrong = append(wrong, fmt.Sprintf("%s: %d numbers with %v times the noise: distance %.4f, "+
					"at most %.4f: %v", stratum, len(us), c.scale, stat, limit, ok))
			}
		}
	}
	return wrong
}

// off is the distribution of what keep makes of noise that is so many times as large.
func off(u, scale float64, laplace bool) float64 {
	switch {
	case u <= 0 || u >= 1:
		return min(1, max(0, u))
	case laplace && u < .5:
		return .5 * math.Pow(2*u, 1/scale)
	case laplace:
		return 1 - .5*math.Pow(2-2*u, 1/scale)
	}
	return math.Erfc(math.Erfcinv(2*u)/scale) / 2
}

// loss is how far the logarithms of the probabilities of a choice are apart: at most, and between
// any two.
func loss(a, b []int64, la, lb float64) (most, apart float64) {
	if len(a) != len(b) || la != lb {
		return math.Inf(1), math.Inf(1)
	}
	log := func(scores []int64) []float64 {
		out, top, sum := make([]float64, len(scores)), slices.Max(scores), 0.
		for i, s := range scores {
			out[i] = la * float64(s-top)
			sum += math.Exp(out[i])
		}
		for i := range out {
			out[i] -= math.Log(sum)
		}
		return out
	}
	p, q := log(a), log(b)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range p {
		most = max(most, math.Abs(p[i]-q[i]))
		d := la * float64(a[i]-b[i])
		lo, hi = min(lo, d), max(hi, d)
	}
	return most, hi - lo
}

// looks reads the file of coins.
func looks(path string) ([]look, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []look
	for lines := json.NewDecoder(file); ; {
		var l look
		if err := lines.Decode(&l); err == io.EOF {
			return out, os.Remove(path)
		} else if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
}
