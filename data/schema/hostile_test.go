package schema

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// manyRules is a schema of rules, each over all bins but the first of columns c0, c1 and on, and
// over t.
func manyRules(rules, columns, bins int) []byte {
	var b strings.Builder
	b.WriteString("decoy: 1\ncolumns:\n")
	column := func(name string) {
		fmt.Fprintf(&b, "  - {name: %s, kind: integer, min: 0, max: %d, bins: %d}\n", name, bins-1, bins)
	}
	for c := range columns {
		column(fmt.Sprint("c", c))
	}
	column("t")
	b.WriteString("rules:\n")
	for range rules {
		var when []string
		for c := range columns {
			when = append(when, fmt.Sprintf("c%d: {from: 1, to: %d}", c, bins-1))
		}
		fmt.Fprintf(&b, "  - {when: {%s}, then: {t: {from: %d}}}\n", strings.Join(when, ", "),
			bins/2)
	}
	return []byte(b.String())
}

// manyColumns are so many of the same.
func manyColumns(n int, text string) []byte {
	var b strings.Builder
	b.WriteString("decoy: 1\ncolumns:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: c%d, %s}\n", i, text)
	}
	return []byte(b.String())
}

// TestHostileFiles: whatever a file says, it is refused, or compiled, within a bound of what is
// allocated.
func TestHostileFiles(t *testing.T) {
	const wide = "kind: real, min: 0, max: 60000, bins: 60000"
	for _, c := range []struct {
		name string
		file []byte
		want string // "": it is accepted
	}{
		{"rules of many codes", manyRules(1000, 30, 65001), "more than 8388608 codes"},
		{"rules of as many codes as may be", manyRules(1000, 1, 4194), ""},
		{"rules of many cells", manyRules(1000, 100, 2), ""},
		{"values", []byte("decoy: 1\ncolumns: [" + strings.Repeat("a,", 4<<20) + "a]\n"),
			"commas and lines"},
		{"empty columns", []byte("decoy: 1\ncolumns:\n" + strings.Repeat("- {}\n", 400_000)),
			"400000 columns"},
		{"columns", manyColumns(20_000, "kind: boolean"), "20000 columns"},
		{"bins", manyColumns(2000, wide), "codes together"},
		{"sixty columns of 60,000 bins", manyColumns(60, wide), ""},
		{"bytes", bytes.Repeat([]byte("#"), maxFile+1), "schema: the file is longer than 16 MiB"},
		{"nothing", nil, "schema: the file is empty"},
		{"only comments", []byte("# nothing\n"), "schema: the file is empty"},
		{"deep", bytes.Repeat([]byte("["), 100_000), "schema: not YAML: exceeded max depth of 10000"},
		{"control", []byte("decoy: \x01"), "schema: line 1: not YAML: control characters are not"},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(c.file)
		runtime.ReadMemStats(&after)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrInvalid) ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 600 {
			t.Errorf("%s: %d bytes of file took %d MB", c.name, len(c.file), used)
		}
	}
}
