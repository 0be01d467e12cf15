//go:build unix

package sql

import (
	"os/exec"
	"reflect"
	"syscall"
)

// together has a program end with all that it starts when its context ends and, where the system
// offers that, the program with this one, however this one ends. The goroutine that starts it must
// keep its thread until then.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if f := reflect.ValueOf(cmd.SysProcAttr).Elem().FieldByName("Pdeathsig"); f.IsValid() {
		f.SetInt(int64(syscall.SIGKILL))
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
