package worker

import (
	"os"
	"os/exec"
)

// testProcess is this test, in a process that is a worker.
func testProcess(test string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run", "^"+test+"$")
	cmd.Env = append(os.Environ(), "DECOY_TEST_WORKER=1")
	return cmd
}
