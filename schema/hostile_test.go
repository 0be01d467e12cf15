package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// manyRules is a schema of rules, each over columns c0, c1 and on of so many bins, from its own
// number to itself (apart) or over all bins but the first, and over t.
func manyRules(rules, columns, bins int, apart bool) []byte {
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
	for r := range rules {
		from, to := 1, bins-1
		if apart {
			from, to = r%bins, r%bins
		}
		var when []string
		for c := range columns {
			when = append(when, fmt.Sprintf("c%d: {from: %d, to: %d}", c, from, to))
		}
		fmt.Fprintf(&b, "  - {when: {%s}, then: {t: {from: %d}}}\n", strings.Join(when, ", "),
			bins/2)
	}
	return []byte(b.String())
}

// TestHostileRules: a schema of whatever rules is refused, or compiled, within a bound of memory
// and time.
func TestHostileRules(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string // "": it is accepted
	}{
		{"many codes, apart", manyRules(1000, 1, 65001, true), "more than 8388608 codes"},
		{"many codes and columns", manyRules(1000, 30, 65001, false), "more than 8388608 codes"},
		{"as many codes as may be", manyRules(1000, 1, 4194, true), ""},
		{"as many codes as may be, together", manyRules(1000, 1, 4194, false), ""},
		{"few rules over many codes", manyRules(60, 1, 65001, false), ""},
		{"many cells", manyRules(1000, 33, 2, false), "name more than 32768 columns"},
		{"as many cells as may be", manyRules(1000, 31, 250, false), ""},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := Parse(c.file)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if c.want == "" && err != nil || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %d bytes of file, %d MB allocated, %v", c.name, len(c.file), used, took)
		if used > 200 || took > 10*time.Second {
			t.Errorf("%s: %d MB, %v", c.name, used, took)
		}
	}
}
