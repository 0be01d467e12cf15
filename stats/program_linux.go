package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// hold is what a shell does before it becomes the program: limits of CPU seconds, memory and core
// files, a root file system that cannot be written, and an empty one in memory for temporary files.
// The arguments are the limits, then the program. What it says is thrown away.
const hold = `ulimit -c 0 && ulimit -t "$1" && ulimit -v "$2" && mount -o remount,bind,ro / &&
mount -t tmpfs -o size=256m,mode=700 none /dev/shm && shift 2 && exec "$@"`

// maxAnswer is how many bytes a program may print.
const maxAnswer = 256

// Program is the statistic that a program of the user's prints as one line of one number, given a
// block as CSV on standard input. It runs in namespaces of its own, without a network, other
// processes or a root file system that it can write; its folder for temporary files is in memory.
// All of that ends with it. One runs at a time, so that none takes another's time. Whatever else it
// does (it fails, takes longer than the limit, prints anything else) is the middle of the range,
// and nothing but the number leaves it. Errors wrap ErrStatistic: there is no such program, or the
// system does not permit such namespaces.
func Program(command []string, limits Limits) (Statistic, error) {
	name := "program:" + strings.Join(command, " ")
	out := Statistic{Statistic: vote.Statistic{Name: name}, Rows: 100}
	fail := func(format string, args ...any) (Statistic, error) {
		return out, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrStatistic)
	}
	if len(command) == 0 || limits.Time <= 0 || limits.MiB < 1 {
		return fail("a program needs a command, time and memory")
	}
	path, err := exec.LookPath(command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fail("%s: there is no such program", command[0])
	}
	r := &runner{command: append([]string{path}, command[1:]...), limits: limits}
	probe := &runner{command: []string{"/bin/sh", "-c", "echo 1"}, limits: Limits{10 * time.Second,
		256}}
	if x := probe.answer(nil); x != 1 {
		return fail("this system does not permit what keeps a program apart (user namespaces, and " +
			"mounts in them): in a container allow them, or take one of the statistics that need none")
	}
	out.Of = r.value
	return out, nil
}

// runner runs a program, once at a time.
type runner struct {
	command []string
	limits  Limits
	mu      sync.Mutex
}

// value is the program's number for a block, NaN for whatever else it did.
func (r *runner) value(t *table.Table) float64 {
	var text bytes.Buffer
	w, err := table.NewWriter(&text, table.CSV, t.Schema(), rand.New(rand.NewPCG(1, 1)),
		table.WriterOptions{})
	if err == nil {
		err = errors.Join(w.Write(t), w.Close())
	}
	if err != nil {
		return math.NaN()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer(text.Bytes())
}

// answer runs the program on a text.
func (r *runner) answer(text []byte) float64 {
	// the program dies with the thread that started it
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithTimeout(context.Background(), r.limits.Time)
	defer stop()
	seconds := int(math.Ceil(r.limits.Time.Seconds())) + 1
	args := append([]string{"-c", hold, "sh", strconv.Itoa(seconds), strconv.Itoa(r.limits.MiB << 10)},
		r.command...)
	cmd := exec.CommandContext(ctx, "/bin/sh", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/dev/shm", "TMPDIR=/dev/shm",
		"LC_ALL=C.UTF-8"}
	cmd.Stdin = bytes.NewReader(text)
	var said answer
	cmd.Stdout = &said
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if cmd.Run() != nil {
		return math.NaN()
	}
	line := strings.TrimSuffix(string(said), "\n")
	x, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil || strings.Contains(line, "\n") || math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// answer keeps what a program prints, and breaks off one that prints too much.
type answer []byte

func (a *answer) Write(p []byte) (int, error) {
	if len(*a)+len(p) > maxAnswer {
		return 0, errors.New("too long")
	}
	*a = append(*a, p...)
	return len(p), nil
}
