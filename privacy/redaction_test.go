package privacy

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestNothingPrintsARow prints and encodes rows and sessions, alone and inside other values, in
// every way the standard library has. The table is 0,1,0,1,... in its first column and its schema
// names a category that would show as text.
func TestNothingPrintsARow(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(4096), nil)
	rows := FromTable(tab)
	s := open(t, tab, gaussian(5, 1))
	type inner struct{ r *Rows }
	type outer struct {
		Rows    *Rows
		rows    *Rows
		Session *Session
		session *Session
		Deep    []any
		value   inner
	}
	o := outer{rows, rows, s, s, []any{rows, *rows, s, inner{rows}}, inner{rows}}
	values := map[string]any{
		"rows":       rows,
		"rows value": *rows,
		"session":    s,
		"struct":     o,
		"pointer":    &o,
		"map":        map[string]any{"k": rows, "s": s},
		"slice":      []any{rows, s},
	}
	const limit = 3000 // bytes: 4096 rows do not fit, a few hundred addresses and the public schema do
	check := func(how, text string) {
		t.Helper()
		if len(text) > limit {
			t.Errorf("%s: printed %d bytes: %.200s...", how, len(text), text)
		}
		for _, run := range []string{"0 1 0 1 0 1", "0, 1, 0, 1", "0x0, 0x1, 0x0, 0x1", "000100010001",
			"AAEAAQAB", `\x00\x01\x00\x01`, "\x00\x01\x00\x01"} {
			if strings.Contains(text, run) {
				t.Errorf("%s: shows codes: %.200s", how, text)
			}
		}
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T",
			"%p"} {
			check(name+" "+verb, fmt.Sprintf(verb, v))
		}
		if b, err := json.Marshal(v); err == nil {
			check(name+" json", string(b))
		}
		if b, err := xml.Marshal(v); err == nil {
			check(name+" xml", string(b))
		}
		var buf bytes.Buffer
		if err := gob.NewEncoder(&buf).Encode(v); err == nil {
			check(name+" gob", buf.String())
		}
		buf.Reset()
		slog.New(slog.NewJSONHandler(&buf, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "v", v)
		check(name+" slog", buf.String())
	}
	if got := fmt.Sprintf("%v %d", rows, rows); got != "privacy.Rows(private) privacy.Rows(private)" {
		t.Errorf("rows print as %q", got)
	}
	stattest.Fails(t, stattest.Err(json.Marshal(rows)), "rows were encoded as JSON")
	stattest.Fails(t, stattest.Err(json.Marshal(s)), "a session was encoded as JSON")
	// The check must be able to fail: the table itself, which is public, does print its codes.
	if text := fmt.Sprintf("%v", tab.Column(0).U8); len(text) < limit ||
		!strings.Contains(text, "0 1 0 1 0 1") {
		t.Error("a printed column would not be noticed")
	}
}

// TestErrorsHoldNoData: the errors of mechanisms name labels and events only.
func TestErrorsHoldNoData(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(1000), nil), gaussian(5, 1))
	_, err := s.Measure(Total{}, 4)
	if err == nil || strings.Contains(err.Error(), "1000") {
		t.Errorf("error %v", err)
	}
	stattest.Check(t, s.Finish(nil, nil))
}
