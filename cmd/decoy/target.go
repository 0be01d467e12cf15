package main

import (
	"io"
	"io/fs"

	"github.com/decoy-dp/decoy/internal/job"
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
	if o == nil {
		return nil
	}
	if err := to(o); err != nil {
		return err
	}
	if err := o.Commit(); err != nil || !o.IsFile() {
		return err
	}
	t.say("wrote %s%s", o.Name(), note)
	return nil
}

// write makes an output of what to writes.
func (t *terminal) write(flag, path string, to func(io.Writer) error) error {
	o, err := t.create(flag, path, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer o.Abort()
	return t.deliver(o, "", to)
}

// writeText is write of a text.
func (t *terminal) writeText(flag, path string, text []byte) error {
	return t.write(flag, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
