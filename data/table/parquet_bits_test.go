package table

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// packBits writes values of the given width one after the other.
func packBits(values []uint64, width int) []byte {
	out := make([]byte, (len(values)*width+7)/8)
	for i, v := range values {
		for b := range width {
			if v>>b&1 == 1 {
				out[(i*width+b)/8] |= 1 << ((i*width + b) % 8)
			}
		}
	}
	return out
}

func TestBitsAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		values := make([]uint64, 50)
		for i := range values {
			values[i] = rng.Uint64() & (1<<width - 1)
		}
		data := packBits(values, width)
		for i, want := range values {
			if got := bitsAt(data, i*width, width); uint64(got) != want {
				t.Fatalf("value %d of width %d: got %x, want %x", i, width, got, want)
			}
		}
	}
}

// encodeHybrid writes values in runs of random kinds.
func encodeHybrid(rng *rand.Rand, values []uint32, width int) []byte {
	var out []byte
	for len(values) > 0 {
		equal := 1
		for equal < len(values) && values[equal] == values[0] {
			equal++
		}
		if n := 1 + rng.IntN(equal); rng.IntN(3) == 0 || equal > 20 {
			out = binary.AppendUvarint(out, uint64(n)<<1)
			out = append(out, packBits([]uint64{uint64(values[0])}, (width+7)/8*8)...)
			values = values[n:]
			continue
		}
		groups := 1 + rng.IntN(4)
		n := min(len(values), groups*8)
		if n < groups*8 && rng.IntN(2) == 0 {
			groups = (n + 7) / 8
		}
		run := make([]uint64, groups*8)
		for i, v := range values[:n] {
			run[i] = uint64(v)
		}
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		out = append(out, packBits(run, width)...)
		if values = values[n:]; len(values) > 0 && n < groups*8 {
			panic("a padded run is the last")
		}
	}
	return out
}

func TestHybrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		width := rng.IntN(33)
		values := make([]uint32, rng.IntN(200))
		for i := range values {
			values[i] = uint32(rng.Uint64() & (1<<width - 1))
			if i > 0 && rng.IntN(2) == 0 {
				values[i] = values[i-1]
			}
		}
		h := stattest.Must(newHybrid(encodeHybrid(rng, values, width), width))
		for i, want := range values {
			if got, err := h.next(); err != nil || got != want {
				t.Fatalf("width %d: value %d is %v, want %v: %v", width, i, got, want, err)
			}
		}
	}
}

func TestHybridErrors(t *testing.T) {
	for name, data := range map[string][]byte{
		"nothing": {}, "varint without end": {0x80,
			0x80}, "no values": {0}, "no groups": {1}, "no value": {8},
		"huge run": {0xff, 0xff, 0xff, 0xff, 0xff, 0x7e, 1}, "no packed bytes": {3}, "too short": {6, 1},
	} {
		h := stattest.Must(newHybrid(data, 7))
		var err error
		for i := 0; i < 4 && err == nil; i++ {
			_, err = h.next()
		}
		if err != errDamaged {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := newHybrid(nil, 33); err != errDamaged {
		t.Errorf("width 33: got %v", err)
	}
}

func TestPlainErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		width    int
		encoding int64
		data     string
		want     error
	}{
		{"short integers", 4, encodingPlain, "1234567", errDamaged},
		{"short text", 0, encodingPlain, "\x01\x00\x00\x00a\x02\x00\x00\x00b", errDamaged},
		{"short length", 0, encodingPlain, "\x01\x00\x00\x00a\x02\x00", errDamaged},
		{"huge length", 0, encodingPlain, "\x01\x00\x00\x00a\xff\xff\xff\xffb", errDamaged},
		{"differences", 8, 5, "\x80\x01\x04\x01\x00", errEncoding},
		{"dictionary", 4, encodingRLEDict, "1234", errEncoding},
		{"bit-packed", 4, 4, "1234", errEncoding},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, err := newPlain(&leaf{width: tt.width}, tt.encoding, []byte(tt.data))
			for i := 0; i < 2 && err == nil; i++ {
				_, err = values.next()
			}
			if err != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Files whose pages are by differences or by split bytes are refused in words, and not before they
// begin: writers choose an encoding by the values, so that one row may decide it.
func TestRefusedEncodings(t *testing.T) {
	for _, name := range []string{"delta", "delta-v2", "split"} {
		begun := false
		begin := func() error { begun = true; return nil }
		err := ScanText("testdata/refused-"+name+".parquet", ScanOptions{Begin: begin},
			func([]string, []string) error { return nil })
		if !errors.Is(err, errEncoding) || !begun {
			t.Errorf("%s: %v, begun: %v", name, err, begun)
		}
	}
}

func TestInt96(t *testing.T) {
	at := func(nanos uint64, day uint32) []byte {
		b := binary.LittleEndian.AppendUint64(nil, nanos)
		return binary.LittleEndian.AppendUint32(b, day)
	}
	for _, tt := range []struct {
		data []byte
		want int64
	}{
		{at(0, 2440588), 0}, {at(1999, 2440588), 1}, {at(0, 2440587), -86400e6}, {at(5000, 2440589),
			86400e6 + 5},
		{at(0, math.MaxUint32), math.MaxInt64}, {at(math.MaxUint64, 0), math.MaxInt64}, {at(0, 0),
			-2440588 * 86400e6},
	} {
		if got := int96Micros(tt.data); got != tt.want {
			t.Errorf("% x: got %d, want %d", tt.data, got, tt.want)
		}
	}
}

func TestMicros(t *testing.T) {
	for _, tt := range []struct {
		ticks, x, want int64
	}{
		{1e6, -5, -5}, {1e3, -5, -5000}, {1e3, math.MaxInt64, math.MaxInt64 / 1000 * 1000},
		{1, math.MinInt64, math.MinInt64 / 1_000_000 * 1_000_000},
		{1e9, 0, 0}, {1e9, 999, 0}, {1e9, 1000, 1}, {1e9, -1, -1}, {1e9, -1000, -1}, {1e9, -1001, -2},
		{1e9, math.MinInt64, -9223372036854776}, {1e9, math.MaxInt64, 9223372036854775},
	} {
		b := binary.LittleEndian.AppendUint64(nil, uint64(tt.x))
		if got := (&leaf{form: formTime, ticks: tt.ticks}).micros(b); got != tt.want {
			t.Errorf("%d of %d in a second: got %d, want %d", tt.x, tt.ticks, got, tt.want)
		}
	}
}

func TestUUID(t *testing.T) {
	l := &leaf{form: formUUID, width: 16}
	b := []byte("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff")
	if got, want := string(l.appendText(nil, b)), "00112233-4455-6677-8899-aabbccddeeff"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
