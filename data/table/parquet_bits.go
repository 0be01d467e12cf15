package table

import "encoding/binary"

// hybrid reads the RLE and bit-packing hybrid encoding of small integers:
// runs that start with a varint, n<<1 for n equal values or n<<1|1 for n
// groups of eight packed values (https://parquet.apache.org/docs/file-format/data-pages/encodings/,
// "Run Length Encoding / Bit-Packing Hybrid").
type hybrid struct {
	data  []byte
	width int // bits of a value, 0 to 32

	left   int    // values of the run at hand that are still to come
	packed bool   // it is one of packed values
	value  uint32 // else the value that all have
	bit    int    // where the next of packed ones starts in data
}

func newHybrid(data []byte, width int) (*hybrid, error) {
	if width > 32 {
		return nil, errDamaged
	}
	return &hybrid{data: data, width: width}, nil
}

// next gives the next value.
func (h *hybrid) next() (uint32, error) {
	if h.left == 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
	}
	h.left--
	if h.packed {
		h.value = bitsAt(h.data, h.bit, h.width)
		h.bit += h.width
	}
	return h.value, nil
}

// run starts the next run.
func (h *hybrid) run() error {
	if h.packed {
		h.data = h.data[min(len(h.data), (h.bit+7)/8):]
	}
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 || head>>1 > 1<<31 {
		return errDamaged
	}
	h.data = h.data[n:]
	h.left, h.packed, h.bit = int(head>>1), head&1 == 1, 0
	if h.packed { // groups of eight; the last may be cut off after its last value
		h.left *= 8
		if h.width > 0 {
			h.left = min(h.left, len(h.data)*8/h.width)
		}
		if h.left == 0 {
			return errDamaged
		}
		return nil
	}
	size := (h.width + 7) / 8
	if len(h.data) < size {
		return errDamaged
	}
	h.value = bitsAt(h.data, 0, size*8)
	h.data = h.data[size:]
	return nil
}

// bitsAt returns the width bits that start at the given bit, least significant first. width is at
// most 32; bits beyond the end of data are 0.
func bitsAt(data []byte, bit, width int) uint32 {
	at := bit / 8
	var word uint64
	if at+8 <= len(data) {
		word = binary.LittleEndian.Uint64(data[at:])
	} else {
		var tail [8]byte
		copy(tail[:], data[min(at, len(data)):])
		word = binary.LittleEndian.Uint64(tail[:])
	}
	return uint32(word >> (bit % 8) & (1<<width - 1))
}
