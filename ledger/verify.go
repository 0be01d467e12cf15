package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/decoy-dp/decoy/accountant"
)

// This file holds a ledger to its rules as a whole. A run that appends holds it to all but one of
// them, that charges are of what is reserved: its own are taken from its reservation before it
// reads, and what another run spends is what that reserved.

// Parse reads JSON lines strictly and checks the chain: each line must be, byte for byte, the
// canonical JSON of its entry, which leaves no room for an unknown, repeated or reordered key.
// Errors wrap ErrInvalid and name the line; a line of more than 1 MiB and a ledger of more than 256
// MiB are errors too. If only the last line is torn, cut short before its newline, the entries
// before it are returned together with ErrTorn.
func Parse(r io.Reader) (*Ledger, error) { return parseUpTo(r, maxBytes) }

func parseUpTo(r io.Reader, most int) (*Ledger, error) {
	l, in := &Ledger{}, bufio.NewReaderSize(r, maxLine+1)
	for size := 0; ; {
		line, err := in.ReadSlice('\n')
		if size += len(line); size > most {
			return nil, fmt.Errorf("ledger: the file is longer than %d bytes: %w", most, ErrInvalid)
		}
		switch {
		case len(line) == 0 && err == io.EOF:
			return l, nil
		case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
			return nil, fmt.Errorf("ledger: reading it: %w", err)
		}
		if _, err = l.parse(line, func(Entry) error { return nil }); errors.Is(err, ErrTorn) {
			return l, err
		} else if err != nil {
			return nil, err
		}
	}
}

// Verify recomputes what the ledger claims: the chain; one opening entry, at the start; every run's
// units those of the opening; every reservation's composition within its budget, and of at most 128
// different events; every charge within its reservation, its filter included; nothing after a run
// is closed; no mechanism in a void run; no limit exceeded when a run was reserved. Errors wrap
// ErrInvalid and name the entry by its sequence number. A chain shows that a line was changed,
// removed or moved; it cannot show that whole lines are missing at the end, or that all of it was
// made up.
//
// Reservations are priced by price; nil is accountant.Composition.Epsilon, closed formulas. A
// ledger with runs that were reserved by another Pricer needs one that is as tight, such as
// pld.Epsilon.
func (l *Ledger) Verify(price accountant.Pricer) error {
	if len(l.Entries) == 0 {
		return fmt.Errorf("ledger: %w: it has no entries", ErrInvalid)
	}
	chain, s, left := &Ledger{}, newState(price), map[string]*accountant.Reservation{}
	for i, e := range l.Entries {
		err := chain.link(e)
		if err == nil {
			err = s.add(e)
		}
		if err == nil && e.Kind == EntryReserve {
			left[e.Run] = accountant.NewReservation(tolerant(e.Composition))
		}
		if err == nil && e.Kind == EntryCharge {
			err = reserved(left[e.Run], e)
		}
		if err != nil {
			return fmt.Errorf("ledger: entry %d: %w: %w", i, ErrInvalid, err)
		}
	}
	return nil
}

// tolerant returns the composition with filters larger by the tolerance.
func tolerant(c accountant.Composition) accountant.Composition {
	out := slices.Clone(c)
	for i := range out {
		if p, ok := out[i].Event.(accountant.GDPFilter); ok {
			out[i].Event = accountant.GDPFilter{Mu: p.Mu * (1 + platformTolerance/2)}
		}
	}
	return out
}

// reserved takes a charge from what its run has left.
func reserved(left *accountant.Reservation, e Entry) error {
	if err := left.Take(*e.Event); err != nil {
		return fmt.Errorf("run %q charges more of an event than it reserved: %w", e.Run, err)
	}
	return nil
}
