//go:build faults && unix

package kill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/stats"
)

// sampledRows is the number of rows of each synthetic table.
const sampledRows = 40

// problem is something that must not be: its kind, and what was seen.
type problem struct{ kind, text string }

// place is a folder in which one run is stopped and continued.
type place struct {
	scenario
	lab      *lab
	dir      string
	point    string // where it was stopped
	spoilt   bool   // something could not be removed, and stays
	read     int64  // bytes of standard input, by the last command
	outcome  string
	problems []problem
}

// place makes a folder with the tables, their schemas, a batch and a ledger with a limit.
func (l *lab) place(s scenario) *place {
	w := &place{scenario: s, lab: l, dir: l.t.TempDir()}
	files := inputs()
	files["my.ledger"] = l.limit[s.account()]
	for name, text := range files {
		if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
			l.t.Fatal(err)
		}
	}
	return w
}

// inputs are the files that are there before a run, but its ledger.
func inputs() map[string]string {
	table := func(rows, columns int) string {
		var b strings.Builder
		for c := range columns {
			fmt.Fprintf(&b, "%sc%d", strings.Repeat(",", min(c, 1)), c)
		}
		for i := range rows {
			b.WriteString("\n")
			for c := range columns {
				fmt.Fprintf(&b, "%s%d", strings.Repeat(",", min(c, 1)), (i*i/7+i*c)%2)
			}
		}
		return b.String() + "\n"
	}
	description := func(columns int) string {
		text := "decoy: 1\ncolumns:\n"
		for c := range columns {
			text += fmt.Sprintf("  - {name: c%d, kind: integer, min: 0, max: 1, bins: 2}\n", c)
		}
		return text
	}
	var texts strings.Builder // some in so few rows that they may be found or not
	texts.WriteString("name\n")
	for i := range 200 {
		texts.WriteString(strings.Repeat(fmt.Sprintf("town of %d\n", i), 10+i%21))
	}
	people, events, items := "id,sex\n", "who,nr,day,state\n", "who,nr,line,kind\n"
	for i := range 1200 {
		people += fmt.Sprintf("%d,%d\n", i, i%2)
		for k := range i % 4 {
			events += fmt.Sprintf("%d,%d,%d,%d\n", i, k, 10*k+i%7, (i+k)%3%2)
			items += strings.Repeat(fmt.Sprintf("%d,%d,%d,%d\n", i, k, i%3, (i+k)%2), i%2)
		}
	}
	return map[string]string{
		"people.csv": people, "events.csv": events, "items.csv": items, "three.yaml": threeTables,
		"in.csv": table(200, 3), "in.yaml": description(3),
		"kinds.yaml": "decoy: 1\ncolumns:\n  - {name: c0, kind: boolean}\n" +
			"  - {name: c1, kind: boolean}\n  - {name: c2, kind: boolean}\n",
		"small.csv": table(200, 2), "small.yaml": description(2),
		"many.csv": table(1500, 2), "me.csv": table(1, 3), "texts.csv": texts.String(),
		"jobs.yaml": fmt.Sprintf(`name: killed
tables: [{name: t, input: in.csv, schema: in.yaml}]
methods: [mst]
epsilons: [0.5]
replicates: 2
job: {ledger: my.ledger, rows: %d, out: "out/{table}-{method}-{replicate}.csv"}
jobs:
  - {name: last, input: in.csv, schema: in.yaml, method: aim, epsilon: 0.5, out: last.csv,
     model: last.decoy}
`, sampledRows),
		"one.yaml": fmt.Sprintf(`name: other
jobs:
  - {name: one, input: in.csv, schema: in.yaml, ledger: my.ledger, method: mst, epsilon: 1,
     rows: %d, out: out.csv, model: m.decoy}
`, sampledRows),
		"unseen.yaml": fmt.Sprintf(`name: other
jobs:
  - {name: one, inputs: [people.csv, events.csv], link: [events.who=people.id],
     order: [events.day], header_is_public: true, ledger: my.ledger, method: mst, epsilon: 2,
     rows: %d, seed: 1, out-dir: made/here, model: m.decoy}
`, sampledRows),
		"seen.yaml": fmt.Sprintf(`name: other
jobs:
  - {name: one, inputs: [items.csv, people.csv, events.csv], schema: three.yaml,
     ledger: my.ledger, method: mst, epsilon: 1, rows: %d, seed: 1, out-dir: made/here,
     model: m.decoy}
`, sampledRows),
		"bought.yaml": fmt.Sprintf(`name: other
jobs:
  - {name: one, input: many.csv, header_is_public: true, ledger: my.ledger, method: mst,
     epsilon: 2, rows: %d, out: out.csv, model: m.decoy}
`, sampledRows),
	}
}

