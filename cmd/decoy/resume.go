package main

import (
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
)

// checkpointOf is the checkpoint of a run whose result goes to path, "" where it cannot have one: standard output has no place beside it.
func checkpointOf(path string) string {
	if path == standard || path == "" {
		return ""
	}
	return path + ".checkpoint"
}

// interrupted finds out whether the run's output was begun before, by a run that was killed. Without --resume that is an error: starting anew would pay twice.
func (j *job) interrupted(checkpoint string) error {
	if checkpoint == "" || j.ledger == nil {
		if j.resume {
			return usagef("--resume: a run is continued from the file OUT.checkpoint and its ledger; this one would have neither")
		}
		return nil
	}
	c, found, err := synth.Interrupted(checkpoint, j.ledger)
	switch {
	case err != nil:
		return fmt.Errorf("%w; remove %s to start a new run, which costs its own budget", err, checkpoint)
	case j.resume && !found:
		return usagef("--resume: %s holds no run of %s that was interrupted", checkpoint, j.ledger.Path())
	case !j.resume && found:
		return usagef("run %s (%s) was interrupted, and its budget is spent: continue it with --resume, or remove %s to start a new run, which costs its own budget",
			c.Run, c.Method, checkpoint)
	case found:
		j.t.say("continuing run %s", c.Run)
	}
	return nil
}

// resumeHint says what to do with a run that cannot be continued as it was asked.
func resumeHint(err error) error {
	if errors.Is(err, privacy.ErrResume) {
		return fmt.Errorf("%w (a run is continued with the input, schema, settings, epsilon and delta that it was started with)", err)
	}
	return err
}
