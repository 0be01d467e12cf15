package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// terminal is where the program speaks: results go to stdout, talk and progress to stderr.
type terminal struct {
	stdout, stderr io.Writer
	quiet          bool              // no talk and no progress
	force          bool              // outputs may take the place of files that are there
	json           bool              // results are printed as JSON
	unsaid         error             // why help could not be written
	begun          []*configs.Target // outputs, which a verb that fails leaves no trace of
}

// say is one line of talk. What came from a file cannot make two of it, nor move the cursor.
func (t *terminal) say(format string, args ...any) {
	if !t.quiet {
		fmt.Fprintln(t.stderr, spelling.Visible(fmt.Sprintf(format, args...)))
	}
}

// fewNames stand in a sentence, more below it.
const fewNames = 4

// sayNames says something of names: of a few in the same line, of more in lines below, a line for
// each where values go with them; nothing of none.
func (t *terminal) sayNames(names, values []string, format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case len(names) > fewNames && values != nil:
		t.say("%s:", text)
		t.sayEach(names, values)
	case len(names) > fewNames:
		t.say("%s:", text)
		for some := range slices.Chunk(names, fewNames) {
			t.say("  %s", quoted(some))
		}
	case len(names) > 0:
		t.say("%s: %s", text, quoted(names))
	}
}

// sayEach is a line for each name, with what is said of it, in columns.
func (t *terminal) sayEach(names, values []string) {
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(name)+len(`""`))
	}
	for i, name := range names {
		t.say("  %-*s  %s", width, `"`+name+`"`, values[i])
	}
}

// progress shows how far a long run is.
func (t *terminal) progress() *progress {
	p := &progress{w: t.stderr, started: time.Now(), now: time.Now}
	if t.quiet {
		p.w = io.Discard
	}
	return p
}

// privateProgress is that of a run on private rows.
func (t *terminal) privateProgress() *progress {
	p := t.progress()
	began := p.started
	p.now = func() time.Time { return began }
	return p
}

// sayIgnored tells of the columns of a file, by number, that its schema does not name.
func (t *terminal) sayIgnored(file string, numbers []int) {
	if len(numbers) > 0 {
		t.say("%signored: the schema does not name %s (a first line may be data, so it is not quoted)",
			file, columnNumbers(numbers))
	}
}

// columnNumbers is columns of a file, by number, for people.
func columnNumbers(numbers []int) string {
	const most = 20
	text := strings.Trim(fmt.Sprint(numbers[:min(len(numbers), most)]), "[]")
	text = strings.ReplaceAll(text, " ", ", ")
	if more := len(numbers) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	noun := "columns"
	if len(numbers) == 1 {
		noun = "column"
	}
	return noun + " " + text + " of the file"
}

// plural is a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// stamp is the day of a reservation.
func stamp(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// A result is what a verb prints on standard output: with --json the value itself, else its text.
// A type without a text of its own has one in results.txt.
type result interface{ text(w io.Writer) }

// print writes a result.
func (t *terminal) print(r any) error {
	if t.json {
		var text bytes.Buffer
		if err := encode(&text, r); err != nil {
			return err
		}
		_, err := t.stdout.Write(visibleJSON(text.Bytes()))
		return err
	}
	return writeAligned(t.stdout, r)
}

// encode writes a value as indented JSON.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// visibleJSON escapes what package json leaves of the characters that a terminal obeys. All of them
// stand inside strings.
func visibleJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r >= 0x7f && spelling.Visible(string(r)) != string(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// listing is a result of things that are all alike: a line for each, below a heading.
type listing[T any] struct {
	items []T
	// the cells of a line, where they are not the fields that have a tag head
	head string // with tabs between, as line gives them
	line func(T) string
}

// headed are the fields of a struct that have a heading, and of the structs within it.
func headed(v reflect.Value) (heads []string, cells []any) {
	for i := range v.NumField() {
		head := v.Type().Field(i).Tag.Get("head")
		switch field := v.Field(i); {
		case head != "":
			heads, cells = append(heads, head), append(cells, field.Interface())
		case field.Kind() == reflect.Struct:
			h, c := headed(field)
			heads, cells = append(heads, h...), append(cells, c...)
		}
	}
	return heads, cells
}

// sixDigits is a number of which people see six digits.
type sixDigits float64

func (d sixDigits) String() string { return configs.Short(float64(d)) }

// budget is one that people read.
type budget accountant.Budget

func (b budget) String() string { return configs.BudgetText(accountant.Budget(b)) }

func (l listing[T]) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	err := encode(&text, append([]T{}, l.items...)) // never null
	return text.Bytes(), err
}

func (l listing[T]) text(w io.Writer) {
	if l.line == nil {
		heads, _ := headed(reflect.ValueOf(*new(T)))
		l.head = strings.Join(heads, "\t")
		l.line = func(x T) string {
			_, cells := headed(reflect.ValueOf(x))
			return row(cells...)
		}
	}
	fmt.Fprintln(w, l.head)
	for _, x := range l.items {
		fmt.Fprintln(w, l.line(x))
	}
}

// row is a line of cells. What came from a file cannot make two of one.
func row(values ...any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = spelling.Visible(fmt.Sprint(v))
	}
	return strings.Join(out, "\t")
}

// quietStart is how long a run takes at most that shows no progress.
const quietStart = 2 * time.Second

// progress shows how far a long run is: a line at each new stage, and at each quarter of it. It
// shows no count, which might be private. It may be used by several goroutines.
//
// How long something takes on private rows depends on them, and lines are kept by others. So the
// clock of a private run stands still: it has lines if it is expected to take long, else none.
type progress struct {
	w   io.Writer
	now func() time.Time

	mu      sync.Mutex
	started time.Time
	stage   string
	quarter int // of the stage, which has a line
}

// report is a synth.Progress: fraction is 0 to 1. Stages that differ in a number only, such as the
// steps of a training, are one.
func (p *progress) report(stage string, fraction float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := stage
	if i := strings.IndexAny(stage, "0123456789"); i >= 0 {
		kind = stage[:i]
	}
	quarter := int(4 * min(max(fraction, 0), 1))
	if p.now().Sub(p.started) < quietStart || kind == p.stage && quarter <= p.quarter {
		return
	}
	p.stage, p.quarter = kind, quarter
	fmt.Fprintf(p.w, "%s: %d %%\n", stage, 25*quarter)
}

// expect is told what a private run is expected to take, by what is public.
func (p *progress) expect(f synth.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = p.started.Add(-time.Duration(f.Seconds * float64(time.Second)))
}

// of is a progress function of one stage.
func (p *progress) of(stage string) func(float64) {
	return func(fraction float64) { p.report(stage, fraction) }
}
