package party

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// Options of [Meet]. All are required.
type Options struct {
	Parties   *Parties
	Key       ed25519.PrivateKey // of one of them
	Method    synth.Fitter       // whose settings are of sums over several parties: mst or wgan
	Schema    *schema.Schema
	Budget    accountant.Budget
	Adjacency accountant.Adjacency
	Tool      string         // program and version
	Wait      time.Duration  // for the other parties, at each step
	Progress  synth.Progress // who has not come yet; may be nil
}

func (o Options) checkMethod() error {
	if f, ok := o.Method.(synth.Federated); ok {
		return f.Shared()
	}
	return fmt.Errorf("party: method %s: over several parties there is %s and %s: %w", o.Method.Name(),
		"mst", "wgan", synth.ErrConfig)
}

// Link is a party's connection to the others, before anything is spent: all have the same terms.
type Link struct {
	o      Options
	me     int
	conn   net.Conn
	step   int
	agreed []byte // a hash of the terms
	done   chan struct{}
	ended  error
}

// Meet waits until all parties are there, and finds that all have the same parties, schema, budget
// and program. Errors wrap errEnded; ErrFile if the key is none of the parties'; or synth.ErrConfig
// for a method, or a setting, that is not for several parties.
func Meet(ctx context.Context, o Options) (*Link, error) {
	l := &Link{o: o, me: o.Parties.find(o.Key.Public().(ed25519.PublicKey)), done: make(chan struct{})}
	if l.me < 0 {
		return nil, fmt.Errorf("party: the key is none of the parties': %w", ErrFile)
	}
	err := o.checkMethod()
	if err != nil {
		return nil, err
	}
	if l.me == 0 {
		err = l.lead(ctx)
	} else {
		close(l.done)
		l.conn, err = l.dial(ctx)
	}
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { l.conn.Close() }) // interrupted: the others see it gone
	if err := l.compare(); err != nil {
		l.End(err)
		return nil, err
	}
	return l, nil
}

// lead starts the adder of the first party, to which it is connected itself.
func (l *Link) lead(ctx context.Context) error {
	listener, err := net.Listen("tcp", l.o.Parties.Address)
	if err != nil {
		return fmt.Errorf("party: the address of the first party: %w", err)
	}
	defer listener.Close()
	a := &adder{l.o.Parties, make([]net.Conn, len(l.o.Parties.Parties)), l.o.Wait, l.o.Progress}
	a.conns[0], l.conn = net.Pipe()
	if err := a.gather(ctx, listener, l.o.Key); err != nil {
		return err
	}
	go func() {
		defer close(l.done)
		a.serve()
	}()
	return nil
}

