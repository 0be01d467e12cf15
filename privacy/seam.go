//go:build seam

package privacy

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// This file is in no ordinary build. It reads the environment:
//
//	SEAM_REPLAY=FILE   if there is no such file, it gets a line for each answer of the gate.
//	    If there is, each run is given the answers in it in place of its own, and FILE.played gets
//	    a line for each: equal files say that the same was asked in the same order. A run that asks
//	    something else ends the process with exitStrayed.
//	SEAM_STOP=N        the process ends with exitStopped before it draws answer N+1.
//	SEAM_COINS=KEY UNITS ROWS KEPT   what is drawn follows from the key (noise.Coins), and that
//	    file with .coins behind gets a line for each answer: what it is without noise, the scale of
//	    the noise of each number, the scores of each choice, and what was charged. The first ROWS
//	    rows, KEPT of them used, are of UNITS (0 or 1) units that the neighbour has not.
//
// Only the answer is replaced, and what it bought on the way: rows are read, noise is drawn, and
// every charge is made as ever.

const (
	exitStrayed = 70 // of a process that asked another question
	exitStopped = 71
)

// played is a line of the file.
type played struct {
	Run, Query string
	Answer     []byte
	More       accountant.Composition `json:",omitempty"` // that the draw of the answer charged
}

// tape has the answers that are left for each run, if any are played back.
type tape struct {
	sync.Mutex
	out  *os.File
	left map[string][]played // nil while recording

	drawn, stop       int      // answers; -1: it does not stop
	key               string   // of the coins
	coins             *os.File // nil: there are none
	units, rows, kept int
}

var deck = sync.OnceValue(func() *tape {
	path := os.Getenv("SEAM_REPLAY")
	if path == "" {
		return nil
	}
	must := func(err error) {
		if err != nil {
			panic("privacy: SEAM_REPLAY: " + err.Error())
		}
	}
	create := func(path string) *os.File {
		file, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		must(err)
		return file
	}
	d := &tape{stop: -1}
	if old, err := os.Open(path); err == nil {
		defer old.Close()
		d.left = map[string][]played{}
		path += ".played"
		for lines := json.NewDecoder(old); lines.More(); {
			var p played
			must(lines.Decode(&p))
			d.left[p.Run] = append(d.left[p.Run], p)
		}
	}
	d.out = create(path)
	if n := os.Getenv("SEAM_STOP"); n != "" {
		var err error
		d.stop, err = strconv.Atoi(n)
		must(err)
	}
	if c := os.Getenv("SEAM_COINS"); c != "" {
		_, err := fmt.Sscan(c, &d.key, &d.units, &d.rows, &d.kept)
		must(err)
		d.coins = create(path + ".coins")
	}
	return d
})

// Sources of sessions follow from the coins.
func init() {
	noise.Fresh = func() *noise.Source {
		if d := deck(); d != nil && d.coins != nil {
			return noise.Coins{Key: d.key, First: d.units, Rows: d.rows}.Source()
		}
		return nil
	}
}

// recorded returns the answer that a run is given: its own, or that of the file.
func recorded(run, query string, answer []byte) []byte {
	if d := deck(); d != nil {
		return d.play(played{Run: run, Query: query, Answer: answer}).Answer
	}
	return answer
}

func (d *tape) play(p played) played {
	d.Lock()
	defer d.Unlock()
	run, query := p.Run, p.Query
	if d.left != nil {
		if left := d.left[run]; len(left) == 0 || left[0].Query != query {
			fmt.Fprintf(os.Stderr, "SEAM_REPLAY: run %q asks something else (%s)\n", run, query)
			os.Exit(exitStrayed)
		}
		p, d.left[run] = d.left[run][0], d.left[run][1:]
	}
	if err := json.NewEncoder(d.out).Encode(p); err != nil {
		panic("privacy: SEAM_REPLAY: " + err.Error())
	}
	return p
}

