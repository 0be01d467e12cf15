package party

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decoy-dp/decoy/synth"
)

// adder is the part of the first party that adds up: for each step it waits for a message of every
// party, and answers all of them with the sum, or with the list.
type adder struct {
	parties *Parties
	conns   []net.Conn
	wait    time.Duration
	shown   synth.Progress // may be nil
}

// gather waits until the other parties are there. Whoever connects again takes the place of the
// connection before.
func (a *adder) gather(ctx context.Context, l net.Listener, key ed25519.PrivateKey) error {
	config, err := secure(key, func(other ed25519.PublicKey) error {
		if a.parties.find(other) < 1 {
			return errors.New("party: a stranger's key")
		}
		return nil
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	arrived := make(chan *tls.Conn)
	go accept(ctx, l, config, arrived)
	for {
		var missing []string
		for i, c := range a.conns {
			if c == nil {
				missing = append(missing, a.parties.Parties[i].Name)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		a.shown.Report("waiting for "+strings.Join(missing, ", "), 0)
		select {
		case c := <-arrived:
			of := c.ConnectionState().PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			who := a.parties.find(of)
			if old := a.conns[who]; old != nil {
				old.Close()
			}
			a.conns[who] = c
		case <-ctx.Done():
			why := fmt.Sprintf("%s did not come in %v", strings.Join(missing, ", "), a.wait)
			for _, c := range a.conns[1:] {
				if c != nil {
					c.SetWriteDeadline(time.Now().Add(time.Second))
					write(c, message{Kind: kindEnd, Why: why})
					c.Close()
				}
			}
			return fmt.Errorf("party: %s: %w", why, errEnded)
		}
	}
}

// accept hands over connections whose other end has a party's key, until the listener is closed.
func accept(ctx context.Context, l net.Listener, config *tls.Config, arrived chan<- *tls.Conn) {
	for {
		plain, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many connections, say, for a moment
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go func() {
			hand, end := context.WithTimeout(ctx, 20*time.Second)
			defer end()
			c := tls.Server(plain, config)
			if c.HandshakeContext(hand) == nil {
				select {
				case arrived <- c:
					return
				case <-ctx.Done():
				}
			}
			plain.Close()
		}()
	}
}

// serve answers step after step, to the last. Where one goes wrong it tells all parties whose fault
// it was, and that is the end.
func (a *adder) serve() {
	defer func() {
		for _, c := range a.conns {
			c.Close()
		}
	}()
	for step := 0; ; step++ {
		out, err := a.step(step)
		if err != nil {
			out = message{Step: step, Kind: kindEnd, Why: err.Error()}
		}
		var sent sync.WaitGroup
		for _, c := range a.conns {
			sent.Go(func() {
				c.SetWriteDeadline(time.Now().Add(a.wait))
				write(c, out) // who cannot be told is gone, which the next step finds out
			})
		}
		sent.Wait()
		if err != nil || out.Kind == kindModel {
			return
		}
	}
}

// step waits for what all parties say, and combines it.
func (a *adder) step(step int) (message, error) {
	in, errs := make([]message, len(a.conns)), make(chan error, len(a.conns))
	limit := int64(maxShort)
	if step > 2 { // after terms, keys and signatures
		limit = maxFrame
	}
	for i, c := range a.conns {
		go func() {
			var err error
			name := a.parties.Parties[i].Name
			switch in[i], err = read(c, a.wait, limit); {
			case errors.Is(err, os.ErrDeadlineExceeded): // all may be at work, the first party too
				err = fmt.Errorf("%s said nothing in %v, which may be too short a wait", name, a.wait)
			case err != nil:
				err = fmt.Errorf("%s is gone", name)
			case in[i].Kind == kindEnd:
				err = fmt.Errorf("%s gave up: %s", name, in[i].Why)
			case in[i].Step != step:
				err = fmt.Errorf("%s sent message %d in the place of %d", name, in[i].Step, step)
			}
			errs <- err
		}()
	}
	for range a.conns {
		if err := <-errs; err != nil {
			return message{}, err // and the others are told at once
		}
	}
	out := message{Step: step, Kind: in[0].Kind}
	for i, m := range in {
		name := a.parties.Parties[i].Name
		switch {
		case m.Kind != out.Kind:
			return out, fmt.Errorf("%s sent a %q where others sent a %q", name, m.Kind, out.Kind)
		case m.Kind == kindShare && i > 0:
			if err := addShare(out.List[0], m.Data); err != nil {
				return out, fmt.Errorf("%s %w", name, err)
			}
		default:
			out.List = append(out.List, slices.Clone(m.Data))
		}
	}
	return out, nil
}

// questionBytes is the length of the question's hash before the numbers of a share.
const questionBytes = 64

// addShare adds the numbers of a share to sum, modulo 2⁶⁴.
func addShare(sum, share []byte) error {
	if len(share) != len(sum) || len(sum) < questionBytes || len(sum)%8 != 0 ||
		string(sum[:questionBytes]) != string(share[:questionBytes]) {
		return errors.New("counts something else than the others")
	}
	le := binary.LittleEndian
	for i := questionBytes; i < len(sum); i += 8 {
		le.PutUint64(sum[i:], le.Uint64(sum[i:])+le.Uint64(share[i:]))
	}
	return nil
}