// threeTables describes people, their events, and the items of these.
const threeTables = `decoy: 1
unit: id
tables:
  - {name: people, columns: [{name: sex, kind: integer, min: 0, max: 1}]}
  - name: events
    parent: people
    key: who
    id: [who, nr]
    order: {by: day, rows: 3}
    columns: [{name: day, kind: integer, min: 0, max: 39, bins: 4}, {name: state, kind: boolean}]
  - name: items
    parent: events
    key: [who, nr]
    order: {by: line, rows: 2}
    columns: [{name: line, kind: integer, min: 0, max: 2}, {name: kind, kind: boolean}]
`

func (w *place) path(name string) string { return filepath.Join(w.dir, name) }

// wrong notes a problem.
func (w *place) wrong(kind, format string, args ...any) {
	w.problems = append(w.problems, problem{kind, fmt.Sprintf(format, args...)})
}

// command is decoy with these words.
func (w *place) command(args string, env ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(binary, strings.Fields(args)...)
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), env...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if !w.stdin {
		return cmd, &text
	}
	table := stattest.Must(os.Open(w.path("in.csv")))
	cmd.Stdin = table // shared with the process: its offset says what was read
	return cmd, &text
}

// run runs decoy to its end. The exit code is -1 if a signal ended it.
func (w *place) run(args string, env ...string) (int, string) {
	cmd, text := w.command(args, env...)
	if f, ok := cmd.Stdin.(*os.File); ok {
		defer f.Close()
	}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.lab.t.Fatal(err)
	}
	if f, ok := cmd.Stdin.(*os.File); ok {
		w.read, _ = f.Seek(0, io.SeekCurrent)
		b, _ := os.ReadFile(w.path("in.csv"))
		w.read = max(0, w.read-int64(bytes.IndexByte(b, '\n')+1)) // the header is public
		if w.read > 0 && len(w.ledger().Runs()) == 0 {
			w.wrong("read before it was paid", "%d bytes, and no run in the ledger", w.read)
		}
	}
	return cmd.ProcessState.ExitCode(), text.String()
}

var number = regexp.MustCompile(`\.decoy-[0-9]+\.tmp|[0-9a-f]{12,16}`)

// stopped is run with a fault. It returns the points that were come to too, without what differs
// from run to run in their names.
func (w *place) stopped(args, fault string) (code int, text string, points []string) {
	log := filepath.Join(w.lab.t.TempDir(), "log")
	code, text = w.run(args, "DISK_FAULT="+fault, "DISK_FAULT_LOG="+log)
	b, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.lab.t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte(filepath.Base(w.dir)), []byte("."))
	return code, text, strings.Split(strings.TrimSpace(number.ReplaceAllString(string(b), "")), "\n")
}

// unharmed is the points of a run without a fault.
func (w *place) unharmed() []string {
	code, text, points := w.stopped(w.args, "")
	if code != 0 {
		w.lab.t.Fatalf("%s without a fault: exit code %d\n%s", w.name, code, text)
	}
	return points
}

// stop runs the command with a fault, and then what finishes it.
func (w *place) stop(f fault) {
	code, text, points := w.stopped(w.args, fmt.Sprintf("%d:%s", f.at, f.action))
	if len(points) >= f.at { // else it was not reached: a method's rounds follow its noise
		w.point = points[f.at-1]
	}
	paid := slices.Index(points, "sync my.ledger") // what is before it may be lost with the power
	switch {
	case w.read > 0 && (paid < 0 || paid+1 >= f.at && code == -1):
		w.wrong("read before it was paid", "%d bytes, and the ledger is not synced", w.read)
	case w.point == "":
	case code == -1 && f.action == "hup", code == -1 && f.action == "term":
		w.wrong("a signal ended the program where it stood", "%s", lastLine(text))
	case code != -1 && (f.action == "kill" || f.action == "half" || f.action == "after"):
		w.wrong("the harness", "the program did not die: exit code %d\n%s", code, text)
	case code > 0 && (f.action == "eio" || f.action == "enospc"):
		cause := map[string]error{"eio": syscall.EIO, "enospc": syscall.ENOSPC}[f.action]
		if !strings.Contains(text, cause.Error()) {
			w.wrong("an error of the disk is not told", "%s", lastLine(text))
		}
	}
	w.spoilt = f.action == "eio" && strings.HasPrefix(w.point, "remove ")
	w.settle(code)
}

// after runs the command and sends a signal some time after its first line in the ledger, if paid,
// else after its start. What continues the run gets the signal too, once.
func (w *place) after(signal syscall.Signal, wait time.Duration, paid bool) {
	code := -1
	for i, args := range []string{w.args, w.resume} {
		if i > 0 && (code == 0 || w.spent() == 0) {
			break
		}
		cmd, _ := w.command(args)
		if err := cmd.Start(); err != nil {
			w.lab.t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			w.await(paid, ended)
			time.Sleep(wait)
			cmd.Process.Signal(signal) // an error if it has ended
		}()
		cmd.Wait()
		close(ended)
		code = cmd.ProcessState.ExitCode()
	}
	w.settle(code)
}

