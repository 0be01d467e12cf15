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

// ask is hear without what it hears.
func (p program) ask(ctx context.Context, into any, args ...string) error {
	_, err := p.hear(ctx, into, args...)
	return err
}

// hear runs a verb that is soon done, and decodes what it prints with --json. The talk is the lines
// of its standard error. What the browser gives up while it waits for its turn is never begun.
func (p program) hear(ctx context.Context, into any, args ...string) (talk []string, err error) {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := p.command(limited, append(args, "--json")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	text := said(errs.String())
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && text != "":
		return nil, problem{text}
	case err != nil:
		return nil, err
	case text != "":
		talk = strings.Split(text, "\n")
	}
	if into != nil {
		err = json.Unmarshal(out.Bytes(), into)
	}
	return talk, err
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
	special := func(r rune) bool {
		return !strings.ContainsRune("-_./=:,+@%", r) && (r < '0' || r > 'z' || r > '9' && r < 'A' ||
			r > 'Z' && r < 'a')
	}
	if a != "" && !strings.ContainsFunc(a, special) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
