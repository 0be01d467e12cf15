package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/ledger"
)

// startJournal begins a journal and reserves. A run that was begun in the same file and has ended,
// or was never reserved, gives way.
func (s *session) startJournal(ctx context.Context, o Options) error {
	h, records, _, err := s.journal.read()
	if err != nil {
		return err
	}
	l, err := s.file.Read()
	if err != nil {
		return err
	}
	switch {
	case h.Run == "":
	case statusOf(l, h.Run) == ledger.StatusUnfinished:
		return fmt.Errorf(
			"privacy: the journal %s holds run %s: %w", s.journal.path, h.Run, ErrUnfinished,
		)
	case statusOf(l, h.Run) == "":
		if err := unknown(s.journal.path, h, records); err != nil {
			return err
		}
	}
	if err := s.journal.start(header{journalVersion, s.run, strings.ToValidUTF8(o.Program, "\uFFFD"),
		o.Day, validUTF8(o.Outputs)}); err != nil {
		return err
	}
	if err := s.reserve(ctx, o); err != nil {
		// A line that was written and could not be synced is a reservation: it can be continued.
		if l, failed := s.file.Read(); failed == nil && statusOf(l, s.run) == "" {
			s.journal.remove()
		}
		return err
	}
	return nil
}

// validUTF8 is the texts as JSON keeps them.
func validUTF8(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, strings.ToValidUTF8(text, "\uFFFD"))
	}
	return out
}

// resume takes over the run of the journal, whose process is gone: it would still hold the lock.
func (s *session) resume(ctx context.Context, o Options) error {
	h, records, whole, err := s.journal.read()
	if err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf(
			"privacy: run %s: "+format+": %w",
			append(append([]any{h.Run}, args...), ErrResume)...)
	}
	if h.Run == "" {
		return fmt.Errorf("privacy: the journal %s holds no run: %w", s.journal.path, ErrResume)
	}
	if program := strings.ToValidUTF8(o.Program, "\uFFFD"); h.Program != program {
		return refuse("it was begun by %q, this is %q", h.Program, program)
	}
	for _, out := range h.Outputs { // in the header a name is UTF-8
		if !slices.ContainsFunc(
			o.Outputs, func(name string) bool { return strings.ToValidUTF8(name, "\uFFFD") == out },
		) {
			return refuse("it was begun to write %s too, which would be lost", out)
		}
	}
	s.run, o.Run, o.Day = h.Run, h.Run, h.Day
	reserve := s.reservation(o)
	err = s.file.Append(ctx, s.ledgerUnits(), true, func(l *ledger.Ledger) ([]ledger.Entry, error) {
		s.lines = nil
		for _, e := range l.Entries {
			if e.Run != s.run {
				continue
			}
			if e.Kind == ledger.EntryClose {
				return nil, refuse("it is %s", e.Status)
			}
			s.lines = append(s.lines, e.Clone())
		}
		if len(s.lines) == 0 {
			return nil, refuse("it is not in the ledger")
		}
		if what := differs(s.lines[0], reserve); what != "" {
			return nil, refuse("%s", what)
		}
		missing, err := s.behind(records)
		if err != nil {
			return nil, refuse("%v", err)
		}
		e := ledger.Entry{Kind: ledger.EntryResume, Run: s.run, Tool: o.Tool}
		e.PID, e.Host = process()
		missing = append(missing, e)
		return missing, nil
	})
	if err != nil {
		return err
	}
	reserve.Tool = s.lines[0].Tool
	s.note(s.ledgerUnits().OpenEntry(o.Day))
	s.note(reserve)
	s.earlier, s.resumed = records, true
	return s.journal.write(nil, whole)
}

// behind returns the lines that the ledger lacks for the records of the journal: those of answers
// whose process died before it logged them. A journal that is older than the ledger would have
// answers drawn again that were given already.
func (s *session) behind(records []record) ([]ledger.Entry, error) {
	var logged []ledger.Entry
	for _, e := range s.lines {
		if e.Kind == ledger.EntryCharge {
			logged = append(logged, e)
		}
	}
	var missing []ledger.Entry
	for i := range records {
		for _, e := range s.chargeEntries(&records[i], "") {
			if len(logged) == 0 {
				e.Label = "logged after an interruption"
				missing = append(missing, e)
				continue
			}
			if logged[0].Journal != e.Journal || *logged[0].Event != *e.Event {
				return nil, errors.New("its journal is not that of the ledger")
			}
			logged = logged[1:]
		}
	}
	if len(logged) > 0 {
		return nil, errors.New("its journal is older than the ledger, which knows of later answers")
	}
	s.lines = append(s.lines, missing...)
	return missing, nil
}

// unread ends a run whose rows could not be read: void if it is new, as it was if it is an earlier
// one.
func (s *session) unread(err error) error {
	if s.resumed {
		s.journal.leave()
		return err
	}
	return errors.Join(err, s.end(ledger.StatusVoid))
}

// differs says in what a reservation is not the one that a run would make.
func differs(e, want ledger.Entry) string {
	switch {
	case e.Kind != ledger.EntryReserve || e.Budget == nil:
		return "its first entry is no reservation"
	case e.Method != want.Method:
		return fmt.Sprintf("its method is %s, this one's %s", e.Method, want.Method)
	case *e.Budget != *want.Budget:
		return fmt.Sprintf(
			"its budget is epsilon %v, delta %v, this one's %v, %v", e.Budget.Epsilon, e.Budget.Delta,
			want.Budget.Epsilon, want.Budget.Delta,
		)
	case e.SchemaSHA256 != want.SchemaSHA256:
		return "its schema is another one"
	case e.Adjacency != want.Adjacency || e.Unit != want.Unit ||
		e.MaxRowsPerUnit != want.MaxRowsPerUnit:
		return "its neighbouring relation is another one"
	case !slices.Equal(e.Composition, want.Composition):
		return "its plan is another one: other settings"
	}
	return ""
}
