package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// YAML writes s in its canonical form: keys in one order, defaults filled in,
// so that schemas that mean the same are written the same. The form is fixed by
// this package alone and does not change with its libraries. Parse gives s back,
// with its defaults filled in. The error is that of Validate.
func (s *Schema) YAML() ([]byte, error) {
	if _, _, err := s.compile(); err != nil {
		return nil, err
	}
	s = s.filled()
	var b bytes.Buffer
	fmt.Fprintf(&b, "decoy: %d\n", formatVersion)
	if s.Unit != "" {
		fmt.Fprintf(&b, "unit: %s\nmax_rows_per_unit: %d\n", scalar(s.Unit), s.MaxRowsPerUnit)
	}
	if s.Lenient {
		b.WriteString("lenient: true\n")
	}
	if s.CSV != (CSV{Comma: ','}) {
		fmt.Fprintf(&b, "csv: {%s}\n", s.CSV.text())
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

// Item is the column as the list of a schema file has it.
func (c Column) Item() string {
	c = c.filled()
	return item(c.fields(), &c)
}

// Line is the made column in one line of that list; one of kind NotBefore is a column after
// another, whose greatest difference is for a person to fill in.
func (m Made) Line() string {
	var parts []string
	for _, f := range m.fields() {
		if text := f.text(nil); text != "" {
			parts = append(parts, f.key+":"+text)
		}
	}
	if m.Kind == NotBefore {
		parts = []string{"name: " + scalar(m.Name), "kind: integer", "after: " + scalar(m.Of[0]),
			"min: 0", "max: MOST", "on_invalid: clamp"}
	}
	return "- {" + strings.Join(parts, ", ") + "}"
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

// plainText is what needs no quotes unless it is ambiguous.
var plainText = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_ \-./+()]*$`)

// scalar writes a text as a YAML scalar: plain if every YAML reader takes it for
// that text, else in double quotes.
func scalar(text string) string {
	if plainText.MatchString(text) && !strings.HasSuffix(text, " ") &&
		!slices.Contains(ambiguous, strings.ToLower(text)) {
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

// YAML writes l in its canonical form, which [ParseLinked] reads: see [Schema.YAML].
func (l *Linked) YAML() ([]byte, error) {
	if l.Single() {
		return l.Tables[0].Schema.YAML()
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "decoy: %d\nunit:%s\n", formatVersion, field{"unit", &l.Tables[0].ID}.text(nil))
	if !l.Alone {
		b.WriteString("tables:\n")
	}
	for _, t := range l.Described() {
		fields, indent := t.fields(), "    "
		switch {
		case l.Alone:
			fields, indent = t.aloneFields(), ""
		case t.Parent == "":
			fields = fields[:1]
		}
		keys := item(fields, nil)
		if indent == "" {
			keys = strings.ReplaceAll(keys[4:], "\n    ", "\n")
		}
		b.WriteString(keys)
		text, err := t.Schema.YAML()
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(text), "\n")
		for _, line := range lines[3 : len(lines)-1] { // without decoy, unit and max_rows_per_unit
			b.WriteString(indent + line)
		}
	}
	return b.Bytes(), nil
}

// Fingerprint is the SHA-256 of YAML, in hexadecimal. It panics for what [ParseLinked] did not
// give.
func (l *Linked) Fingerprint() string { return fingerprint(l.YAML()) }