// dial connects to the first party, which may have to be waited for.
func (l *Link) dial(ctx context.Context) (net.Conn, error) {
	first := l.o.Parties.identities()[0]
	config, err := secure(l.o.Key, func(other ed25519.PublicKey) error {
		if !first.Equal(other) {
			return fmt.Errorf("party: at %s is not %s, but another key", l.o.Parties.Address,
				l.o.Parties.Parties[0].Name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.Wait)
	defer cancel()
	l.o.Progress.Report("waiting for "+l.o.Parties.Parties[0].Name, 0)
	d := tls.Dialer{Config: config}
	for {
		c, err := d.DialContext(ctx, "tcp", l.o.Parties.Address)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("party: %s, which adds up, is not at %s (%w): %w",
				l.o.Parties.Parties[0].Name, l.o.Parties.Address, err, errEnded)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// all sends a message, and waits for the answer.
func (l *Link) all(kind string, data []byte) ([][]byte, error) {
	fail := func(format string, args ...any) ([][]byte, error) {
		if l.ended == nil {
			l.ended = fmt.Errorf("party: "+format+": %w", append(args, errEnded)...)
		}
		return nil, l.ended
	}
	if l.ended != nil {
		return nil, l.ended
	}
	gone := l.o.Parties.Parties[0].Name + ", which adds up, is gone"
	if l.step == 0 && l.me > 0 {
		gone = l.o.Parties.Parties[0].Name + " hung up; is this party's key in its list?"
	}
	limit := int64(maxShort) * int64(len(l.o.Parties.Parties)) // of what an answer may be long
	if kind == kindShare {
		limit = 2*int64(len(data)) + maxShort
	}
	l.conn.SetWriteDeadline(time.Now().Add(l.o.Wait))
	if err := write(l.conn, message{Step: l.step, Kind: kind, Data: data}); err != nil {
		// it may have said why, and gone
		if m, err := read(l.conn, time.Second, maxShort); err == nil && m.Kind == kindEnd {
			return fail("%q", m.Why)
		}
		return fail("%s", gone)
	}
	// The one that adds up waits for the others, and before that for their coming.
	m, err := read(l.conn, 2*l.o.Wait+time.Second, limit)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail("%s, which adds up, says nothing", l.o.Parties.Parties[0].Name)
	case err != nil:
		return fail("%s", gone)
	case m.Kind == kindEnd:
		return fail("%q", m.Why)
	case m.Kind != kind || m.Step != l.step ||
		kind != kindShare && len(m.List) != len(l.o.Parties.Parties):
		return fail("message %d, a %q, was answered by message %d, a %q", l.step, kind, m.Step, m.Kind)
	}
	l.step++
	return m.List, nil
}

// End tells the others that this party has come to its end, if it is not theirs too. They hear of
// an error only whether it was the ledger's: other errors may be about rows.
func (l *Link) End(err error) {
	if err != nil && l.ended == nil {
		why := "it stopped"
		if errors.Is(err, accountant.ErrBudget) {
			why = "its ledger refused"
		}
		l.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
		write(l.conn, message{Step: l.step, Kind: kindEnd, Why: why})
	}
	if l.me > 0 {
		l.conn.Close()
		return
	}
	select { // the others may not have been told yet
	case <-l.done:
	case <-time.After(5 * time.Second):
	}
	l.conn.Close()
}

// term is one thing that all parties must have the same.
type term struct{ What, Value string }

func (l *Link) terms() []term {
	p := *l.o.Parties
	p.Address = "" // which may have another name inside a house
	return []term{
		{"version of the program, or kind of processor,", "2 " + synth.Program(l.o.Tool)},
		{"list of parties", fmt.Sprint(p.Parties)},
		{"number of colluding parties", fmt.Sprint(p.Colluding)},
		{"number of parties per person", fmt.Sprint(p.PerPerson)},
		{"method, or other settings,", fmt.Sprintf("%s %+v", l.o.Method.Name(), l.o.Method)},
		{"schema", l.o.Schema.Fingerprint()},
		{"budget", fmt.Sprintf("%x %x", l.o.Budget.Epsilon, l.o.Budget.Delta)},
		{"neighbouring relation", l.o.Adjacency.String()},
	}
}

// compare finds out whether all parties have the same terms.
func (l *Link) compare() error {
	mine := l.terms()
	b, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	l.agreed = sum[:]
	lists, err := l.all(kindTerms, b)
	if err != nil {
		return err
	}
	for i, list := range lists {
		var other []term
		if json.Unmarshal(list, &other) != nil || len(other) != len(mine) {
			other = make([]term, len(mine)) // of another version
		}
		for k := range mine {
			if other[k] != mine[k] {
				return fmt.Errorf("party: %s has another %s than %s: %w", l.o.Parties.Parties[i].Name,
					mine[k].What, l.o.Parties.Parties[l.me].Name, errEnded)
			}
		}
	}
	return nil
}

// sum adds up a masked share, of the question with a hash.
func (l *Link) sum(masked []uint64, of string) ([]uint64, error) {
	b := slices.Grow([]byte(of), 8*len(masked))
	for _, x := range masked {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	list, err := l.all(kindShare, b)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || len(list[0]) != len(b) || string(list[0][:len(of)]) != of {
		return nil, fmt.Errorf("party: a sum of something else: %w", errEnded)
	}
	out := make([]uint64, len(masked))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(list[0][len(of)+8*i:])
	}
	return out, nil
}
