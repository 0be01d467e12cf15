//go:build unix

package serve

import (
	"os"
	"os/exec"
	"syscall"
)

// prepare keeps Ctrl-C at the terminal from reaching a run twice: the server passes it on.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interruptProcess(p *os.Process) { p.Signal(os.Interrupt) }
