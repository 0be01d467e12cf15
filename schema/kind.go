package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what the cells of a column are.
type Kind uint8

// The kinds. The zero Kind is not valid.
const (
	Categorical Kind = iota + 1 // one of a declared list of texts
	Integer                     // a whole number, |x| < 2^53
	Real                        // a finite number
	Boolean                     // one of two texts
	Date                        // a day, as days since 1970-01-01
	Timestamp                   // an instant, as microseconds since 1970-01-01 UTC
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
	// Log: edges grow geometrically. With Min > 0 edge i of k is
	// Min·(Max/Min)^(i/k). A Real with Min ≤ 0 is shifted: edge i is
	// Min + c·((1+(Max-Min)/c)^(i/k) - 1) with c = (Max-Min)/1000, so the last
	// bin is about 1000 times as wide as the first. Real edges are then rounded
	// to a hundredth of the bin width. An Integer with Min ≤ 0 is shifted too:
	// Min keeps a bin of its own, and the edges behind it grow as from 1.
	// Integer edges are whole and at least 1 apart, so the first bins may be single values.
	Log
)

// numeric reports whether cells of this kind are numbers that fall into bins.
func (k Kind) numeric() bool { return k == Integer || k == Real || k == Date || k == Timestamp }

// whole reports whether cells of this kind are whole numbers that fall into bins.
func (k Kind) whole() bool { return k.numeric() && k != Real }

// moment reports whether cells of this kind are dates or times.
func (k Kind) moment() bool { return k == Date || k == Timestamp }

// names are the texts of an enumeration in a schema file; values count up from first.
type names struct {
	what  string
	first uint8
	texts []string
}

var (
	kindNames = names{"kind", 1, []string{"categorical", "integer", "real", "boolean", "date",
		"timestamp"}}
	policyNames  = names{"policy", 0, []string{"refuse", "clamp", "other"}}
	spacingNames = names{"spacing", 0, []string{"linear", "log"}}
)

// String gives the name of k in a schema file.
func (k Kind) String() string { return kindNames.text(uint8(k)) }

// MarshalText gives the name of k in a schema file, or an error that wraps ErrInvalid.
func (k Kind) MarshalText() ([]byte, error) { return kindNames.marshal(uint8(k)) }

// UnmarshalText takes the name of a kind; its error wraps ErrInvalid.
func (k *Kind) UnmarshalText(text []byte) error { return kindNames.unmarshal((*uint8)(k), text) }

// String gives the name of p in a schema file.
func (p Policy) String() string { return policyNames.text(uint8(p)) }

// MarshalText gives the name of p in a schema file, or an error that wraps ErrInvalid.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.marshal(uint8(p)) }

// UnmarshalText takes the name of a policy; its error wraps ErrInvalid.
func (p *Policy) UnmarshalText(text []byte) error {
	return policyNames.unmarshal((*uint8)(p),
		text)
}

// String gives the name of s in a schema file.
func (s Spacing) String() string { return spacingNames.text(uint8(s)) }

// MarshalText gives the name of s in a schema file, or an error that wraps ErrInvalid.
func (s Spacing) MarshalText() ([]byte, error) { return spacingNames.marshal(uint8(s)) }

// UnmarshalText takes the name of a spacing; its error wraps ErrInvalid.
func (s *Spacing) UnmarshalText(text []byte) error {
	return spacingNames.unmarshal((*uint8)(s),
		text)
}

func (n names) has(v uint8) bool { return v >= n.first && int(v-n.first) < len(n.texts) }

func (n names) text(v uint8) string {
	if n.has(v) {
		return n.texts[v-n.first]
	}
	return fmt.Sprintf("%s(%d)", n.what, v)
}

func (n names) marshal(v uint8) ([]byte, error) {
	if n.has(v) {
		return []byte(n.texts[v-n.first]), nil
	}
	return nil, fmt.Errorf("schema: %w: no %s has the number %d", ErrInvalid, n.what, v)
}

func (n names) unmarshal(dst *uint8, text []byte) error {
	v, ok := n.value(string(text))
	if !ok {
		return fmt.Errorf("schema: %w: %s", ErrInvalid, n.unknown(string(text)))
	}
	*dst = v
	return nil
}

func (n names) value(text string) (v uint8, ok bool) {
	i := slices.Index(n.texts, text)
	return n.first + uint8(max(i, 0)), i >= 0
}

// unknown says that text is not in n, and what it may have meant.
func (n names) unknown(text string) string {
	if near := nearest(text, n.texts); near != "" {
		return fmt.Sprintf("unknown %s %s (did you mean %q?)", n.what, quote(text), near)
	}
	return fmt.Sprintf("unknown %s %s (want %s)", n.what, quote(text), strings.Join(n.texts, ", "))
}
