package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// YAML writes s in its canonical form: keys in one order, defaults filled in,
// so that schemas that mean the same are written the same. The form is fixed by
// this package alone and does not change with its libraries. Parse gives s back,
// with its defaults filled in. The error is that of Validate.
func (s *Schema) YAML() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = s.filled()
	var b bytes.Buffer
	fmt.Fprintf(&b, "decoy: %d\n", version)
	if s.Unit != "" {
		fmt.Fprintf(&b, "unit: %s\nmax_rows_per_unit: %d\n", scalar(s.Unit), s.MaxRowsPerUnit)
	}
	if s.Lenient { // else nothing: fingerprints are older than this key
		b.WriteString("lenient: true\n")
	}
	if s.CSV != (CSV{Comma: ','}) {
		fmt.Fprintf(&b, "csv: {header: %t, comma: %s}\n", !s.CSV.NoHeader,
			scalar(string(rune(s.CSV.Comma))))
	}
	b.WriteString("columns:\n")
	made := s.Made
	for i := 0; i < len(s.Columns) || len(made) > 0; {
		if len(made) > 0 && made[0].At == i+len(s.Made)-len(made) {
			writeMade(&b, &made[0])
			made = made[1:]
			continue
		}
		writeColumn(&b, &s.Columns[i])
		i++
	}
	if len(s.Rules) > 0 {
		b.WriteString("rules:\n")
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "  - when: %s\n    then: %s\n", cellsText(r.When), cellsText(r.Then))
	}
	return b.Bytes(), nil
}

// Fingerprint is the SHA-256 of YAML, in hexadecimal. It panics for a schema that is not valid.
func (s *Schema) Fingerprint() string {
	text, err := s.YAML()
	if err != nil {
		panic("schema: fingerprint of an invalid schema")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// writeColumn writes a filled, valid column.
func writeColumn(b *bytes.Buffer, c *Column) {
	line := func(k key, value string) { fmt.Fprintf(b, "    %s: %s\n", k, value) }
	fmt.Fprintf(b, "  - name: %s\n", scalar(c.Name))
	line(keyKind, c.Kind.String())
	if c.After != "" {
		line(keyAfter, scalar(c.After))
	}
	if len(c.Categories) > 0 {
		writeList(b, keyCategories, each(c.Categories, scalar))
	}
	if c.Format != "" {
		line(keyFormat, scalar(c.Format))
	}
	switch {
	case len(c.Edges) > 0:
		writeList(b, keyEdges, each(c.Edges, c.bound))
	case c.Kind.Ordered():
		line(keyMin, c.bound(c.Min))
		line(keyMax, c.bound(c.Max))
		line(keyBins, c.binsText())
	}
	if c.Decimals > 0 {
		line(keyDecimals, strconv.Itoa(c.Decimals))
	}
	if len(c.Missing) > 0 {
		writeList(b, keyMissing, each(c.Missing, scalar))
	}
	if c.OnInvalid != Refuse {
		line(keyOnInvalid, c.OnInvalid.String())
	}
	if c.OnInvalid == Other {
		line(keyOther, scalar(c.Other))
	}
}

// writeMade writes a made column.
func writeMade(b *bytes.Buffer, m *Made) {
	fmt.Fprintf(b, "  - name: %s\n    kind: %s\n", scalar(m.Name), m.Kind)
	if m.Kind == ID {
		fmt.Fprintf(b, "    pattern: %s\n", scalar(m.Pattern))
		return
	}
	fmt.Fprintf(b, "    of: [%s]\n", strings.Join(each(m.Of, scalar), ", "))
	if m.Kind == madeLookup {
		b.WriteString("    map:\n")
		for _, key := range slices.Sorted(maps.Keys(m.Map)) {
			fmt.Fprintf(b, "      %s: %s\n", scalar(key), scalar(m.Map[key]))
		}
	}
	if m.OnInvalid != Refuse {
		fmt.Fprintf(b, "    on_invalid: %s\n", m.OnInvalid)
	}
}

// cellsText writes what a rule is about.
func cellsText(list []Cells) string {
	return "{" + strings.Join(each(list, func(x Cells) string {
		what := "[" + strings.Join(each(x.Values, scalar), ", ") + "]"
		if len(x.Values) == 0 {
			var limits []string
			for _, l := range [][2]string{{"from", x.From}, {"to", x.To}, {"below", x.Below}} {
				if l[1] != "" {
					limits = append(limits, l[0]+": "+scalar(l[1]))
				}
			}
			what = "{" + strings.Join(limits, ", ") + "}"
		}
		return scalar(x.Column) + ": " + what
	}), ", ") + "}"
}

// binsText writes the bins of a filled column without edges.
func (c *Column) binsText() string {
	spacing := ""
	if c.Spacing != Linear {
		spacing = fmt.Sprintf(", spacing: %s", c.Spacing)
	}
	switch {
	case c.BuyBins > 0:
		share := ""
		if c.BuyShare > 0 {
			share = ", share: " + formatNumber(c.BuyShare)
		}
		return fmt.Sprintf("{dp: %d%s, grid: %d%s}", c.BuyBins, share, c.Bins, spacing)
	case spacing != "":
		return fmt.Sprintf("{count: %d%s}", c.Bins, spacing)
	}
	return strconv.Itoa(c.Bins)
}

func each[T any](list []T, write func(T) string) []string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = write(x)
	}
	return texts
}

// bound writes a bound or an edge as a scalar of the file.
func (c *Column) bound(x float64) string {
	if c.Kind.facts().quoted() {
		return scalar(c.show(x))
	}
	return c.show(x)
}

// writeList writes a short list in one line, a long one with a line an item.
func writeList(b *bytes.Buffer, k key, items []string) {
	width := len(k.String()) + 8
	for _, item := range items {
		width += len(item) + 2
	}
	if width <= 120 {
		fmt.Fprintf(b, "    %s: [%s]\n", k, strings.Join(items, ", "))
		return
	}
	fmt.Fprintf(b, "    %s:\n", k)
	for _, item := range items {
		fmt.Fprintf(b, "      - %s\n", item)
	}
}

// ambiguous are words that other YAML readers take for something else than a text.
var ambiguous = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// scalar writes a text as a YAML scalar: plain if every YAML reader takes it for
// that text, else in double quotes.
func scalar(text string) string {
	plain := text != "" && !strings.HasSuffix(text, " ") && !slices.Contains(ambiguous,
		strings.ToLower(text))
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		plain = plain && (letter || i > 0 && (r >= '0' && r <= '9' || strings.ContainsRune(" -./+()", r)))
	}
	if plain {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r >= 0x20 && r < 0x7f,
			r >= 0xa0 && r <= 0xfffd && r != 0x2028 && r != 0x2029 && r != 0xfeff,
			r >= 0x10000:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
