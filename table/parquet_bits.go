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
				dst[i] = uint32(bitsAt(h.data, h.bit, h.width))
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
	h.value = uint32(bitsAt(h.data, 0, size*8))
	h.data = h.data[size:]
	h.equal = count
	return nil
}

// bitsAt returns the width bits that start at the given bit, least significant
// first. width is at most 64; bits beyond the end of data are 0.
func bitsAt(data []byte, bit, width int) uint64 {
	at, shift := bit/8, bit%8
	var low, high uint64
	if at+9 <= len(data) {
		low, high = binary.LittleEndian.Uint64(data[at:]), uint64(data[at+8])
	} else {
		var tail [9]byte
		copy(tail[:], data[min(at, len(data)):])
		low, high = binary.LittleEndian.Uint64(tail[:]), uint64(tail[8])
	}
	v := low>>shift | high<<(64-shift) // a shift by 64 gives 0
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// deltas decodes a DELTA_BINARY_PACKED run of at most limit integers at the
// start of data, and returns what follows it (same page, "Delta Encoding").
func deltas(data []byte, limit int) (values []int64, rest []byte, err error) {
	r := varints{data: data}
	block, minis, count := r.unsigned(), r.unsigned(), r.unsigned()
	first := r.signed()
	if r.err != nil || count > min(uint64(limit), maxDeltas) || minis == 0 || block == 0 ||
		block > 1<<20 || block%minis != 0 || block/minis%8 != 0 {
		return nil, nil, errDamaged
	}
	if count == 0 {
		return nil, r.data, nil
	}
	perMini := int(block / minis)
	values = append(make([]int64, 0, count), first)
	for len(values) < int(count) {
		least := r.signed()
		if r.err != nil || len(r.data) < int(minis) {
			return nil, nil, errDamaged
		}
		widths := r.data[:minis]
		r.data = r.data[minis:]
		for _, width := range widths {
			n := min(perMini, int(count)-len(values))
			if n == 0 {
				break // its miniblocks are not stored
			}
			if width > 64 || len(r.data)*8 < n*int(width) {
				return nil, nil, errDamaged
			}
			for i := range n {
				delta := int64(bitsAt(r.data, i*int(width), int(width)))
				values = append(values, values[len(values)-1]+least+delta)
			}
			r.data = r.data[min(len(r.data), perMini*int(width)/8):]
		}
	}
	return values, r.data, nil
}

// varints reads numbers of 7 bits a byte. After an error it gives zeros.
type varints struct {
	data []byte
	err  error
}

func (r *varints) unsigned() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.data, r.err = nil, errDamaged
		return 0
	}
	r.data = r.data[n:]
	return v
}

// signed reads a number in zigzag order: 0, -1, 1, -2, ...
func (r *varints) signed() int64 {
	v := r.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}
