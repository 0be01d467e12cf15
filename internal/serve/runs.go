package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A run is a verb that takes its time: a process of its own, which goes on when the browser is
// closed.
type run struct {
	ID      string
	Verb    string   // generate, sample or evaluate
	Args    []string // the command line
	Outputs []string // files that it writes, which may be downloaded
	Choice  choice   // what the person chose

	mu      sync.Mutex
	cmd     *exec.Cmd
	stage   string
	percent int
	talk    []string // lines of standard error that are not progress
	state   state
	code    int
	wrote   map[string]fs.FileInfo // of its outputs, when it was done
	done    chan struct{}
}

type state int

const (
	working state = iota
	stopping
	finished
	failed
	interrupted
)

func (s state) String() string {
	return [...]string{"running", "stopping", "done", "failed", "stopped"}[s]
}

// view is a run as a page shows it.
type view struct {
	ID, Verb, Command, Stage string
	Percent                  int
	State                    string
	Working, Resumable       bool
	Talk                     []string
	Outputs                  []string
	Choice                   choice
	Meaning                  string
}

// meanings of exit codes, for a page.
var meanings = map[int]string{
	2:  "Something in the settings or the schema is not right. Nothing was spent.",
	10: "The ledger's limit would be exceeded. No row was read.",
	11: "Another run kept the ledger locked. Try again in a moment.",
	12: "The table does not fit the schema.",
}

func (r *run) view() view {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := view{ID: r.ID, Verb: r.Verb, Command: shown(r.Args), Stage: r.stage, Percent: r.percent,
		State: r.state.String(), Working: r.state == working || r.state == stopping,
		Talk: slices.Clone(r.talk), Choice: r.Choice}
	if r.state == finished {
		v.Outputs = r.Outputs
	}
	if r.state == failed {
		v.Meaning = meanings[r.code]
		const data = 12
		if r.code == data && r.Verb == "generate" && r.Choice.Bought() {
			v.Meaning = "The table could not be read as it is."
		}
	}
	resume := func(line string) bool {
		return strings.Contains(line, "with --resume") // how a run that stopped says it
	}
	v.Resumable = (r.state == interrupted || r.state == failed) && r.Verb == "generate" &&
		slices.ContainsFunc(r.talk, resume)
	if v.Resumable && r.state == failed { // by another run than this one
		v.Meaning = "A run like this was begun, and broke off. What it cost is spent, and is enough to " +
			"finish it."
	}
	return v
}

// runs are those that this page has begun.
type runs struct {
	program program
	folder  *os.Root
	mu      sync.Mutex
	all     []*run
	closed  bool
}

// mostWorking runs go on at once: each takes the memory and the processors of a fit.
const mostWorking = 3

// start begins a run. Two runs that write one file are refused.
func (a *runs) start(verb string, args, outputs []string, c choice) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, problemf("decoy serve is ending")
	}
	busy := 0
	for _, other := range a.all {
		if !other.view().Working {
			continue
		}
		busy++
		for _, name := range outputs {
			if slices.Contains(other.Outputs, name) {
				return nil, problemf("a run that writes %s is under way", name)
			}
		}
	}
	if busy == mostWorking {
		return nil, problemf("%d runs are under way, the most at a time: wait for one to end, or "+
			"stop one", busy)
	}
	r := &run{ID: strconv.Itoa(len(a.all) + 1), Verb: verb, Args: args, Outputs: outputs, Choice: c,
		done: make(chan struct{})}
	cmd := a.program.command(context.Background(), args...)
	prepare(cmd)
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.cmd = cmd
	a.all = append(a.all, r)
	go r.follow(errs, a.folder)
	return r, nil
}

// last is the last run of which is says so, or nil.
func (a *runs) last(is func(view) bool) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range slices.Backward(a.all) {
		if is(r.view()) {
			return r
		}
	}
	return nil
}

func (a *runs) find(id string) *run { return a.last(func(v view) bool { return v.ID == id }) }

// list is newest first.
func (a *runs) list() (out []view) {
	a.last(func(v view) bool {
		out = append(out, v)
		return false
	})
	return out
}

// of is the last finished run that wrote a file, or nil.
func (a *runs) of(output string) *run {
	return a.last(func(v view) bool { return slices.Contains(v.Outputs, output) })
}

// stop interrupts what is under way and waits for it.
func (a *runs) stop() {
	a.mu.Lock()
	a.closed = true
	all := slices.Clone(a.all)
	a.mu.Unlock()
	for _, r := range all {
		r.interrupt()
	}
	for _, r := range all {
		<-r.done
	}
}

var progressLine = regexp.MustCompile(`^(.{1,200}): (\d{1,3}) %$`)

const mostTalk = 200 // lines that are kept of one run

// follow reads what the process says, to its end.
func (r *run) follow(errs io.Reader, folder *os.Root) {
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		line := lines.Text()
		r.mu.Lock()
		if m := progressLine.FindStringSubmatch(line); m != nil {
			r.stage = m[1]
			r.percent, _ = strconv.Atoi(m[2])
		} else if text := said(line); text != "" && len(r.talk) < mostTalk {
			r.talk = append(r.talk, text)
		}
		r.mu.Unlock()
	}
	io.Copy(io.Discard, errs) // after a line that is too long
	err := r.cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(r.done)
	var exit *exec.ExitError
	switch {
	case err == nil:
		r.state, r.percent, r.wrote = finished, 100, map[string]fs.FileInfo{}
		for _, name := range r.Outputs {
			if info, err := folder.Lstat(name); err == nil {
				r.wrote[name] = info
			}
		}
	case r.state == stopping:
		r.state = interrupted
	case errors.As(err, &exit):
		r.state, r.code = failed, exit.ExitCode()
	default:
		r.state = failed
	}
}

// left reports whether an output is still the file that the run wrote: whoever has put another in
// its place since may have taken a private one.
func (r *run) left(folder *os.Root, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.wrote[name]
	is, err := folder.Lstat(name)
	return was != nil && err == nil && os.SameFile(was, is) && was.Size() == is.Size() &&
		was.ModTime().Equal(is.ModTime())
}

// interrupt asks a run to stop, as Ctrl-C does.
func (r *run) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == working {
		r.state = stopping
		interruptProcess(r.cmd.Process)
	}
}

// wait gives a run that is soon done the time to be.
func (r *run) wait(d time.Duration) {
	select {
	case <-r.done:
	case <-time.After(d):
	}
}
