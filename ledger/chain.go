package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The bounds of a ledger, in bytes. A line is below 1 kB, unless its run reserves many different
// events; a run has some fifty to a few hundred. Parsed, a ledger takes a small multiple of its
// size.
const (
	maxLine  = 1 << 20
	maxBytes = 256 << 20
)

// Seal returns e with Seq, Prev and Hash filled in to follow prev; the zero Entry as prev starts a
// ledger. Hash is the hex SHA-256 of the entry's JSON without its hash. The time becomes UTC and
// text becomes valid UTF-8, so that what is written is what is read back. It panics if e cannot be
// encoded (an invalid event or adjacency), which a caller that validated its plan cannot see.
func (e Entry) Seal(prev Entry) Entry {
	e, err := e.seal(prev)
	if err != nil {
		panic(fmt.Sprintf("ledger: sealing an entry: %v", err))
	}
	return e
}

func (e Entry) seal(prev Entry) (Entry, error) {
	e.Time = e.Time.Round(0).UTC()
	for _, text := range []*string{&e.Run, &e.Unit, &e.Method, &e.SchemaSHA256, &e.Tool, &e.Host,
		&e.Label, &e.Journal, &e.Status, (*string)(&e.Kind), (*string)(&e.Rule)} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	e.Seq, e.Prev, e.Hash = 0, prev.Hash, ""
	if prev.Hash != "" {
		e.Seq = prev.Seq + 1
	}
	b, err := encode(e)
	sum := sha256.Sum256(b)
	e.Hash = hex.EncodeToString(sum[:])
	return e, err
}

// encode is the canonical JSON of an entry, without a newline.
func encode(e Entry) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// link appends an entry that follows the last one.
func (l *Ledger) link(e Entry) error {
	want, err := e.seal(l.last())
	switch {
	case err != nil:
		return err
	case e.Seq != want.Seq:
		return fmt.Errorf("sequence number %d, want %d", e.Seq, want.Seq)
	case e.Prev != want.Prev:
		return errors.New("does not follow the line before it: a line was changed, removed or moved")
	case e.Hash != want.Hash:
		return errors.New("its hash does not match: the line was changed")
	}
	l.Entries = append(l.Entries, e)
	return nil
}

// last is the zero Entry if there is none.
func (l *Ledger) last() (e Entry) {
	if n := len(l.Entries); n > 0 {
		e = l.Entries[n-1]
	}
	return e
}

// Parse reads JSON lines strictly and checks the chain: each line must be, byte for byte, the
// canonical JSON of its entry, which leaves no room for an unknown, repeated or reordered key.
// Errors wrap ErrInvalid and name the line; a line of more than 1 MiB and a ledger of more than 256
// MiB are errors too. If only the last line is torn, cut short before its newline, the entries
// before it are returned together with ErrTorn.
func Parse(r io.Reader) (*Ledger, error) {
	l := &Ledger{}
	err := l.parse(r, maxBytes, func(Entry) error { return nil })
	if err != nil && !errors.Is(err, ErrTorn) {
		return nil, err
	}
	return l, err
}

// parse appends the lines of r, of most bytes together. Each must follow the line before it and
// keep the rules.
func (l *Ledger) parse(r io.Reader, most int, rules func(Entry) error) error {
	in, size := bufio.NewReader(r), 0
	for {
		number := len(l.Entries) + 1
		line, err := readLine(in)
		if size += len(line); size > most {
			return fmt.Errorf("ledger: the file is longer than %d bytes: %w", most, ErrInvalid)
		}
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF && beginsEntry(line):
			err = ErrTorn
		case err == io.EOF:
			err = ErrInvalid
		case err == nil:
			var e Entry
			if e, err = parseEntry(line); err == nil {
				err = l.link(e)
			}
			if err == nil {
				err = rules(e)
			}
			if err != nil {
				err = fmt.Errorf("%w: %w", ErrInvalid, err)
			}
		}
		if err != nil {
			return fmt.Errorf("ledger: line %d: %w", number, err)
		}
	}
}

// beginsEntry reports whether a line may be the beginning of an entry: another file is no ledger
// whose first line is torn.
func beginsEntry(line []byte) bool {
	const begin = `{"seq":`
	return strings.HasPrefix(begin, string(line[:min(len(line), len(begin))]))
}

// readLine is bufio's ReadBytes with a bound.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes: %w", maxLine, ErrInvalid)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
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
	if err == nil && !bytes.Equal(canonical, bytes.TrimSuffix(line, []byte("\n"))) {
		err = errors.New("it is not in canonical form: the line was changed")
	}
	return e, err
}
