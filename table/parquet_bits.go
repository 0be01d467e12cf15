package table

import "encoding/binary"

// hybrid reads the RLE and bit-packing hybrid encoding of small integers:
// runs that start with a varint, n<<1 for n equal values or n<<1|1 for n
// groups of eight packed values (https://parquet.apache.org/docs/file-format/data-pages/encodings/,
// "Run Length Encoding / Bit-Packing Hybrid").
type hybrid struct {
	data  []byte
	width int // bits of a value, 0 to 32

	equal  int    // values left of a run of equal ones
	value  uint32 // that value
	packed int    // values left of a run of packed ones
	bit    int    // where the next of them starts in data
}

func newHybrid(data []byte, width int) (*hybrid, error) {
	if width > 32 {
		return nil, errDamaged
	}
	return &hybrid{data: data, width: width}, nil
}

// read fills dst.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.equal > 0:
			n := min(h.equal, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.equal -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			for i := range dst[:n] {
				dst[i] = bitsAt(h.data, h.bit, h.width)
				h.bit += h.width
			}
			h.packed -= n
			dst = dst[n:]
			if h.packed == 0 {
				h.data = h.data[min(len(h.data), (h.bit+7)/8):]
			}
		default:
			if err := h.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// next starts the next run.
func (h *hybrid) next() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 || head>>1 > 1<<31 {
		return errDamaged
	}
	h.data = h.data[n:]
	count := int(head >> 1)
	if head&1 == 1 {
		// The last group may be cut off after its last value.
		h.packed, h.bit = count*8, 0
		if h.width > 0 {
			h.packed = min(h.packed, len(h.data)*8/h.width)
		}
		if h.packed == 0 {
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
	h.equal = count
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
