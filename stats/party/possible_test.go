package party

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestImpossibleSums: a party that adds a number to its shares, of columns, of signed sums or of
// pairs, ends the run in words at all parties, and nobody has a model.
func TestImpossibleSums(t *testing.T) {
	for _, step := range []int{3, 4, 5} {
		for _, more := range []int64{1e12, -1 << 62, 1e6, -1e6} {
			t.Run(fmt.Sprint(step, more), func(t *testing.T) {
				t.Parallel()
				m := newMeeting(t, 3)
				add := func(c net.Conn, b, _ []byte) {
					var sent message
					if err := json.Unmarshal(b[4:], &sent); err != nil || sent.Kind != kindShare {
						t.Errorf("message %d is a %q: %v", step, sent.Kind, err)
					}
					for i := questionBytes; i < len(sent.Data); i += 8 {
						le := binary.LittleEndian
						le.PutUint64(sent.Data[i:], le.Uint64(sent.Data[i:])+uint64(more))
					}
					write(c, sent)
				}
				models, errs := m.together(t, func() (*release.Model, error) {
					l := &Link{o: m.options(2), me: 2, done: make(chan struct{})}
					close(l.done)
					c, err := l.dial(context.Background())
					if err != nil {
						return nil, err
					}
					l.conn = &rogue{Conn: c, at: step, do: add}
					if err := l.compare(); err != nil {
						return nil, err
					}
					return m.fit(t, 2, l, nil)
				})
				said := 0
				for i := range models {
					if models[i] != nil || !errors.Is(errs[i], errEnded) {
						t.Errorf("party %d: %v, %v", i, models[i] != nil, errs[i])
					}
					if strings.Contains(fmt.Sprint(errs[i]), "not those of any tables") {
						said++
					}
				}
				if said == 0 { // whoever stops first may be all that the others hear of
					t.Errorf("nobody says what is wrong: %v", errs)
				}
			})
		}
	}
}

// TestPossibleSums. Null: sums of tables with normal noise of σ are let through; 20,000 runs, none
// is stopped (falseAlarm a run). One that is off by more than the noise explains is not.
func TestPossibleSums(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	s := synthtest.Schema(3)
	sums := func(rows, sigma float64, sizes ...int) (ms []marginal.Measurement) {
		for c, n := range sizes {
			counts := make([]int64, n)
			counts[0] = int64(rows)
			for i := range counts {
				counts[i] += int64(sigma * u.NormFloat64())
			}
			ms = append(ms, marginal.NewMeasurement([]int{c}, nil, counts, sigma))
		}
		return ms
	}
	for range 20000 {
		look := possible{columns: s.Columns}
		rows := []float64{0, 3, 1e5, 1 << 32}[u.IntN(4)]
		stattest.Check(t, look.checkMarginals(sums(rows, 50, 2, 9, 300)))
	}
	for name, ms := range map[string][]marginal.Measurement{
		"a cell below 0":    sums(-600, 50, 300),
		"a total below 0":   sums(-520, 50, 1),
		"different totals":  append(sums(1000, 50, 2), sums(3000, 50, 2)...),
		"more than 2^32":    sums(1<<32+1000, 50, 1),
		"beyond all tables": sums(1<<62, 50, 2),
	} {
		look := possible{columns: s.Columns}
		stattest.Wraps(t, look.checkMarginals(ms), errEnded, "%s", name)
	}
	look := possible{columns: s.Columns}
	stattest.Check(t, look.checkMarginals(sums(1000, 50, 2, 3)))
	for x, wrong := range map[int64]bool{900: false, -900: false, 2400: true, -2400: true} {
		if err := look.checkSigned([][]int64{{0, x}}, 50); (err != nil) != wrong {
			t.Errorf("a signed sum of %d: %v", x, err)
		}
	}
}
