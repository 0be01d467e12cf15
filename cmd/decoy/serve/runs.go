package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
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
	view
	args    []string // the command line
	outputs []string // files that it writes
	done    chan struct{}
	stop    context.CancelFunc
}

// view is a run as a page shows it.
type view struct {
	ID, Verb, Command string
	Choice            choice // what the person chose
	Stage, State      string
	Percent           int
	Resumable         bool
	Talk              []string // lines of standard error that are not progress
	Outputs           []string // none before it is done

	Verdicts []struct{ Question, Status string } // of a comparison
	Results  [][]string                          // of a batch, with their heading
}

// The states of a run.
const (
	running  = "running"
	stopping = "stopping"
	done     = "done"
	failed   = "failed"
	stopped  = "stopped"
)

// Working reports whether the process has not ended.
func (v view) Working() bool { return v.State == running || v.State == stopping }

// runs are those that this page has begun. The lock is of all that they are.
type runs struct {
	program program
	ctx     context.Context // of the server
	working sync.WaitGroup
	mu      sync.Mutex
	all     []*run
}

// mostWorking runs go on at once: each takes the memory and the processors of a fit.
const mostWorking = 3

// start begins a run.
func (a *runs) start(verb string, args, outputs []string, c choice) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := 0
	for _, other := range a.all {
		if other.Working() {
			busy++
		}
	}
	if busy == mostWorking {
		return nil, problemf("%d runs are under way, the most at a time: wait for one to end, or "+
			"stop one", busy)
	}
	ctx, stop := context.WithCancel(a.ctx)
	r := &run{args: args, outputs: outputs, done: make(chan struct{}), stop: stop,
		view: view{ID: strconv.Itoa(len(a.all) + 1), Verb: verb, Command: shown(args), Choice: c,
			State: running}}
	cmd := a.program.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	a.all = append(a.all, r)
	a.working.Go(func() { a.follow(r, cmd, errs, &out) })
	return r, nil
}

// now is a run as it is at this moment.
func (a *runs) now(r *run) view {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := r.view
	v.Talk = slices.Clone(v.Talk)
	return v
}

// list is newest first.
func (a *runs) list() (out []view) {
	a.last(func(v view) bool {
		out = append(out, v)
		return false
	})
	return out
}

// last is the last run of which is says so, or nil.
func (a *runs) last(is func(view) bool) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range slices.Backward(a.all) {
		if is(r.view) {
			return r
		}
	}
	return nil
}

// of is the last finished run that wrote a file, or nil.
func (a *runs) of(output string) *run {
	return a.last(func(v view) bool { return slices.Contains(v.Outputs, output) })
}

// interrupt asks a run to stop, as Ctrl-C does.
func (a *runs) interrupt(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.State == running {
		r.State = stopping
		r.stop()
	}
}

var progressLine = regexp.MustCompile(`^(.{1,200}): (\d{1,3}) %$`)

const mostTalk = 200 // lines that are kept of one run

// follow reads what the process says, to its end.
func (a *runs) follow(r *run, cmd *exec.Cmd, errs io.Reader, out *bytes.Buffer) {
	defer close(r.done)
	defer r.stop()
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		a.mu.Lock()
		if m := progressLine.FindStringSubmatch(lines.Text()); m != nil {
			r.Stage = m[1]
			r.Percent, _ = strconv.Atoi(m[2])
		} else if text := said(lines.Text()); text != "" && len(r.Talk) < mostTalk {
			r.Talk = append(r.Talk, text)
		}
		a.mu.Unlock()
	}
	io.Copy(io.Discard, errs) // after a line that is too long
	cmd.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case cmd.ProcessState.Success():
		r.State, r.Percent, r.Outputs = done, 100, r.outputs
		json.Unmarshal(out.Bytes(), &struct{ Summary any }{&r.Verdicts}) // of other verbs it is none
		return
	case r.State == stopping:
		r.State = stopped
	default:
		r.State = failed
	}
	r.Resumable = r.Verb == "generate" && slices.ContainsFunc(r.Talk, func(line string) bool {
		return strings.Contains(line, "with --resume") // how a run that can be continued says it
	})
}
