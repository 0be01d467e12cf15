package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
)

// create starts the output that a flag names; nil if it names none.
func (t *terminal) create(flag, path string, perm fs.FileMode) (*job.Target, error) {
	if path == "" {
		return nil, nil
	}
	return job.Create(flag, path, t.stdout, perm, t.force)
}

// deliver completes an output with what to writes, and says so; nothing for one that is nil.
func (t *terminal) deliver(o *job.Target, note string, to func(io.Writer) error) error {
	t.shown.finish()
	err := o.Complete(to)
	if err == nil && o.IsFile() {
		t.say("wrote %s%s", o.Name(), note)
	}
	return err
}

// write makes an output of what to writes.
func (t *terminal) write(
	flag, path string, perm fs.FileMode, note string, to func(io.Writer) error,
) error {
	o, err := t.create(flag, path, perm)
	if err != nil {
		return err
	}
	defer o.Abort()
	return t.deliver(o, note, to)
}

// writeText is write of a text.
func (t *terminal) writeText(flag, path string, perm fs.FileMode, text []byte) error {
	return t.write(flag, path, perm, "", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// checkPrivate checks the budget of a verb that buys one result, whose noise is Gaussian.
func (j *jobFlags) checkPrivate() error {
	if err := j.checkBudget(); err != nil {
		return err
	}
	if j.Delta == 0 {
		return usagef("--delta 0: the noise is Gaussian, which needs delta > 0")
	}
	return nil
}

// paid is a run under way that buys one result from a private table.
type paid struct {
	*job.Account
	t     *terminal
	file  *job.Target // of the result; nil if it is printed
	shown *progress
}

// pay begins a run of a verb on input. Its result goes to the file out, which flag names, or else
// to standard output.
func (j *jobFlags) pay(
	t *terminal, l *ledger.File, verb, input, flag, out string,
) (*paid, error) {
	p := &paid{Account: j.account(t, l, input), t: t, shown: t.privateProgress()}
	if p.shown.bar { // plain lines are kept by others, and must not tell of rows
		j.counting = p.shown.of("counting")
	}
	if err := p.Begin(verb, cmp.Or(out, job.Standard)); err != nil {
		return nil, err
	}
	var err error
	p.file, err = t.create(flag, out, job.ReleaseMode)
	return p, err
}

// got says what the result guarantees, and what the ledger holds now.
func (p *paid) got(format string, args ...any) {
	p.t.say("guarantee: "+format, args...)
	p.SayTotal()
}

// end is the end of the run: of one that failed, what became of its budget.
func (p *paid) end(s *privacy.Session, err error) error {
	p.file.Abort()
	if err != nil {
		return p.Explain(err, s != nil)
	}
	p.t.sayIgnored("", s.Report().Ignored)
	return nil
}

// readFile parses a file, which errors name.
func readFile[T any](path string, parse func(io.Reader) (T, error)) (out T, err error) {
	if err := job.Readable(path); err != nil {
		return out, err
	}
	f, err := os.Open(path)
	if err != nil {
		return out, job.Bare(path, err)
	}
	defer f.Close()
	if out, err = parse(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}
