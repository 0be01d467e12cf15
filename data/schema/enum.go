package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Policy says what becomes of a cell, or of an absent column, that the schema does not allow.
type Policy uint8

// The policies.
const (
	Refuse Policy = iota // the table is refused
	Clamp                // the nearest bin; what has no nearest bin becomes missing
	Other                // a declared category takes it
)

// Spacing says how the edges of bins are laid out.
type Spacing uint8

// The spacings.
const (
	Linear Spacing = iota // equal widths
	// Log: edges grow geometrically. With Min > 0 edge i of k is Min·(Max/Min)^(i/k). A Real with Min
	// ≤ 0 is shifted: edge i is Min + c·((1+(Max-Min)/c)^(i/k) - 1) with c = (Max-Min)/1000, so the
	// last bin is about 1000 times as wide as the first. Real edges are then rounded to a hundredth
	// of the bin width. An Integer with Min ≤ 0 is shifted too: Min keeps a bin of its own, and the
	// edges behind it grow as from 1. Integer edges are whole and at least 1 apart, so the first bins
	// may be single values.
	Log
)

// names are the texts of an enumeration in a schema file; values count up from first.
type names struct {
	what  string
	first uint8
	texts []string
}

var (
	policyNames  = names{"policy", 0, []string{"refuse", "clamp", "other"}}
	spacingNames = names{"spacing", 0, []string{"linear", "log"}}
)

// String gives the name of p in a schema file.
func (p Policy) String() string { return policyNames.text(uint8(p)) }

// String gives the name of s in a schema file.
func (s Spacing) String() string { return spacingNames.text(uint8(s)) }

func (n names) has(v uint8) bool { return v >= n.first && int(v-n.first) < len(n.texts) }

func (n names) text(v uint8) string {
	if n.has(v) {
		return n.texts[v-n.first]
	}
	return fmt.Sprintf("%s(%d)", n.what, v)
}

func (n names) value(text string) (v uint8, ok bool) {
	i := slices.Index(n.texts, text)
	return n.first + uint8(max(i, 0)), i >= 0
}

// unknown says that text is not in n, and what it may have meant.
func (n names) unknown(text string) string {
	known := n.texts
	if n.what == kindNames.what { // a column of a file is of one of either
		known = append(slices.Clone(kindNames.texts), madeNames.texts...)
	}
	return fmt.Sprintf("unknown %s %s%s", n.what, yamlfile.Quote(text),
		cmp.Or(spelling.Hint(text, known), "; there is "+strings.Join(known, ", ")))
}
