package excerpt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/ledger"
)

// Session is a run that is under way.
type Session interface {
	Ledger() *ledger.Ledger
	Deliver(outputs string)
}

// Close is the ledger of a run that is about to deliver a file, as that carries it: closed as done,
// with the hash of the file. The run's own closing line will have it too.
func Close(s Session, file any) (Entries, error) {
	es := Entries(s.Ledger().Entries)
	outputs, err := Outputs(file, es)
	if err != nil {
		return nil, err
	}
	s.Deliver(outputs)
	last := es[len(es)-1]
	e := ledger.Entry{Kind: ledger.EntryClose, Run: last.Run, Status: ledger.StatusDone,
		Outputs: outputs}
	return append(es, e.Seal(last)), nil
}

// Outputs is the hash of what a run delivers, as its closing line has it: of the JSON of a file,
// its keys in order, with the lines before the closing one for its ledger; of a file without a run,
// whose hash is beside the rest, without that.
func Outputs(file any, paid Entries) (string, error) {
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
	return OutputsOf(b), nil
}

// OutputsOf is [Outputs] of a file that has no place for a ledger: of its bytes.
func OutputsOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// bound checks what binds a run to its outputs: hashes of these in its closing line, and of the
// answer in each charge. Runs of earlier versions have none of them.
func (es Entries) bound() (outputs string, err error) {
	outputs = es[len(es)-1].Outputs
	for _, e := range es {
		if e.Kind == ledger.EntryCharge && (e.Answer == "") != (outputs == "") {
			return "", fmt.Errorf("of its outputs and its answers only some have a hash: %w",
				ledger.ErrInvalid)
		}
	}
	return outputs, nil
}

// In returns an error unless the ledger of the table has the run of es, line by line. Its
// interruptions, which a release has not, are passed over. Errors wrap ledger.ErrInvalid.
func (es Entries) In(l *ledger.Ledger) error {
	if len(es) == 0 {
		return fmt.Errorf("ledger: no run: %w", ledger.ErrInvalid)
	}
	run := es[len(es)-1].Run
	rest := slices.DeleteFunc(slices.Clone(es), func(e ledger.Entry) bool { return e.Run != run })
	for _, e := range l.Entries {
		if e.Run != run || e.Kind == ledger.EntryResume {
			continue
		}
		if len(rest) == 0 || !same(e, rest[0]) {
			return fmt.Errorf("ledger: entry %d, of run %s, is not what was released of it: %w", e.Seq, run,
				ledger.ErrInvalid)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("ledger: %d of %d lines of run %s are missing: %w", len(rest),
			len(es)-1, run, ledger.ErrInvalid)
	}
	return nil
}

// same reports whether two entries say the same, wherever they stand.
func same(a, b ledger.Entry) bool {
	a, b = a.Seal(ledger.Entry{}), b.Seal(ledger.Entry{})
	return a.Hash == b.Hash && a.Hash != ""
}
