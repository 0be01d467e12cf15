//go:build !unix

package serve

import (
	"os"
	"os/exec"
)

func prepare(*exec.Cmd) {}

// interruptProcess ends a run where it stands: its journal is complete at every moment, so that it
// can be resumed all the same.
func interruptProcess(p *os.Process) { p.Kill() }
