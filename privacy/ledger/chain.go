package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Seal returns e with Seq, Prev and Hash filled in to follow prev; the zero Entry as prev starts a
// ledger. Hash is the hex SHA-256 of the entry's JSON without its hash. The time becomes UTC and
// text becomes valid UTF-8, so that what is written is what is read back. An entry that cannot be
// encoded (an invalid event or adjacency) has no hash.
func (e Entry) Seal(prev Entry) Entry {
	e.Time = e.Time.Round(0).UTC()
	for _, text := range []*string{&e.Run, &e.Unit, &e.Method, &e.SchemaSHA256, &e.Tool,
		&e.Label, &e.Status, (*string)(&e.Kind), (*string)(&e.Rule)} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	e.Seq, e.Prev, e.Hash = 0, prev.Hash, ""
	if prev.Hash != "" {
		e.Seq = prev.Seq + 1
	}
	if b, err := encode(e); err == nil {
		sum := sha256.Sum256(b)
		e.Hash = hex.EncodeToString(sum[:])
	}
	return e
}

// encode is the canonical JSON of an entry, without a newline.
func encode(e Entry) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// last is the zero Entry if there is none.
func (l *Ledger) last() (e Entry) {
	if n := len(l.Entries); n > 0 {
		e = l.Entries[n-1]
	}
	return e
}

// Add seals an entry, appends it, and returns its line.
func (l *Ledger) Add(e Entry) (line []byte, err error) {
	e = e.Seal(l.last())
	if line, err = encode(e); err != nil {
		return nil, fmt.Errorf("ledger: encoding an entry: %w", err)
	}
	l.Entries = append(l.Entries, e)
	return append(line, '\n'), nil
}

// link appends an entry that follows the last one.
func (l *Ledger) link(e Entry) error {
	want := e.Seal(l.last())
	switch {
	case want.Hash == "":
		return errors.New("it is no entry that can be encoded")
	case e.Seq != want.Seq || e.Prev != want.Prev:
		return errors.New("does not follow the line before it: a line was changed, removed or moved")
	case e.Hash != want.Hash:
		return errors.New("its hash does not match: the line was changed")
	}
	l.Entries = append(l.Entries, e)
	return nil
}

// Lines appends the lines of b: each must be, byte for byte, the canonical JSON of its entry,
// follow the line before it, and keep the rules. It returns how many bytes they have. Behind them
// may be a beginning of an entry, which is ErrTorn; any other error wraps ErrInvalid.
func (l *Ledger) Lines(b []byte, rules ...func(Entry) error) (whole int, err error) {
	for whole < len(b) {
		number := len(l.Entries) + 1
		line, _, found := bytes.Cut(b[whole:], []byte("\n"))
		if !found && beginsEntry(line) {
			return whole, fmt.Errorf("ledger: line %d: %w", number, ErrTorn)
		}
		e, err := parseEntry(line)
		for _, check := range append([]func(Entry) error{l.link}, rules...) {
			if err == nil {
				err = check(e)
			}
		}
		if err != nil {
			return whole, fmt.Errorf("ledger: line %d: %w: %w", number, ErrInvalid, err)
		}
		whole += len(line) + 1
	}
	return whole, nil
}

// beginsEntry reports whether a line may be the beginning of an entry: another file is no ledger
// whose first line is torn.
func beginsEntry(line []byte) bool {
	const begin = `{"seq":`
	return strings.HasPrefix(begin, string(line[:min(len(line), len(begin))]))
}

func parseEntry(line []byte) (e Entry, err error) {
	if json.Unmarshal(line, &e) != nil {
		// Why would quote the line, and a private table that is taken for a ledger has rows there.
		return e, errors.New("it is not an entry of a ledger")
	}
	switch e.Kind {
	case EntryOpen, EntryLimit, EntryReserve, EntryCharge, EntryResume, EntryClose:
	default:
		return e, fmt.Errorf("unknown kind %q", e.Kind)
	}
	canonical, err := encode(e)
	if err == nil && !bytes.Equal(canonical, line) {
		err = errors.New("it is not in canonical form: the line was changed")
	}
	return e, err
}