// look is a line of the file of coins.
type look struct {
	What     string
	Answer   access.Released // with noise, before it is replaced
	Exact    access.Released // with instead in place of noise
	Scales   access.Released // with instead and the bits of the noise's scale
	Laplace  bool
	Choices  []choice
	Charges  accountant.Composition
	Replaced bool // the relation
}

type choice struct {
	Scores []int64
	Lambda float64
}

// instead is more than any threshold: every noisy comparison comes out the same way.
const instead = 1 << 60

// watched is a call that is played back. With coins it draws three times, the last of which counts.
func watched(s *session, c access.Call) access.Call {
	d := deck()
	if d == nil {
		return c
	}
	query, draw := c.Of.Sum(), c.Draw
	c.Draw = func(
		rows access.Rows, more func(accountant.Charge) error,
	) (answer access.Released, err error) {
		d.Lock()
		if d.drawn++; d.stop >= 0 && d.drawn > d.stop {
			os.Exit(exitStopped)
		}
		key := fmt.Sprint(d.key, s.run, query, d.drawn)
		d.Unlock()
		p := played{Run: s.run, Query: query}
		pay := more
		more = func(ch accountant.Charge) error { // which of its questions passed is in an answer
			if d.left != nil {
				return nil
			}
			err := pay(ch)
			if err == nil {
				p.More = append(p.More, ch)
			}
			return err
		}
		if d.coins == nil {
			answer, err = draw(rows, more)
		} else {
			coins := noise.Coins{Key: key, First: d.units, Rows: d.rows}
			answer, err = d.look(access.Call{What: c.What, Cost: c.Cost, Draw: draw}, coins, rows, more,
				s.nb.Adjacency == accountant.ReplaceOne)
		}
		if err != nil {
			return answer, err
		}
		p.Answer = answer.Bytes()
		if p = d.play(p); d.left != nil {
			for _, ch := range p.More {
				if err := pay(ch); err != nil {
					return answer, err
				}
			}
		}
		return c.Kept(p.Answer)
	}
	return c
}

// look draws a call's answer, and writes what it looks like.
func (d *tape) look(
	c access.Call, coins noise.Coins, rows access.Rows, more func(accountant.Charge) error,
	replaced bool,
) (answer access.Released, err error) {
	l := look{What: c.What, Charges: slices.Clone(c.Cost), Replaced: replaced}
	whole := true
	for _, ch := range c.Cost {
		if e, ok := ch.Event.(accountant.Approx); ok && e.Epsilon > 0 {
			whole = false // its noise is not added to a sum
		}
	}
	defer func(fresh func() *noise.Source) { noise.Fresh = fresh }(noise.Fresh)
	draw := func(more func(accountant.Charge) error) (access.Released, error) {
		inner := coins
		inner.Key, inner.First = coins.Key+" inner", d.kept
		noise.Fresh, rows.Source = inner.Source, coins.Source()
		return c.Draw(rows, more)
	}
	if whole {
		free := func(accountant.Charge) error { return nil }
		coins.Noise = func(float64, bool) int64 { return instead }
		coins.Chosen = func(scores []int64, lambda float64) {
			l.Choices = append(l.Choices, choice{slices.Clone(scores), lambda})
		}
		if l.Exact, err = draw(free); err != nil {
			return answer, err
		}
		coins.Noise = func(scale float64, laplace bool) int64 {
			l.Laplace = l.Laplace || laplace
			return instead + int64(math.Float64bits(scale))
		}
		coins.Chosen = nil
		if l.Scales, err = draw(free); err != nil {
			return answer, err
		}
		coins.Noise = nil
	}
	if l.Answer, err = draw(func(ch accountant.Charge) error {
		err := more(ch)
		if err == nil {
			l.Charges = append(l.Charges, ch)
		}
		return err
	}); err != nil {
		return answer, err
	}
	d.Lock()
	defer d.Unlock()
	if err := json.NewEncoder(d.coins).Encode(l); err != nil {
		panic("privacy: SEAM_COINS: " + err.Error())
	}
	return l.Answer, nil
}