// await waits until the ledger grows or the process has ended.
func (w *place) await(paid bool, ended <-chan struct{}) {
	size := func() int64 {
		info, err := os.Stat(w.path("my.ledger"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for before := size(); paid && size() == before; {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// settle looks at what a stopped run left, and finishes it.
func (w *place) settle(code int) {
	w.whole()
	if code == 0 {
		w.finished("finished")
		return
	}
	spent := w.spent()
	if spent > w.epsilon {
		w.wrong("paid too much", "epsilon %v is spent, one run costs %v", spent, w.epsilon)
	}
	for _, r := range w.ledger().Runs() {
		if r.Status == ledger.StatusFailed || r.Status == ledger.StatusCancelled {
			w.wrong("closed before its end", "run %s is %s", r.Run, r.Status)
		}
	}
	done := w.complete() && w.closed()
	switch {
	case spent == 0:
		w.anew()
	case done && w.other: // which would begin a run of its own: by the same command
		w.resume = w.args
		if strings.HasPrefix(w.args, "generate") {
			w.resume += " --resume"
		}
		w.goOn(done)
	default:
		if !done && w.resume != w.args {
			w.plain(spent)
		}
		w.goOn(done)
	}
}

// plain runs the command without --resume: it must not pay again. Then all is as it was before.
func (w *place) plain(spent float64) {
	before := filepath.Join(w.lab.t.TempDir(), "before")
	w.copy(before, w.dir)
	code, text := w.run(w.args)
	if now := w.spent(); now > spent {
		w.wrong("paid twice by the plain command", "epsilon %v after %v (exit code %d)", now, spent, code)
	} else if code == 0 && !w.complete() {
		w.wrong("done without an output", "by the plain command: %s", lastLine(text))
	} else if code > 0 && !strings.Contains(text, "--resume") {
		w.wrong("a refusal does not say how to go on", "%s", lastLine(text))
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.lab.t.Fatal(err)
	}
	w.copy(w.dir, before)
}

// copy copies a folder.
func (w *place) copy(to, from string) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		w.lab.t.Fatal(err)
	}
}

// goOn continues a run that was paid. One that is done already may be refused.
func (w *place) goOn(done bool) {
	ready := w.ready()
	before, history := w.history(), filepath.Join(w.lab.t.TempDir(), "kept")
	if err := os.Mkdir(history, 0o700); err != nil {
		w.lab.t.Fatal(err)
	}
	code, text := w.run(w.resume, "DISK_FAULT_KEEP="+history)
	if !done && strings.Contains(text, "there is a file already; --force replaces it") {
		w.wrong("its own file stands in the way of --resume", "%s", text)
	}
	w.whole()
	if now := w.spent(); now != w.epsilon && (w.resume != w.args || code == 0) {
		w.wrong("paid twice by --resume", "epsilon %v is spent, one run costs %v", now, w.epsilon)
	}
	for name, b := range ready {
		if after, err := os.ReadFile(w.path(name)); err != nil || !bytes.Equal(after, b) {
			w.wrong("drawn again", "%s is another one (%v)", name, err)
		}
	}
	for name, b := range before {
		after, err := os.ReadFile(w.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			after, err = os.ReadFile(filepath.Join(history, filepath.Base(name)))
		}
		if err != nil || !bytes.HasPrefix(after, b) {
			w.wrong("history was changed", "%s does not begin with what it held before (%v)", name, err)
		}
	}
	switch {
	case code == 0:
		w.finished("resumed")
	case done:
		w.outcome = "done before"
		w.tidy() // a journal is as secret as the table
	default:
		w.outcome = "refused"
		w.wrong("a paid run is lost", "exit code %d: %s", code, lastLine(text))
	}
}

// anew starts a run again that was not paid.
func (w *place) anew() {
	code, text := w.run(w.args)
	if code != 0 { // it may have begun
		var hint string
		if code, hint = w.run(w.resume); code != 0 {
			w.wrong("stuck, with nothing spent", "%s; %s", lastLine(text), lastLine(hint))
			w.outcome = "refused"
			return
		}
	}
	w.finished("started anew")
}

// whole reports a broken ledger and a file that is half there.
func (w *place) whole() {
	if l := w.ledger(); len(l.Entries) > 0 {
		if err := l.Verify(pld.Epsilon); err != nil {
			w.wrong("the ledger is broken", "%v", err)
		}
	}
	for _, name := range w.outputs {
		if err := w.check(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.wrong("a half file", "%v", err)
		}
	}
}

// complete reports whether all outputs are there, as they should be.
func (w *place) complete() bool {
	return !slices.ContainsFunc(w.outputs, func(name string) bool { return w.check(name) != nil })
}

// closed reports whether every run of the ledger is done.
func (w *place) closed() bool {
	runs := w.ledger().Runs()
	open := func(r ledger.Summary) bool { return r.Status != ledger.StatusDone }
	return len(runs) > 0 && !slices.ContainsFunc(runs, open)
}

// check reads an output.
func (w *place) check(name string) error {
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		return err
	}
	switch filepath.Ext(name) {
	case ".csv":
		lines := strings.Split(string(b), "\n")
		for i, line := range lines[:len(lines)-1] {
			if strings.Count(line, ",") != strings.Count(lines[0], ",") {
				return fmt.Errorf("%s: line %d has other columns", name, i+1)
			}
		}
		want := sampledRows + 2
		switch name {
		case answerFile:
			want = 3
		case "made/here/events.csv", "made/here/items.csv":
			want = max(2, len(lines)) // its rows are drawn
		}
		if len(lines) != want || lines[len(lines)-1] != "" {
			return fmt.Errorf("%s has %d lines", name, len(lines)-1)
		}
	case ".yaml":
		if _, err = schema.Load(w.path(name)); errors.Is(err, schema.ErrLinked) {
			_, err = schema.LoadLinked(w.path(name))
		}
	case ".json":
		c, readErr := stats.Read(bytes.NewReader(b))
		if err = readErr; err == nil {
			_, err = release.Verify(c, pld.Epsilon)
		}
	default:
		m, openErr := release.Open(w.path(name))
		if err = openErr; err == nil {
			_, err = m.Verify(pld.Epsilon)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// finished checks the end of a run that went well: complete, paid once, closed, and nothing left
// lying about.
func (w *place) finished(outcome string) {
	w.outcome = outcome
	for _, name := range w.outputs {
		if err := w.check(name); err != nil {
			w.wrong("done without an output", "%v", err)
		}
	}
	if spent := w.spent(); spent != w.epsilon {
		w.wrong("another price", "epsilon %v is spent, one run costs %v", spent, w.epsilon)
	}
	for _, r := range w.ledger().Runs() {
		if r.Status != ledger.StatusDone {
			w.wrong("not closed", "run %s is %s", r.Run, r.Status)
		}
	}
	w.tidy()
}

// tidy reports files that should be gone.
func (w *place) tidy() {
	if w.spoilt {
		return
	}
	had := append(slices.Collect(maps.Keys(inputs())), "my.ledger")
	may := slices.Concat(had, w.outputs, w.leaves)
	fs.WalkDir(os.DirFS(w.dir), ".", func(name string, d fs.DirEntry, err error) error {
		known := func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") }
		rest := slices.Contains([]string{".tmp", ".checkpoint", ".journal"}, filepath.Ext(name)) &&
			!(w.other && strings.Contains(name, ".state/")) // which its batch clears when it is run next
		if !d.IsDir() && (rest || !slices.ContainsFunc(may, known)) {
			w.wrong("left lying about", "%s", number.ReplaceAllString(name, ""))
		}
		return nil
	})
}

// ledger reads the ledger, without a line that was cut short.
func (w *place) ledger() *ledger.Ledger {
	b, err := os.ReadFile(w.path("my.ledger"))
	if err != nil {
		w.lab.t.Fatal(err)
	}
	l, err := ledger.Parse(bytes.NewReader(b))
	if err != nil && !errors.Is(err, ledger.ErrTorn) {
		w.wrong("the ledger is broken", "%v", err)
		return &ledger.Ledger{}
	}
	return l
}

// ready are the outputs of a run with a seed that have their names: it makes them again, the same.
func (w *place) ready() map[string][]byte {
	out := map[string][]byte{}
	for _, name := range w.outputs {
		if b, err := os.ReadFile(w.path(name)); err == nil && strings.Contains(w.args, "--seed") {
			out[name] = b
		}
	}
	return out
}

func (w *place) spent() float64 { return w.ledger().Spent().Epsilon }

// history is what may only grow: the whole lines of the ledger and of the journals, by name.
func (w *place) history() map[string][]byte {
	out := map[string][]byte{}
	fs.WalkDir(os.DirFS(w.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".ledger" || filepath.Ext(name) == ".journal" {
			b, _ := os.ReadFile(w.path(name))
			b = b[:bytes.LastIndexByte(b, '\n')+1]
			for filepath.Ext(name) == ".journal" { // lines before that of their answer are none yet
				last := bytes.LastIndexByte(b[:max(0, len(b)-1)], '\n') + 1
				if last == 0 || bytes.Contains(b[last:], []byte(`"data":`)) {
					break
				}
				b = b[:last]
			}
			out[name] = b
		}
		return nil
	})
	return out
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
