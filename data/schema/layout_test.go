package schema

import (
	"errors"
	"strings"
	"testing"
)

func TestLayout(t *testing.T) {
	for pattern, want := range map[string]string{
		"DD/MM/YYYY": "02/01/2006", "dd.MM.yyyy": "02.01.2006", "d.m.yy": "2.1.06",
		"YYYY-MM-DD hh:mm:ss": "2006-01-02 15:04:05", "yyyy-mm-ddTHH:MM": "2006-01-02T15:04",
		"DD MMM YYYY": "02 Jan 2006", "YYYY-MM-DDThh:mm:ssZ": "2006-01-02T15:04:05Z07:00",
		"%Y-%m-%d": "2006-01-02", "%d/%m/%y %H:%M": "02/01/06 15:04", "%F %T": "2006-01-02 15:04:05",
		"100%%": "100%", "02/01/2006": "02/01/2006",
		// not understood
		"%c": "", "%": "", "": "", "DDD": "", "QQ/YYYY": "", "dd/é": "",
	} {
		got, ok := goLayout(pattern)
		if got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", pattern, got, ok, want)
		}
	}
}

// A schema may say a pattern; errors show the layout and the pattern.
func TestLayoutInSchema(t *testing.T) {
	const file = "decoy: 1\ncolumns:\n  - {name: d, kind: date, format: DD/MM/YYYY, min: " +
		"01/02/2003, " +
		"max: MAX}\n"
	s, err := Parse([]byte(strings.Replace(file, "MAX", "31/12/2020", 1)))
	if err != nil || s.Columns[0].Format != "02/01/2006" {
		t.Fatalf("%+v, %v", s, err)
	}
	_, err = Parse([]byte(strings.Replace(file, "MAX", "2020/12/31", 1)))
	if want := `in the format "02/01/2006", which is DD/MM/YYYY`; !errors.Is(err, ErrInvalid) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Parse([]byte(strings.Replace(file, "DD/MM/YYYY", "DDD/QQ", 1)))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "02/01/2006") {
		t.Error(err)
	}
}
