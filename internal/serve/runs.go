package serve

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A run is a verb that takes its time: a process of its own, which goes on when the browser is
// closed.
type run struct {
	args    []string // the command line
	outputs []string // files that it writes
	done    chan struct{}
	cmd     *exec.Cmd

	mu    sync.Mutex
	state view
	wrote map[string]fs.FileInfo // of its outputs, when it was done
}

// view is a run as a page shows it.
type view struct {
	ID, Verb, Command  string
	Choice             choice // what the person chose
	Stage, State       string
	Percent            int
	Working, Resumable bool
	Talk               []string // lines of standard error that are not progress
	Outputs            []string // that may be downloaded: none before it is done
	Meaning            string   // of the exit code
}

// The states of a run.
const (
	running  = "running"
	stopping = "stopping"
	done     = "done"
	failed   = "failed"
	stopped  = "stopped"
)

// meanings of exit codes, for a page.
var meanings = map[int]string{
	2:        "Something in the settings or the schema is not right. Nothing was spent.",
	10:       "The ledger's limit would be exceeded. No row was read.",
	11:       "Another run kept the ledger locked. Try again in a moment.",
	exitData: "The table does not fit the schema.",
}

const exitData = 12

// now is the run as it is at this moment.
func (r *run) now() view {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.state
	v.Talk = slices.Clone(v.Talk)
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
		if !other.now().Working {
			continue
		}
		busy++
		for _, name := range outputs {
			if slices.Contains(other.outputs, name) {
				return nil, problemf("a run that writes %s is under way", name)
			}
		}
	}
	if busy == mostWorking {
		return nil, problemf("%d runs are under way, the most at a time: wait for one to end, or "+
			"stop one", busy)
	}
	r := &run{args: args, outputs: outputs, done: make(chan struct{}),
		cmd: a.program.command(context.Background(), args...),
		state: view{ID: strconv.Itoa(len(a.all) + 1), Verb: verb, Command: shown(args), Choice: c,
			State: running, Working: true}}
	prepare(r.cmd)
	errs, err := r.cmd.StderrPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	a.all = append(a.all, r)
	go r.follow(errs, a.folder)
	return r, nil
}

// last is the last run of which is says so, or nil.
func (a *runs) last(is func(view) bool) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range slices.Backward(a.all) {
		if is(r.now()) {
			return r
		}
	}
	return nil
}

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
		r.mu.Lock()
		if m := progressLine.FindStringSubmatch(lines.Text()); m != nil {
			r.state.Stage = m[1]
			r.state.Percent, _ = strconv.Atoi(m[2])
		} else if text := said(lines.Text()); text != "" && len(r.state.Talk) < mostTalk {
			r.state.Talk = append(r.state.Talk, text)
		}
		r.mu.Unlock()
	}
	io.Copy(io.Discard, errs) // after a line that is too long
	err := r.cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(r.done)
	r.end(err, folder)
}

// end is the state after the process.
func (r *run) end(err error, folder *os.Root) {
	v := &r.state
	v.Working = false
	if err == nil {
		v.State, v.Percent, v.Outputs = done, 100, r.outputs
		r.wrote = map[string]fs.FileInfo{}
		for _, name := range r.outputs {
			if info, err := folder.Lstat(name); err == nil {
				r.wrote[name] = info
			}
		}
		return
	}
	v.Resumable = v.Verb == "generate" && slices.ContainsFunc(v.Talk, func(line string) bool {
		return strings.Contains(line, "with --resume") // how a run that stopped says it
	})
	code := r.cmd.ProcessState.ExitCode()
	switch {
	case v.State == stopping:
		v.State = stopped
		return
	case v.Resumable: // by another run than this one
		v.Meaning = "A run like this was begun, and broke off. What it cost is spent, and is enough to " +
			"finish it."
	case code == exitData && v.Verb == "generate" && v.Choice.Bought():
		v.Meaning = "The table could not be read as it is."
	default:
		v.Meaning = meanings[code]
	}
	v.State = failed
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
	if r.state.State == running {
		r.state.State = stopping
		interruptProcess(r.cmd.Process)
	}
}
