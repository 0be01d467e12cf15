package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// program is decoy itself, run in the folder.
type program struct {
	path, dir string
	asked     *questions
}

func newProgram(path, dir string) program {
	return program{path, dir, &questions{turns: make(chan struct{}, atOnce),
		waiting: map[string]*question{}}}
}

// atOnce short verbs run at a time, however many a browser asks for.
const atOnce = 2

// questions are the short verbs that pages ask for. Those that wait for a turn with the same
// command line are one process; who asks when that has begun gets another, with a newer answer.
type questions struct {
	turns   chan struct{}
	mu      sync.Mutex
	waiting map[string]*question // by command line
}

type question struct {
	askers    int // that still want to know; with none the process ends
	cancel    context.CancelFunc
	done      chan struct{}
	out, errs bytes.Buffer
	err       error
}

// run runs a short verb, or shares one that waits for its turn.
func (p program) run(ctx context.Context, args []string) (*question, error) {
	a, line := p.asked, strings.Join(args, "\x00")
	a.mu.Lock()
	q := a.waiting[line]
	if q == nil {
		q = &question{done: make(chan struct{})}
		var own context.Context
		own, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
		a.waiting[line] = q
		go func() {
			defer close(q.done)
			defer q.cancel()
			select {
			case a.turns <- struct{}{}:
				defer func() { <-a.turns }()
			case <-own.Done():
			}
			a.leave(line, q)
			own, cancel := context.WithTimeout(own, 30*time.Second)
			defer cancel()
			cmd := p.command(own, args...)
			cmd.Stdout, cmd.Stderr = &q.out, &q.errs
			q.err = cmd.Run() // which starts nothing after the context's end
		}()
	}
	q.askers++
	a.mu.Unlock()
	select {
	case <-q.done:
		return q, q.err
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.askers--; q.askers == 0 {
		q.cancel()
		if a.waiting[line] == q {
			delete(a.waiting, line)
		}
	}
	return q, ctx.Err()
}

// leave takes a question out of those that wait.
func (a *questions) leave(line string, q *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting[line] == q {
		delete(a.waiting, line)
	}
}

// command is one run of the program. DECOY_ variables, which stand for flags, do not reach it: what
// is run is the command line that is shown.
func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = p.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DECOY_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// ask is hear without what it hears.
func (p program) ask(ctx context.Context, into any, args ...string) error {
	_, err := p.hear(ctx, into, args...)
	return err
}

// hear runs a verb that is soon done, and decodes what it prints with --json. The talk is the lines
// of its standard error.
func (p program) hear(ctx context.Context, into any, args ...string) (talk []string, err error) {
	q, err := p.run(ctx, append(args, "--json"))
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // the browser asks no more
	}
	if err != nil {
		if text := said(q.errs.String()); text != "" {
			return nil, problem{text}
		}
		return nil, err
	}
	if text := said(q.errs.String()); text != "" {
		talk = strings.Split(text, "\n")
	}
	if into == nil {
		return talk, nil
	}
	return talk, json.Unmarshal(q.out.Bytes(), into)
}

// said is what the program wrote on standard error, for a person at a page: without its name before
// each line, and without a pointer to --help.
func said(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "decoy: ")
		line, _, _ = strings.Cut(line, "; see 'decoy ")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shown is the command line as a person would type it.
func shown(args []string) string {
	out := []string{"decoy"}
	for _, a := range args {
		out = append(out, quoted(a))
	}
	return strings.Join(out, " ")
}

func quoted(a string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,+@%", r)
	}
	if a != "" && strings.IndexFunc(a, func(r rune) bool { return !plain(r) }) < 0 {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
