package privacy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// This file is what a session writes in the ledger. s.lines are the lines of its run, as the file
// has them.

// reserve makes the one append that spends the budget.
func (s *session) reserve(ctx context.Context, o Options) error {
	s.lines = []ledger.Entry{s.reservation(o)}
	if s.file == nil {
		return nil
	}
	return s.file.Append(ctx, s.units, true, func(l *ledger.Ledger) ([]ledger.Entry, error) {
		if len(linesOf(l, s.run)) > 0 {
			return nil, fmt.Errorf("run %s: %w", s.run, ErrRun)
		}
		return s.lines, nil
	})
}

// reservation is the entry that spends the budget.
func (s *session) reservation(o Options) ledger.Entry {
	e := s.units.OpenEntry(o.Day)
	e.Kind, e.Run, e.Method, e.Tool = ledger.EntryReserve, s.run, o.Method, o.Tool
	e.Budget, e.Composition = &o.Budget, o.Plan
	e.SchemaSHA256 = s.print
	return e
}

// hashOf is what a charge says of an answer, given the hash of its question.
func hashOf(prev string, b []byte) string {
	sum := sha256.Sum256(append([]byte(prev), b...))
	return hex.EncodeToString(sum[:])
}

// charged is the lines of a journal for an answer that these charges bought. What costs nothing has
// a line without a charge.
func charged(
	run, what, question string, charges accountant.Composition, answer []byte,
) (out []ledger.Entry) {
	e := ledger.Entry{Kind: ledger.EntryCharge, Run: run, Label: what,
		Answer: hashOf(question, answer)}
	for _, ch := range charges {
		e.Event = &ch
		out = append(out, e)
	}
	if len(out) == 0 {
		out = append(out, e)
	}
	out[len(out)-1].Data = append([]byte{}, answer...)
	return out
}

// paid is the charges among the lines of a journal, as the ledger has them, and nothing else that
// the lines may say.
func paid(lines []ledger.Entry) (out []ledger.Entry) {
	for _, e := range lines {
		if e.Event != nil {
			out = append(out, ledger.Entry{Kind: ledger.EntryCharge, Run: e.Run, Label: e.Label,
				Event: e.Event, Answer: e.Answer})
		}
	}
	return out
}

// append adds lines of this run to the ledger's file, in which it must find its earlier ones. If
// they are gone it writes them again: what is spent stays spent. That ends the run.
func (s *session) append(entries []ledger.Entry, sync bool) (err error) {
	if s.file != nil && len(entries) > 0 {
		err = s.file.Append(context.Background(), s.units, sync,
			func(l *ledger.Ledger) ([]ledger.Entry, error) {
				if there := len(linesOf(l, s.run)); there < len(s.lines) {
					return slices.Concat(s.lines[there:], entries), ledger.ErrReplaced
				}
				return entries, nil
			})
	}
	if err == nil || errors.Is(err, ledger.ErrReplaced) {
		s.lines = append(s.lines, entries...)
	}
	return err
}

// linesOf is what a ledger has of a run, but its interruptions.
func linesOf(l *ledger.Ledger, run string) (lines []ledger.Entry) {
	kinds := []ledger.Kind{ledger.EntryReserve, ledger.EntryCharge, ledger.EntryClose}
	for _, e := range l.Entries {
		if e.Run == run && slices.Contains(kinds, e.Kind) {
			lines = append(lines, e.Clone())
		}
	}
	return lines
}

// Deliver has the closing line of the run say a hash of what it delivers. It comes before Finish.
func (s *session) Deliver(outputs string) { s.outputs = outputs }

// Ledger is this run's own ledger: its opening, reservation, charges and close, and no time but the
// day of the reservation.
func (s *session) Ledger() *ledger.Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.units.OpenEntry(s.lines[0].Time).Seal(ledger.Entry{})
	l := &ledger.Ledger{Entries: []ledger.Entry{last}}
	for _, e := range s.lines {
		last = e.Clone().Seal(last)
		l.Entries = append(l.Entries, last)
	}
	return l
}
