package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// This file is about runs whose process is gone. In one that is not continued, it can only refuse.

// resume takes over the run of the journal, whose process is gone: it would still hold the lock.
func (s *session) resume(ctx context.Context, o Options) error {
	j := s.journal
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("run %s: %s: %w", j.run, fmt.Sprintf(format, args...), ErrResume)
	}
	if j.run == "" {
		return fmt.Errorf("the journal %s holds no run: %w", j.path, ErrResume)
	}
	if string(j.Program) != o.Program {
		return refuse("it was begun by %s; this is %s", j.Program, o.Program)
	}
	for _, out := range j.Outputs {
		if !slices.Contains(o.Outputs, string(out)) {
			return refuse("it was begun to write %s too, which would be lost", out)
		}
	}
	s.run = j.run
	err := s.file.Append(ctx, s.units, true, func(l *ledger.Ledger) ([]ledger.Entry, error) {
		s.lines = linesOf(l, s.run)
		if len(s.lines) == 0 {
			return nil, refuse("it is not in the ledger")
		}
		first, last := s.lines[0], s.lines[len(s.lines)-1]
		if last.Kind == ledger.EntryClose {
			return nil, refuse("it is %s", last.Status)
		}
		o.Day = first.Time
		same := s.reservation(o)
		same.Tool = first.Tool
		if same.Seal(ledger.Entry{Seq: first.Seq - 1, Hash: first.Prev}).Hash != first.Hash {
			return nil, refuse("its method, budget, plan, schema or neighbouring relation is another one")
		}
		// A journal that is older than the ledger would have answers drawn again that were given already;
		// one that is ahead has those whose process died before it logged them.
		bought, logged, left := paid(j.answers), s.lines[1:], s.left.Clone()
		for _, e := range bought {
			if err := left.Take(*e.Event); err != nil {
				return nil, refuse("its journal has more charges than were reserved (%v)", err)
			}
		}
		if len(logged) > len(bought) || !slices.EqualFunc(logged, bought[:len(logged)],
			func(a, b ledger.Entry) bool { return a.Answer == b.Answer && *a.Event == *b.Event }) {
			return nil, refuse("its journal is older than the ledger, or another one")
		}
		ahead := bought[len(logged):]
		s.lines = append(s.lines, ahead...)
		return append(ahead, ledger.Entry{Kind: ledger.EntryResume, Run: s.run, Tool: o.Tool}), nil
	})
	if err != nil {
		return err
	}
	s.earlier = j.answers
	return nil
}

// repeat returns the answer that an earlier process was given to the same question.
func (s *session) repeat(c access.Call) (answer access.Released, err error) {
	n := 1 + slices.IndexFunc(s.earlier, func(e ledger.Entry) bool { return e.Data != nil })
	last := s.earlier[n-1]
	if last.Answer != hashOf(c.Of.Sum(), last.Data) {
		if err := s.take(c.Cost); err != nil {
			return answer, err // it was refused then, and left no record
		}
		return answer, fmt.Errorf("the interrupted run asked something else here: %w", ErrResume)
	}
	var charges accountant.Composition
	for _, e := range paid(s.earlier[:n]) {
		charges = append(charges, *e.Event)
	}
	if answer, err = c.Kept(last.Data); err != nil {
		return answer, err
	}
	if err := s.take(charges); err != nil {
		return answer, fmt.Errorf("its charges are not in its reservation: %w: %v", ErrResume, err)
	}
	s.earlier = s.earlier[n:]
	return answer, nil
}

// restore reads the header, if it is whole, and the whole answers. What is behind them was never
// returned to anybody: a last line that is cut short, or does not verify, and those without the
// answer that they bought.
func (j *journal) restore() error {
	b, err := os.ReadFile(j.path)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	refuse := func(what string) error {
		return fmt.Errorf("the journal %s %s: %w", j.path, what, ErrResume)
	}
	var l ledger.Ledger
	n, err := l.Lines(b)
	at := bytes.IndexByte(b[n:], '\n')
	switch {
	case len(l.Entries) == 0 && (err == nil || errors.Is(err, ledger.ErrTorn)):
		return nil
	case len(l.Entries) == 0:
		return refuse("is not one")
	case err != nil && at >= 0 && n+at+1 < len(b):
		return refuse("is damaged")
	}
	kept := j.holdsAnswers(l.Entries)
	if kept == 0 {
		return refuse("is damaged")
	}
	start := 0
	for range kept {
		start += bytes.IndexByte(b[start:], '\n') + 1
	}
	j.run, j.answers, j.whole = l.Entries[0].Run, l.Entries[1:kept], int64(start)
	j.chain.Entries = l.Entries[kept-1 : kept]
	return nil
}

// holdsAnswers is how many lines of a journal are header and whole answers, and reads the header.
// 0: it has other lines.
func (j *journal) holdsAnswers(lines []ledger.Entry) (kept int) {
	for i, e := range lines {
		first := i == 0 && e.Kind == ledger.EntryOpen && isRun(e.Run) &&
			json.Unmarshal(e.Data, &j.header) == nil
		charge := i > 0 && e.Kind == ledger.EntryCharge && e.Run == lines[0].Run &&
			(e.Event != nil || e.Data != nil)
		if !first && !charge {
			return 0
		}
		if i == 0 || e.Data != nil {
			kept = i + 1
		}
	}
	return kept
}

// holds is the run of a journal, if the ledger has its reservation and not its end, or "". Answers
// of a run that the ledger does not have were paid for in another one; without answers the process
// died before it reserved.
func (j *journal) holds(file *ledger.File) (run string, err error) {
	if j.run == "" {
		return "", nil
	}
	l, err := file.Read()
	if err != nil {
		return "", err
	}
	lines := linesOf(l, j.run)
	switch {
	case len(lines) == 0 && len(j.answers) > 0:
		return "", fmt.Errorf("the journal %s holds answers of run %s, which its ledger does "+
			"not know: put the right ledger back, or remove the journal to give the run up: %w", j.path,
			j.run, ErrUnfinished)
	case len(lines) == 0 || lines[len(lines)-1].Kind == ledger.EntryClose:
		return "", nil
	}
	return j.run, nil
}

// Unfinished is the run that a journal holds, if the ledger has its reservation and not its end,
// and whether its process is still at it. "" is none. A journal that is not there holds none; one
// that is damaged is an error that wraps [ErrResume], and one whose answers the ledger knows
// nothing of is [ErrUnfinished]. The journal of a run that has ended, whose process died before it
// removed the file, is removed.
func Unfinished(path string, file *ledger.File) (run string, running bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	j, err := openJournal(path)
	running = errors.Is(err, ledger.ErrLocked) && !errors.Is(err, ErrResume)
	if err != nil && !running {
		return "", false, err
	}
	defer j.leave()
	if run, err = j.holds(file); err == nil && run == "" && j.run != "" && !running {
		j.remove()
	}
	return run, running && run != "", err
}
