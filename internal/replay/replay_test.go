//go:build seam

// Package replay asks whether anything but the noisy answers of the gate tells of rows. It runs the
// program on a table x, which records the answers, and on a neighbour x′, which is given the same
// answers in place of its own (privacy/seam.go). Whatever leaves must then be the same byte for
// byte: each file that is there at the end with its size and mode, the ledger, standard output,
// standard error, the exit code; and the same must have been asked. Nothing is masked but the
// signature of an archive, which has a clock.
//
// On large tables both processes also draw the same batches, shards and rows of units, so that the
// difference of their answers is what one unit moves, and it is held to what was charged; and the
// noise, to its law (coins_test.go).
//
//	go test -tags seam ./internal/replay
//
// -v says what was compared.
package replay

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/stats/party"
)

// binary is the program under test.
var binary string

// TestMain builds decoy with the tag. It looks at every source file, so that go test knows what its
// result depends on and keeps none of an older program.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Verb {
		if err := count(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "replay")
	if err == nil {
		err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
			if err == nil && (filepath.Ext(path) == ".go" || filepath.Ext(path) == ".s") {
				_, err = os.Stat(path)
			}
			return err
		})
	}
	binary = filepath.Join(dir, "decoy")
	if err == nil {
		err = build(binary, "-tags", "seam")
	}
	if self, no := os.Executable(); err == nil {
		err = errors.Join(no, os.Symlink(self, filepath.Join(dir, "decoy-spark")))
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// count is decoy-spark for the program under test: it counts in.csv, or says that this breaks the
// schema. How far it is depends on the rows.
func count() error {
	var r engine.Request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	s, err := schema.Parse([]byte(r.Schema))
	if err != nil {
		return err
	}
	if r.Check {
		return out.Encode(engine.Reply{})
	}
	t, _, err := table.Read(context.Background(), "in.csv", s, table.ReadOptions{})
	if err != nil {
		return out.Encode(engine.Reply{Error: "a cell", Data: true})
	}
	said := engine.Reply{Counts: []int64{int64(t.Rows())}}
	if sets, err := engine.AskedSets(r.Question, s.Sizes()); err == nil {
		for _, set := range sets {
			said.Counts = append(said.Counts, t.Counts(set...)...)
		}
	} else {
		sum, err := sums.New(s, r.Question)
		if err != nil {
			return err
		}
		sum.Add(t)
		said.Counts = append(said.Counts, sum.Answer...)
	}
	return out.Encode(said)
}

// build makes a program of decoy.
func build(path string, args ...string) error {
	args = append([]string{"build", "-ldflags=-s -w", "-o", path}, append(args, "../../cmd/decoy")...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v\n%s", err, out)
	}
	return nil
}

// TestOrdinaryBuildHasNoSeam looks for the names of the environment variables in the program, and
// for the function that draws the same twice.
func TestOrdinaryBuildHasNoSeam(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decoy")
	if err := build(path); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		path string
		want bool
	}{{path, false}, {binary, true}} {
		b := stattest.Must(os.ReadFile(p.path))
		for _, name := range []string{
			"SEAM_REPLAY", "SEAM_STOP", "SEAM_COINS", "noise.Coins.Source",
		} {
			if got := bytes.Contains(b, []byte(name)); got != p.want {
				t.Errorf("%s is in the program: %v, want %v", name, got, p.want)
			}
		}
	}
}

// story is a row of commands in one folder, in which the private table lies as in.csv. One that
// begins with "? " must be refused, or come to nothing, and all others must not. Those with " & "
// between them run at the same time. One that begins with "3! " is killed after its third answer.
type story struct {
	name     string
	commands []string
	worlds   []string // those it is told in
}

// listens says that a command reads the table from standard input.
func (s story) listens() bool {
	return slices.ContainsFunc(s.commands, listens)
}

// each are the commands one by one.
func (s story) each() []string {
	return strings.Split(strings.Join(s.commands, " & "), " & ")
}

func listens(args string) bool { return strings.Contains(args, " - ") }

