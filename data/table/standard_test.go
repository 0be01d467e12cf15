package table

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"
)

func TestStandard(t *testing.T) {
	for path, want := range map[string]struct {
		f Format
		k int
	}{
		"-": {CSV, 1}, "arrow:-": {Arrow, 1}, "arrow:-2": {Arrow, 2}, "arrow:-9": {Arrow, 9},
		"": {}, "arrow:-1": {}, "arrow:-10": {}, "arrow:-x": {}, "arrow:--": {}, "aarrow:-": {},
		"./arrow:-": {}, "-.csv": {}, "-.parquet": {}, "arrow:-2/v.arrow": {Arrow, 2}, "arrow:-a/v": {},
	} {
		if f, k := Standard(path); f != want.f || k != want.k {
			t.Errorf("%q: %v %d, want %v", path, f, k, want)
		}
	}
}

// TestStreamLength: streams behind one another are told apart, whatever is behind them; damage and
// files are one stream to their end, which reading then refuses.
func TestStreamLength(t *testing.T) {
	one := arrowTexts(t, true, []string{"a", "b", "c"})
	two := arrowTexts(t, false, []string{"x", "y", "z", "a"}, ipc.WithLZ4())
	both := append(bytes.Clone(one), two...)
	if n, whole := streamLength(both); n != len(one) || !whole {
		t.Errorf("the first of two streams has %d bytes, want %d", n, len(one))
	}
	if n, whole := streamLength(two); n != len(two) || !whole {
		t.Errorf("one stream has %d bytes, want %d", n, len(two))
	}
	for n := range len(one) {
		if got, whole := streamLength(one[:n]); got != n || whole {
			t.Errorf("a stream cut at %d ends at %d", n, got)
		}
	}
	for i := range one {
		damaged := bytes.Clone(both)
		damaged[i] ^= 0x80
		if n, _ := streamLength(damaged); n < 0 || n > len(both) {
			t.Errorf("byte %d damaged: the first stream has %d bytes", i, n)
		}
	}
	if n, whole := streamLength([]byte("a,b\n1,2\n")); n != 8 || whole {
		t.Errorf("CSV ends at %d", n)
	}
}
