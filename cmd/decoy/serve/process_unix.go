//go:build unix

package serve

import (
	"os/exec"
	"syscall"
)

// apart keeps Ctrl-C at the terminal from reaching a run twice: the server passes it on.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