// ended is how a command ended.
type ended struct {
	code           int
	stdout, stderr string
}

// exitStopped is the exit code of a program that was killed by its seam.
const exitStopped = 71

// left is a file that is there at the end.
type left struct {
	mode fs.FileMode
	text string
}

// outcome is all that leaves: of each command how it ended and what it asked, and all files.
type outcome struct {
	commands []ended
	asked    []string
	looks    [][]look // in a world with coins
	files    map[string]left
}

// counts is what a test compared.
type counts struct {
	sync.Mutex
	pairs, commands, answers, files int
	bytes                           int
	looked                          looked
	failed                          int // commands that ended with an error, the same for both tables
}

func (c *counts) String() string {
	return fmt.Sprintf("%d pairs of a story: %d commands (%d of them refused), %d answers, %d "+
		"files, %d bytes",
		c.pairs, c.commands, c.failed, c.answers, c.files, c.bytes)
}

// compare tells each story in its worlds, once on x and once on each of its neighbours.
func compare(t *testing.T, stories []story) {
	total := counts{looked: looked{most: map[string]float64{}, drawn: map[string][]float64{}}}
	t.Cleanup(func() {
		t.Log(&total)
		if total.looked.answers > 0 {
			t.Log(&total.looked)
		}
		for _, text := range total.looked.laws() {
			t.Error(text)
		}
		if total.pairs > 0 && total.answers == 0 {
			t.Error("no answer was played back")
		}
	})
	for _, s := range stories {
		for _, w := range slices.Concat(worlds(), bareWorlds(), bigWorlds()) {
			if !slices.Contains(s.worlds, w.name) {
				continue
			}
			t.Run(s.name+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				p := place{t: t, world: w, story: s, dir: t.TempDir(), key: rand.Uint64()}
				for p.today = ""; p.today != today(); { // the ledger has the day
					p.today = today()
					p.problems = nil
					x := p.tell(neighbour{table: w.table, first: w.first})
					p.expected(x)
					for _, n := range w.neighbours {
						if n.slow > 0 && !s.listens() {
							continue
						}
						p.same(n.name, x, p.tell(n), &total)
					}
				}
				for _, text := range p.problems {
					t.Error(text)
				}
			})
		}
	}
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// place is where a story is told, always in the folder of the same name.
type place struct {
	t *testing.T
	world
	story
	dir      string
	told     int // times
	key      uint64
	party    map[string]string
	today    string
	problems []string
}

