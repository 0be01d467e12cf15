package table

import "encoding/binary"

// The encodings.
const (
	encodingPlain      = 0
	encodingPlainDict  = 2
	encodingRLE        = 3
	encodingDeltas     = 5
	encodingLengths    = 6
	encodingPrefixes   = 7
	encodingRLEDict    = 8
	encodingSplitBytes = 9
)

// valueReader gives the next value of a page, as it is stored; it is valid until the next call.
type valueReader func() ([]byte, error)

// newValueReader reads the values that data holds in the given encoding, of which there are at most
// limit. It knows neither indices of a dictionary nor booleans.
func newValueReader(l *leaf, encoding int64, data []byte, limit int) (valueReader, error) {
	texts := l.physical == physicalBytes
	switch {
	case encoding == encodingPlain && texts:
		return plainTexts(data), nil
	case encoding == encodingPlain:
		return plainFixed(data, l.width), nil
	case encoding == encodingDeltas && (l.physical == physicalInt32 || l.physical == physicalInt64):
		return deltaInts(data, l.width, limit)
	case encoding == encodingLengths && texts:
		return lengthTexts(data, limit)
	case encoding == encodingPrefixes && (texts || l.physical == physicalFixed):
		return prefixTexts(data, l.width, limit)
	case encoding == encodingSplitBytes && l.width > 0:
		return splitBytes(data, l.width), nil
	}
	return nil, errDamaged
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

// plainTexts reads byte arrays, each behind its length.
func plainTexts(data []byte) valueReader {
	return func() ([]byte, error) {
		text, err := prefixed(data)
		if err == nil {
			data = data[4+len(text):]
		}
		return text, err
	}
}

// plainFixed reads values of a fixed width one after the other.
func plainFixed(data []byte, width int) valueReader {
	return func() ([]byte, error) {
		if width <= 0 || len(data) < width {
			return nil, errDamaged
		}
		b := data[:width]
		data = data[width:]
		return b, nil
	}
}

// splitBytes reads values of a fixed width whose first bytes are stored one
// after the other, then all second bytes, and so on.
func splitBytes(data []byte, width int) valueReader {
	total, at, b := len(data)/width, 0, make([]byte, width)
	return func() ([]byte, error) {
		if at == total {
			return nil, errDamaged
		}
		for i := range b {
			b[i] = data[i*total+at]
		}
		at++
		return b, nil
	}
}

func deltaInts(data []byte, width, limit int) (valueReader, error) {
	values, _, err := deltas(data, limit)
	var b [8]byte
	return func() ([]byte, error) {
		if len(values) == 0 {
			return nil, errDamaged
		}
		binary.LittleEndian.PutUint64(b[:], uint64(values[0]))
		values = values[1:]
		return b[:width], nil
	}, err
}

// lengthTexts reads all lengths, then all bytes.
func lengthTexts(data []byte, limit int) (valueReader, error) {
	lengths, data, err := deltas(data, limit)
	return func() ([]byte, error) {
		if len(lengths) == 0 || lengths[0] < 0 || lengths[0] > int64(len(data)) {
			return nil, errDamaged
		}
		text := data[:lengths[0]]
		data, lengths = data[len(text):], lengths[1:]
		return text, nil
	}, err
}

// prefixTexts reads texts that each share a prefix with the one before.
func prefixTexts(data []byte, width, limit int) (valueReader, error) {
	prefixes, data, err := deltas(data, limit)
	if err != nil {
		return nil, err
	}
	suffixes, err := lengthTexts(data, limit)
	var text []byte
	return func() ([]byte, error) {
		suffix, err := suffixes()
		if err != nil || len(prefixes) == 0 || prefixes[0] < 0 || prefixes[0] > int64(len(text)) {
			return nil, errDamaged
		}
		text = append(text[:prefixes[0]], suffix...)
		prefixes = prefixes[1:]
		if width > 0 && len(text) != width {
			return nil, errDamaged
		}
		return text, nil
	}, err
}
