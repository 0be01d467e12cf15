package worker

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

// bound keeps of each unit the k rows of the smallest hashes: HMAC-SHA256 by the key of the run, of
// the row, which begins with its unit, and of how many equal rows of the unit came before it. It
// takes lines in the order of their bytes, so that those of a unit are together, and equal ones
// too; it holds k of them.
type bound struct {
	k    int
	mac  hash.Hash
	keep func(line []byte) error // takes a line that stays
	// is told of each unit, escaped, and how many rows it has; may be nil
	ended func(unit []byte, rows int)

	unit   []byte // at hand
	rows   int    // of it
	last   []byte // line
	begun  bool
	twin   uint64 // of the last line, among its equals
	kept   []row
	signed bool // they have hashes, and are in the order of these
}

// row is a line of the unit at hand.
type row struct {
	line []byte
	twin uint64
	hash [sha256.Size]byte // if the unit has more than k rows
}

// byHash compares the hashes of two rows.
func byHash(a, b row) int { return bytes.Compare(a.hash[:], b.hash[:]) }

func newBound(k int, key []byte, keep func([]byte) error) *bound {
	return &bound{k: max(1, k), mac: hmac.New(sha256.New, key), keep: keep}
}

// add takes the next line, whose unit is its first cell.
func (b *bound) add(line []byte) error {
	if b.begun && bytes.Compare(line, b.last) < 0 {
		return errOrder // a unit might come again after it ended
	}
	unit := unitOf(line)
	if len(bytes.Trim(unit, schema.IDBlanks)) < len(unit) {
		return errOrder // it is that of other lines, which are elsewhere
	}
	if !b.begun || !bytes.Equal(unit, b.unit) {
		if err := b.flush(); err != nil {
			return err
		}
		b.unit = append(b.unit[:0], unit...)
	}
	if b.twin++; !b.begun || !bytes.Equal(line, b.last) {
		b.twin = 0
		b.last = append(b.last[:0], line...)
	}
	b.begun = true
	b.rows++
	next := row{line: bytes.Clone(line), twin: b.twin}
	if len(b.kept) < b.k {
		b.kept = append(b.kept, next)
		return nil
	}
	if !b.signed {
		for i := range b.kept {
			b.sign(&b.kept[i])
		}
		slices.SortFunc(b.kept, byHash)
		b.signed = true
	}
	b.sign(&next)
	at, _ := slices.BinarySearchFunc(b.kept, next, byHash)
	b.kept = slices.Insert(b.kept, at, next)[:b.k]
	return nil
}

// sign computes the hash of a row.
func (b *bound) sign(r *row) {
	b.mac.Reset()
	b.mac.Write(binary.LittleEndian.AppendUint64(nil, r.twin))
	b.mac.Write(r.line)
	b.mac.Sum(r.hash[:0])
}

// flush ends the unit at hand.
func (b *bound) flush() error {
	for _, r := range b.kept {
		if err := b.keep(r.line); err != nil {
			return err
		}
	}
	if b.ended != nil && b.rows > 0 {
		b.ended(b.unit, b.rows)
	}
	b.kept, b.signed, b.rows = b.kept[:0], false, 0
	return nil
}

// unitOf is the first cell of a line, escaped.
func unitOf(line []byte) []byte {
	unit, _, _ := bytes.Cut(line, []byte{separator})
	return unit
}

// Buckets is into how many parts units are divided. All units of a part go to one task.
const Buckets = 4096

// bucket is the part of a unit, as the query of package driver divides them.
func bucket(unit []byte) int { return int(crc32.ChecksumIEEE(unit) % Buckets) }