// tell runs the commands, which record the answers the first time and play them back from then on.
func (p *place) tell(n neighbour) outcome {
	p.t.Helper()
	dir := filepath.Join(p.dir, "w")
	p.must(os.Mkdir(dir, 0o700))
	files := p.files()
	files["in.csv"] = n.table
	for name, write := range map[string]func(text string) string{
		"in.parquet": func(text string) string { return p.parquet(files["in.yaml"], text) },
		"in.csv.gz":  p.packed, "in.arrow": p.arrow,
	} {
		if strings.Contains(fmt.Sprint(p.commands), name) {
			files[name] = write(n.table)
		}
	}
	if strings.Contains(fmt.Sprint(p.commands), "party run") {
		files["other.csv"] = p.table // of the other party, which has it whatever is in.csv
		maps.Copy(files, p.parties())
	}
	if strings.Contains(fmt.Sprint(p.commands), "--sign") {
		files["sign.key"] = signingKey()
	}
	for name, text := range files {
		p.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var out outcome
	tape := func(i int) string { return filepath.Join(p.dir, fmt.Sprint("tape", i)) }
	out.commands = make([]ended, len(p.each()))
	i := 0
	for _, together := range p.commands {
		var all sync.WaitGroup
		for _, args := range strings.Split(together, " & ") {
			at := i
			all.Go(func() {
				coins := fmt.Sprintf("SEAM_COINS=%x.%d %s", p.key, at, n.first)
				out.commands[at] = p.run(dir, tape(at), coins, args, n.slow)
			})
			i++
		}
		all.Wait()
	}
	for i := range out.commands {
		tape := tape(i)
		if p.told > 0 {
			tape += ".played"
		}
		asked, err := os.ReadFile(tape)
		if !errors.Is(err, fs.ErrNotExist) {
			p.must(err)
		}
		if p.told > 0 && err == nil {
			p.must(os.Remove(tape))
		}
		out.asked = append(out.asked, sorted(string(asked)))
		seen, err := looks(tape + ".coins")
		p.must(err)
		out.looks = append(out.looks, seen)
	}
	p.told++
	out.files = p.remains(dir, files)
	p.must(os.RemoveAll(dir))
	return out
}

// parties are the keys of two parties and their file, the same each time. What one has sent is
// played back like all answers of the gate; keys and signatures of the run itself are new, and
// stay on the wire.
func (p *place) parties() map[string]string {
	if p.party != nil {
		return p.party
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	defer free.Close()
	list := fmt.Sprintf("address: %s\nparties:\n", free.Addr())
	p.party = map[string]string{}
	for _, name := range []string{"1", "2"} {
		pem, err := party.NewKey()
		p.must(err)
		key, err := party.ParseKey(pem)
		p.must(err)
		list += fmt.Sprintf("- {name: %q, key: %s}\n", name, party.Public(key))
		p.party[name+".key"] = string(pem)
	}
	p.party["parties.yaml"] = list
	return p.party
}

// sorted puts the answers of a run together: the order of those of jobs that run at the same time
// is nothing that leaves.
func sorted(asked string) string {
	lines := strings.SplitAfter(asked, "\n")
	run := func(line string) string { return line[:min(len(line), len(`{"Run":"0123456789abcdef"`))] }
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(run(a), run(b)) })
	return strings.Join(lines, "")
}

// run is one command; what is slow comes late through standard input.
func (p *place) run(dir, tape, coins, args string, slow time.Duration) ended {
	stop, args := killed(args)
	cmd := exec.Command(binary, strings.Fields(p.flags(strings.TrimPrefix(args, "? ")))...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SEAM_REPLAY="+tape, "SEAM_STOP="+stop)
	if p.first != "" {
		cmd.Env = append(cmd.Env, coins)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if listens(args) {
		in, err := os.Open(filepath.Join(dir, "in.csv"))
		p.must(err)
		defer in.Close()
		cmd.Stdin = &late{r: in, by: slow}
	}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// killed takes a command apart: after how many answers it is killed, "" if it is not.
func killed(args string) (stop, command string) {
	if stop, command, ok := strings.Cut(args, "! "); ok {
		return stop, command
	}
	return "", args
}

// late is a reader whose first bytes take a while.
type late struct {
	r  io.Reader
	by time.Duration
}

func (l *late) Read(b []byte) (int, error) {
	time.Sleep(l.by)
	l.by = 0
	return l.r.Read(b)
}

// parquet is a table as a Parquet file.
func (p *place) parquet(description, text string) string {
	s, err := schema.Parse([]byte(description))
	p.must(err)
	s = s.ForPrivate()
	rows, _, err := table.ReadCSV(p.t.Context(), strings.NewReader(text), -1, s, table.ReadOptions{})
	p.must(err)
	var b bytes.Buffer
	w, err := table.NewWriter(&b, table.Parquet, s, rand.New(rand.NewPCG(1, 2)), table.WriterOptions{})
	p.must(err)
	p.must(w.Write(rows))
	p.must(w.Close())
	return b.String()
}

// remains is what is there at the end, without what was there before and is the same.
func (p *place) remains(dir string, before map[string]string) map[string]left {
	out := map[string]left{}
	p.must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		l := left{mode: info.Mode()}
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if old, ok := before[name]; ok && old == string(b) {
				return nil
			}
			if l.text = string(b); filepath.Ext(name) == ".zip" {
				l.text = p.unsigned(b)
			}
		}
		out[name] = l
		return nil
	}))
	return out
}

