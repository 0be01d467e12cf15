package table

import "encoding/binary"

// The encodings of values that are read, and of levels. Those by differences and by split bytes are
// known and refused: see docs/decisions/005.
const (
	encodingPlain     = 0
	encodingPlainDict = 2
	encodingRLE       = 3
	encodingPacked    = 4
	encodingRLEDict   = 8
)

// plain gives the next value of a page of plain values, as it is stored.
type plain struct {
	data  []byte
	width int // 0: each is behind its length
}

// newPlain reads the values that data holds in an encoding, if that is plain.
func newPlain(l *leaf, encoding int64, data []byte) (*plain, error) {
	if encoding != encodingPlain {
		return nil, errEncoding
	}
	return &plain{data, l.width}, nil
}

func (p *plain) next() (value []byte, err error) {
	if p.width == 0 {
		if value, err = prefixed(p.data); err == nil {
			p.data = p.data[4+len(value):]
		}
		return value, err
	}
	if len(p.data) < p.width {
		return nil, errDamaged
	}
	value = p.data[:p.width]
	p.data = p.data[p.width:]
	return value, nil
}

// prefixed returns as many bytes as the first four say.
func prefixed(data []byte) ([]byte, error) {
	if len(data) < 4 {
		return nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, errDamaged
	}
	return data[4 : 4+n], nil
}
