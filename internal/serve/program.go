package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"time"
)

// program is decoy itself, run in the folder.
type program struct {
	path, dir string
	turns     chan struct{} // one is taken by each short verb that runs
}

// atOnce short verbs run at a time, however many a browser asks for.
const atOnce = 2

func newProgram(path, dir string) program {
	return program{path, dir, make(chan struct{}, atOnce)}
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

// ask runs a verb that is soon done, and decodes into a value what it prints with --json; nil: what
// it prints is not looked at. The talk is the lines of its standard error. What the browser gives
// up while it waits for its turn is never begun.
func (p program) ask(ctx context.Context, into any, args ...string) (talk []string, err error) {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if into != nil {
		args = append(args, "--json")
	}
	cmd := p.command(limited, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	for line := range strings.Lines(errs.String()) {
		if line = said(line); line != "" {
			talk = append(talk, line)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && talk != nil:
		return nil, problem(strings.Join(talk, "\n"))
	case err == nil && into != nil:
		err = json.Unmarshal(out.Bytes(), into)
	}
	return talk, err
}

// said is a line that the program wrote on standard error, for a person at a page: without its name
// before it, and without a pointer to --help.
func said(line string) string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "decoy: ")
	line, _, _ = strings.Cut(line, "; see 'decoy ")
	return line
}

// shown is the command line as a person would type it.
func shown(args []string) string {
	const plain = "-_./=:,+@%0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	text := "decoy"
	for _, a := range args {
		if a == "" || strings.Trim(a, plain) != "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		text += " " + a
	}
	return text
}
