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
	e.Time = e.Time.Round(0).UTC()
	for _, text := range []*string{&e.Run, &e.Unit, &e.Method, &e.SchemaSHA256, &e.Tool, &e.Host,
		&e.Label, &e.Journal, &e.Status, (*string)(&e.Kind), (*string)(&e.Rule)} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	e.Seq, e.Prev = 0, prev.Hash
	if prev.Hash != "" {
		e.Seq = prev.Seq + 1
	}
	e.Hash = e.digest()
	return e
}

// digest is the hash that belongs to e.
func (e Entry) digest() string {
	e.Hash = ""
	b, err := encode(e)
	if err != nil {
		panic(fmt.Sprintf("ledger: sealing an entry: %v", err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// encode is the canonical JSON of an entry, without a newline.
func encode(e Entry) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Parse reads JSON lines strictly and checks the chain: each line must be, byte for byte, the
// canonical JSON of its entry, which leaves no room for an unknown, repeated or reordered key.
// Errors wrap ErrInvalid and name the line; a line of more than 1 MiB and a ledger of more than 256
// MiB are errors too. If only the last line is torn, cut short before its newline, the entries
// before it are returned together with ErrTorn.
func Parse(r io.Reader) (*Ledger, error) { return parseLedger(r, maxBytes) }

func parseLedger(r io.Reader, most int) (*Ledger, error) {
	l := &Ledger{}
	in := bufio.NewReader(r)
	size := 0
	for number := 1; ; number++ {
		line, err := readLine(in)
		if size += len(line); size > most {
			return nil, fmt.Errorf("ledger: the file is longer than %d bytes: %w", most, ErrInvalid)
		}
		switch {
		case err == io.EOF && len(line) == 0:
			return l, nil
		case err == io.EOF:
			return l, fmt.Errorf("ledger: line %d: %w", number, ErrTorn)
		case err != nil:
			return nil, fmt.Errorf("ledger: line %d: %w", number, err)
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("ledger: line %d: %w: %w", number, ErrInvalid, err)
		}
		l.Entries = append(l.Entries, e)
		if err := l.link(len(l.Entries) - 1); err != nil {
			return nil, fmt.Errorf("ledger: line %d: %w: %w", number, ErrInvalid, err)
		}
	}
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

func parseEntry(line []byte) (Entry, error) {
	var e Entry
	if len(line) > maxLine {
		return e, fmt.Errorf("longer than %d bytes", maxLine)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		// Why would quote the line, and a private table that is taken for a ledger has rows there.
		return e, errors.New("it is not an entry of a ledger")
	}
	if _, err := dec.Token(); err != io.EOF {
		return e, errors.New("more than one value on the line")
	}
	switch e.Kind {
	case EntryOpen, EntryLimit, EntryReserve, EntryCharge, EntryResume, EntryClose:
	default:
		return e, fmt.Errorf("unknown kind %q", e.Kind)
	}
	canonical, err := encode(e)
	if err != nil {
		return e, err
	}
	if !bytes.Equal(canonical, bytes.TrimSuffix(line, []byte("\n"))) {
		return e, errors.New("it is not in canonical form: the line was changed")
	}
	return e, nil
}

// link checks that entry i follows the one before it.
func (l *Ledger) link(i int) error {
	var prev Entry
	if i > 0 {
		prev = l.Entries[i-1]
	}
	e := l.Entries[i]
	if _, err := encode(e); err != nil {
		return err
	}
	switch want := e.Seal(prev); {
	case e.Seq != want.Seq:
		return fmt.Errorf("sequence number %d, want %d", e.Seq, want.Seq)
	case e.Prev != want.Prev:
		return errors.New("does not follow the line before it: a line was changed, removed or moved")
	case e.Hash != want.Hash:
		return errors.New("its hash does not match: the line was changed")
	}
	return nil
}
