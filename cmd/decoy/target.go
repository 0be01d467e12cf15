package main

import (
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/atomicfile"
	"github.com/decoy-dp/decoy/internal/job"
)

// target is an output of a verb in the making: a file that appears when it is complete, or standard
// output.
type target struct {
	io.Writer
	path string
	file *atomicfile.File // nil for standard output
}

// create starts the output that a flag names.
func (t *terminal) create(flag, path string, perm fs.FileMode) (*target, error) {
	if path == job.Standard {
		return &target{Writer: t.stdout, path: path}, job.CheckOpen(t.stdout)
	}
	f, err := job.Create(flag, path, perm, t.force)
	return &target{Writer: f, path: path, file: f}, err
}

// Commit completes the output.
func (o *target) Commit() error {
	if o.file == nil {
		return nil
	}
	return o.file.Commit()
}

// Abort leaves no trace of a file that was not completed.
func (o *target) Abort() {
	if o.file != nil {
		o.file.Abort()
	}
}

// write makes an output of what to writes.
func (t *terminal) write(flag, path string, to func(io.Writer) error) error {
	o, err := t.create(flag, path, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer o.Abort()
	if err := to(o); err != nil {
		return err
	}
	if err := o.Commit(); err != nil || o.file == nil {
		return err
	}
	t.say("wrote %s", path)
	return nil
}

// addForce is the flag of the verbs that write files.
func addForce(cmd *cobra.Command, t *terminal) {
	cmd.Flags().BoolVar(&t.force, "force", false, "replace outputs that are there; a link, a pipe, a "+
		"device or a folder is refused all the same")
}
