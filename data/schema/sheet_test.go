package schema

import (
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// The sheet of a schema is written as it is read.
func TestSheetOfSchema(t *testing.T) {
	const in = "decoy: 1\ncsv: {header: true, comma: \",\", sheet: \"a: b\"}\ncolumns:\n" +
		"  - {name: x, kind: boolean}\n"
	s := stattest.Must(Parse([]byte(in)))
	again, err := Parse(stattest.Must(s.YAML()))
	if err != nil || s.CSV.Sheet != "a: b" || again.CSV != s.CSV {
		t.Errorf("%+v, %+v, %v", s.CSV, again, err)
	}
}
