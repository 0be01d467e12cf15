package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
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
	fmt.Fprintf(&b, "decoy: %d\n", formatVersion)
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
	for i := range s.Width() {
		if len(made) > 0 && made[0].At == i {
			b.WriteString(item(made[0].fields(), nil))
			made = made[1:]
			continue
		}
		c := &s.Columns[i-len(s.Made)+len(made)]
		b.WriteString(item(c.fields(), c))
	}
	if len(s.Rules) > 0 {
		b.WriteString("rules:\n")
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "  - when: %s\n    then: %s\n", cellsText(r.When), cellsText(r.Then))
	}
	return b.Bytes(), nil
}

// item writes the fields of a column c, or of a made one.
func item(fields []field, c *Column) (out string) {
	lead := "  - "
	for _, f := range fields {
		if text := f.text(c); text != "" {
			out += lead + f.key + ":" + text + "\n"
		}
		lead = "    "
	}
	return out
}

// Fingerprint is the SHA-256 of YAML, in hexadecimal. It panics for a schema that is not valid.
func (s *Schema) Fingerprint() string { return fingerprint(s.YAML()) }

func fingerprint(text []byte, err error) string {
	if err != nil {
		panic("schema: fingerprint of an invalid schema")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// cellsText writes what a rule is about.
func cellsText(list []Cells) string {
	return "{" + strings.Join(each(list, func(x Cells) string {
		if len(x.Values) > 0 {
			return scalar(x.Column) + ": [" + strings.Join(each(x.Values, scalar), ", ") + "]"
		}
		var limits []string
		for _, f := range x.limits() {
			if text := f.text(nil); text != "" {
				limits = append(limits, f.key+":"+text)
			}
		}
		return scalar(x.Column) + ": {" + strings.Join(limits, ", ") + "}"
	}), ", ") + "}"
}

func each[T, U any](list []T, do func(T) U) (out []U) {
	for _, x := range list {
		out = append(out, do(x))
	}
	return out
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
	for _, r := range text {
		at := strings.IndexRune("\"\\\n\r\t", r)
		switch {
		case at >= 0:
			b.WriteString(`\` + `"\nrt`[at:at+1])
		case r >= 0x20 && r < 0x7f,
			r >= 0xa0 && r <= 0xfffd && r != 0x2028 && r != 0x2029 && r != 0xfeff,
			r >= 0x10000:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return `"` + b.String() + `"`
}
