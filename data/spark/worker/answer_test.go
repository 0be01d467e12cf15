package worker

import (
	"bytes"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/schema"
)

// answered is what a task tells of lines when it is asked a question.
func answered(t *testing.T, head string, q engine.Question, lines ...string) map[int]int64 {
	t.Helper()
	var out bytes.Buffer
	w := word(t, head, func(p *Plan) { p.Question = q })
	in := strings.NewReader(w + "\n" + strings.Join(append(lines, ""), "\n"))
	if err := count(in, &out); err != nil {
		t.Fatal(err)
	}
	return told(t, out.String())
}

// TestTexts: classes, magnitudes, and texts that are numbers until they are asked for.
func TestTexts(t *testing.T) {
	lines := []string{"17\x011", "\\N\x012", "x\x012", "x\x01\\N", "ä\\1\x013",
		strings.Repeat("l", 201) + "\x014"}
	ask := func(kind string, of ...engine.Text) map[int]int64 {
		got := answered(t, "lenient: true\n", engine.AskTexts(kind, of), lines...)
		if got[TaskRows] != 6 {
			t.Errorf("%s: %v", kind, got)
		}
		delete(got, TaskRows)
		return got
	}
	classes := ask(engine.Classes, engine.Text{Column: 1}, engine.Text{})
	n := schema.Classes()
	if classes[int(schema.Classify(nil))] != 1 || classes[int(schema.Classify([]byte("1")))] != 5 ||
		classes[n+int(schema.ClassNamed("text"))] != 4 || len(classes) != 5 {
		t.Errorf("classes %v", classes)
	}
	whole := schema.Magnitudes{Kind: schema.Integer, PerPower: 1}
	keys := engine.NewKeys([]byte("a nonce"), 2)
	x, umlaut := keys.Cell(0, []byte("x")), keys.Cell(0, []byte("ä\x01"))
	values := ask(engine.Values, engine.Text{Column: 0, Magnitudes: whole, Listed: true})
	at, _ := whole.Of([]byte("17"))
	if values[at] != 1 || values[int(x)] != 2 || values[int(umlaut)] != 1 ||
		values[int(keys.Cell(0, nil))] != 1 || len(values) != 4 {
		t.Errorf("values %v", values)
	}
	other := keys.Cell(0, []byte("not there"))
	spelled := ask(engine.Spelled, engine.Text{Cells: []int64{umlaut, other, x}})
	for i, want := range []string{"ä\x01", "", "x"} {
		numbers := make([]int64, engine.TextCells)
		for j := range numbers {
			numbers[j] = 3 * spelled[i*engine.TextCells+j] // of three tasks
		}
		if text, ok := engine.TextOf(numbers); ok != (want != "") || string(text) != want {
			t.Errorf("text %d: %q, want %q", i, text, want)
		}
		if numbers[2]++; want != "" {
			if _, ok := engine.TextOf(numbers); ok {
				t.Error("numbers of no text are spelled")
			}
		}
	}
	for name, q := range map[string]engine.Question{
		"no kind":          {Kind: "rows", Length: 3},
		"units of rows":    engine.AskUnits([]int{1}),
		"another length":   {Kind: engine.Classes, Of: []byte(`[{"column":0}]`), Length: 3},
		"a far column":     engine.AskTexts(engine.Classes, []engine.Text{{Column: 2}}),
		"a length too far": {Kind: engine.Classes, Length: maxAnswer + 1},
	} {
		if _, err := newCounter(word(t, "", func(p *Plan) { p.Question = q }), nil); err == nil {
			t.Errorf("%s is counted", name)
		}
	}
}
