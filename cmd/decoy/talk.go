package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/synth"
)

// terminal is where the program speaks: results go to stdout, talk and progress to stderr.
type terminal struct {
	stdout, stderr io.Writer
	quiet          bool // no talk and no progress
	force          bool // outputs may take the place of files that are there
	json           bool // results are printed as JSON
	shown          *progress
}

// say is one line of talk. What came from a file cannot make two of it, nor move the cursor.
func (t *terminal) say(format string, args ...any) {
	t.shown.finish()
	if !t.quiet {
		fmt.Fprintln(t.stderr, spelling.Visible(fmt.Sprintf(format, args...)))
	}
}

// progress shows how far a long run is, until something else is to be shown.
func (t *terminal) progress() *progress {
	p := &progress{w: t.stderr, now: time.Now}
	p.start, t.shown = p.now(), p
	if t.quiet {
		p.w = io.Discard
	}
	if f, ok := t.stderr.(*os.File); ok && !t.quiet {
		info, err := f.Stat()
		p.bar = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// privateProgress is that of a run on private rows.
func (t *terminal) privateProgress() *progress {
	p := t.progress()
	p.private = true
	return p
}

// sayIgnored tells of the columns of a file, by number, that its schema does not name.
func (t *terminal) sayIgnored(file string, numbers []int) {
	if len(numbers) > 0 {
		t.say("%signored: the schema does not name %s", file, columnNumbers(numbers))
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
	t.shown.finish()
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

const (
	quietStart = 2 * time.Second // a run that takes no longer shows no progress
	lineEvery  = time.Second     // at most one plain line in this time
)

// progress shows the stage of a run in percent: as a bar on a terminal, else as plain lines. It
// shows no count, which might be private. It may be used by several goroutines.
//
// How long something takes on private rows depends on them, and plain lines are kept by others. So
// the lines of a private run follow no clock: there is one at each new stage and at each quarter of
// it, if the run is expected to take long, else none.
type progress struct {
	w       io.Writer
	bar     bool
	private bool
	long    bool // a private run is expected to take more than quietStart
	now     func() time.Time

	mu    sync.Mutex
	start time.Time
	last  time.Time // of the last line
	stage string
	steps int                      // quarters of the stage that have a line
	shown *progressbar.ProgressBar // nil before the first report after quietStart
}

// report is a synth.Progress: fraction is 0 to 1.
func (p *progress) report(stage string, fraction float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	percent := int(100 * min(max(fraction, 0), 1))
	if p.private && !p.bar {
		p.step(stage, percent/25)
		return
	}
	now := p.now()
	if now.Sub(p.start) < quietStart {
		return
	}
	if !p.bar {
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			fmt.Fprintf(p.w, "%s: %d %%\n", stage, percent)
		}
		return
	}
	if p.shown == nil {
		p.shown = progressbar.NewOptions(100, progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(100*time.Millisecond))
	}
	if stage != p.stage {
		p.stage = stage
		p.shown.Describe(fmt.Sprintf("%-20s", stage))
	}
	p.shown.Set(percent)
}

// step prints a line of a private run that is expected to take long. Stages that differ in a number
// only, such as the steps of a training, are one.
func (p *progress) step(stage string, quarter int) {
	kind := stage
	if i := strings.IndexAny(stage, "0123456789"); i >= 0 {
		kind = stage[:i]
	}
	if !p.long || kind == p.stage && quarter <= p.steps {
		return
	}
	p.stage, p.steps = kind, quarter
	fmt.Fprintf(p.w, "%s: %d %%\n", stage, 25*quarter)
}

// expect is told what a private run is expected to take, by what is public.
func (p *progress) expect(f synth.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.long = f.Seconds > quietStart.Seconds()
}

// finish takes the bar off the terminal, before other text is printed.
func (p *progress) finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != nil {
		p.shown.Clear()
		p.shown = nil
	}
}

// of is a progress function of one stage.
func (p *progress) of(stage string) func(float64) {
	return func(fraction float64) { p.report(stage, fraction) }
}
