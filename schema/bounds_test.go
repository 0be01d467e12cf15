package schema

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestParseBounds: a file of a few megabytes cannot ask for gigabytes, nor for minutes.
func TestParseBounds(t *testing.T) {
	column := func(n int, text string) string {
		var b strings.Builder
		b.WriteString("decoy: 1\ncolumns:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {name: c%d, %s}\n", i, text)
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, want string }{
		{"values", "decoy: 1\ncolumns: [" + strings.Repeat("a,", 4<<20) + "a]\n", "commas and lines"},
		{"empty columns", "decoy: 1\ncolumns:\n" + strings.Repeat("- {}\n", 400_000), "400000 columns"},
		{"columns", column(20_000, "kind: boolean"), "20000 columns"},
		{"bins", column(2000, "kind: real, min: 0, max: 60000, bins: 60000"), "codes together"},
		{"bytes", strings.Repeat(" ", 17<<20), "16 MiB"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := Parse([]byte(c.text))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 600 ||
			time.Since(began) > 20*time.Second {
			t.Errorf("%s: %d bytes of text took %d MiB and %v", c.name, len(c.text), used, time.Since(began))
		}
	}
	if _, err := Parse([]byte(column(60, "kind: real, min: 0, max: 60000, bins: 60000"))); err != nil {
		t.Errorf("sixty columns of 60,000 bins: %v", err)
	}
}
