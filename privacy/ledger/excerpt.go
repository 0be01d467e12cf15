package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/accountant"
)

// maxEntries is the most entries that the ledger of one run may have inside another file.
const maxEntries = 100_000

// Excerpt is the ledger of one run inside another file: as JSON an array, which is read entry by
// entry. One of more than maxEntries, or with an unknown key, is refused (ErrInvalid) before the
// rest of it takes memory.
type Excerpt []Entry

// UnmarshalJSON reads the array.
func (es *Excerpt) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	*es = nil
	switch t, err := d.Token(); {
	case err == nil && t == nil: // null
		return nil
	case err != nil || t != json.Delim('['):
		return fmt.Errorf("ledger: not a list of entries: %w", ErrInvalid)
	}
	for d.More() {
		if len(*es) == maxEntries {
			return fmt.Errorf("ledger: more than %d entries: %w", maxEntries, ErrInvalid)
		}
		var e Entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("ledger: entry %d: %w: %w", len(*es), ErrInvalid, err)
		}
		*es = append(*es, e)
	}
	return nil
}

// RunUnderWay is a run that is about to deliver.
type RunUnderWay interface {
	Ledger() *Ledger
	Deliver(outputs string)
}

// CloseExcerpt is the ledger of a run that is about to deliver a file, as that carries it: closed
// as done, with the hash of the file. The run's own closing line will have it too.
func CloseExcerpt(s RunUnderWay, file any) (Excerpt, error) {
	l := s.Ledger()
	outputs, err := HashOutputs(file, l.Entries)
	if err != nil {
		return nil, err
	}
	s.Deliver(outputs)
	_, err = l.Add(Entry{Kind: EntryClose, Run: l.last().Run, Status: StatusDone, Outputs: outputs})
	return l.Entries, err
}

// HashOutputs is the hash of what a run delivers, as its closing line has it: of the JSON of a
// file, its keys in order, with the lines before the closing one for its ledger; of a file without
// a run, whose hash is beside the rest, without that.
func HashOutputs(file any, paid Excerpt) (string, error) {
	b, err := json.Marshal(file)
	var parts map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &parts)
	}
	if paid == nil {
		delete(parts, "outputs")
	}
	if err == nil {
		parts["ledger"], err = json.Marshal(paid)
	}
	if err == nil {
		b, err = json.Marshal(parts)
	}
	if err != nil {
		return "", fmt.Errorf("ledger: the outputs of a run: %w", err)
	}
	return HashFile(b), nil
}

// HashFile is [HashOutputs] of a file that has no place for a ledger: of its bytes.
func HashFile(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// In returns an error unless the ledger of the table has the run of es, line by line. Its
// interruptions, which a release has not, are passed over. Errors wrap ErrInvalid.
func (es Excerpt) In(l *Ledger) error {
	if len(es) == 0 {
		return fmt.Errorf("ledger: no run: %w", ErrInvalid)
	}
	run := es[len(es)-1].Run
	rest := slices.DeleteFunc(slices.Clone(es), func(e Entry) bool { return e.Run != run })
	for _, e := range l.Entries {
		if e.Run != run || e.Kind == EntryResume {
			continue
		}
		if len(rest) == 0 || !alike(e, rest[0]) {
			return fmt.Errorf("ledger: entry %d, of run %s, is not what was released of it: %w", e.Seq, run,
				ErrInvalid)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("ledger: %d of %d lines of run %s are missing: %w", len(rest),
			len(es)-1, run, ErrInvalid)
	}
	return nil
}

// alike reports whether two entries say the same, wherever they stand.
func alike(a, b Entry) bool {
	a, b = a.Seal(Entry{}), b.Seal(Entry{})
	return a.Hash == b.Hash && a.Hash != ""
}

// VerifiedRun is the one run of a ledger inside another file.
type VerifiedRun struct {
	Summary
	Reserve Entry
	Calls   int    // of mechanisms
	Outputs string // hash of what it delivered
}

// Run checks the ledger as [Ledger.Verify] does, and that it is that of one run, which is done and
// counts the units of its ledger. The hash of its outputs is in its closing line, and one of the
// answer in each charge. Errors wrap ErrInvalid.
func (es Excerpt) Run(price accountant.Pricer) (VerifiedRun, error) {
	fail := func(format string, args ...any) (VerifiedRun, error) {
		return VerifiedRun{}, fmt.Errorf(format+": %w", append(args, ErrInvalid)...)
	}
	l := &Ledger{Entries: es}
	runs := l.Runs()
	if len(runs) != 1 { // before the cost of each is computed
		return fail("the ledger has %d runs, want 1", len(runs))
	}
	if err := l.Verify(price); err != nil {
		return fail("the ledger: %v", err)
	}
	out := VerifiedRun{Summary: runs[0], Outputs: l.last().Outputs}
	if out.Status != StatusDone {
		return fail("the run is %s, not %s", out.Status, StatusDone)
	}
	if out.Outputs == "" {
		return fail("the run's closing line has no hash of what it delivered")
	}
	for _, e := range es {
		switch e.Kind {
		case EntryReserve:
			out.Reserve = e
		case EntryCharge:
			out.Calls += e.Event.Count
			if e.Answer == "" {
				return fail("a charge has no hash of its answer")
			}
		}
	}
	if open := es[0]; open.Adjacency != out.Reserve.Adjacency || open.Unit != out.Reserve.Unit ||
		open.MaxRowsPerUnit != out.Reserve.MaxRowsPerUnit {
		return fail("the reservation counts other units than its ledger")
	}
	return out, nil
}