// unsigned is what a signature is of: the members of an archive, but not the signature, which has a
// clock that no row decides.
func (p *place) unsigned(archive []byte) string {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	p.must(err)
	var out strings.Builder
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".minisig") {
			continue
		}
		r, err := f.Open()
		p.must(err)
		fmt.Fprintln(&out, f.Name)
		_, err = io.Copy(&out, r)
		p.must(err)
	}
	return out.String()
}

// signingKey is the same each time.
var signingKey = sync.OnceValue(func() string {
	_, key, err := minisign.GenerateKey(nil)
	text, wrong := key.MarshalText()
	if err != nil || wrong != nil {
		panic(errors.Join(err, wrong))
	}
	return string(text) + "\n"
})

// expected looks for commands that did not do what the story is about.
func (p *place) expected(x outcome) {
	for i, args := range p.each() {
		c := x.commands[i]
		stop, args := killed(args)
		refused := stop != "" || strings.HasPrefix(args, "? ")
		if (c.code != 0) != refused || (c.code == exitStopped) != (stop != "") {
			p.problems = append(p.problems, fmt.Sprintf("%s: exit code %d\n%s", args, c.code, c.stderr))
		}
	}
}

// same compares what left x and what left a neighbour.
func (p *place) same(neighbour string, x, y outcome, total *counts) {
	wrong := func(format string, args ...any) {
		p.problems = append(p.problems, neighbour+": "+fmt.Sprintf(format, args...))
	}
	n := counts{}
	for i, args := range p.each() {
		a, b := x.commands[i], y.commands[i]
		if a.code != 0 {
			n.failed++
		}
		if a.code != b.code {
			wrong("%s: exit code %d and %d", args, a.code, b.code)
		}
		for _, c := range []struct{ what, a, b string }{
			{"standard output", a.stdout, b.stdout},
			{"standard error", a.stderr, b.stderr},
			{"what was asked", x.asked[i], y.asked[i]},
		} {
			if c.a != c.b {
				wrong("%s: %s: %s", args, c.what, difference(c.a, c.b))
			}
			n.bytes += len(c.a)
		}
		n.answers += strings.Count(x.asked[i], "\n")
		total.looked.judge(x.looks[i], y.looks[i], func(format string, of ...any) {
			wrong("%s: %s", args, fmt.Sprintf(format, of...))
		})
	}
	for name, a := range x.files {
		b, ok := y.files[name]
		switch {
		case !ok:
			wrong("%s is there for x only", name)
		case a.mode != b.mode:
			wrong("%s: mode %v and %v", name, a.mode, b.mode)
		case a.text != b.text:
			wrong("%s: %d and %d bytes: %s", name, len(a.text), len(b.text), difference(a.text, b.text))
		}
		n.bytes += len(a.text)
	}
	for name := range y.files {
		if _, ok := x.files[name]; !ok {
			wrong("%s is there for x′ only", name)
		}
	}
	total.Lock()
	defer total.Unlock()
	total.pairs++
	total.commands += len(p.each())
	total.failed += n.failed
	total.answers += n.answers
	total.files += len(x.files)
	total.bytes += n.bytes
}

// difference is where two texts part, with what is around.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-60):min(len(s), at+60)] }
	return fmt.Sprintf("byte %d: %q and %q", at, around(a), around(b))
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// packed is a table as a CSV file with gzip.
func (p *place) packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	p.must(err)
	p.must(w.Close())
	return b.String()
}

// arrow is a table as an Arrow stream of texts: its cells as they are, whatever a schema says.
func (p *place) arrow(text string) string {
	names, rows, _ := strings.Cut(text, "\n")
	var fields []arrow.Field
	var columns []arrow.Array
	for i, name := range strings.Split(names, ",") {
		column := array.NewStringBuilder(memory.DefaultAllocator)
		for row := range strings.Lines(rows) {
			cells := append(strings.Split(strings.TrimSpace(row), ","), make([]string, i+1)...)
			column.Append(cells[i])
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
		columns = append(columns, column.NewArray())
	}
	s := arrow.NewSchema(fields, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s), ipc.WithLZ4())
	p.must(w.Write(array.NewRecord(s, columns, -1)))
	p.must(w.Close())
	return b.String()
}
