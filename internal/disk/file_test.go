package disk

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries := stattest.Must(os.ReadDir(dir))
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func content(t *testing.T, path string) string {
	t.Helper()
	b := stattest.Must(os.ReadFile(path))
	return string(b)
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	stattest.Check(t, os.WriteFile(path, []byte(text), 0o644))
}

// deadPID is the number of a process that has ended and been waited for.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	stattest.Check(t, cmd.Run())
	return cmd.Process.Pid
}

func TestCommitReplaces(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	writeText(t, target, "old")
	f := stattest.Must(Create(target, 0o644))
	defer f.Abort()
	fmt.Fprint(f, "new")
	if got := content(t, target); got != "old" {
		t.Errorf("before Commit the target holds %q, want old", got)
	}
	if got, want := names(t, dir), fmt.Sprintf(".out.csv.decoy-%d.tmp out.csv",
		os.Getpid()); got != want {
		t.Errorf("directory: %s, want %s", got, want)
	}
	stattest.Check(t, f.Commit())
	f.Abort() // does nothing now
	if got := content(t, target); got != "new" {
		t.Errorf("the target holds %q, want new", got)
	}
	if got := names(t, dir); got != "out.csv" {
		t.Errorf("directory: %s, want out.csv alone", got)
	}
	stattest.Fails(t, f.Commit(), "a second Commit was accepted")
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f := stattest.Must(Create(filepath.Join(dir, "out.csv"), 0o644))
	fmt.Fprint(f, "half")
	f.Abort()
	if got := names(t, dir); got != "" {
		t.Errorf("directory: %s, want nothing", got)
	}
}

func TestStaleTemporaries(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	dead, own, parent := deadPID(t), os.Getpid(), os.Getppid()
	for _, pid := range []int{dead, own, parent} {
		writeText(t, temporary(target, pid), "half")
	}
	beside := target + ".model" // of the same process as target
	for _, pid := range []int{dead, own, parent} {
		writeText(t, temporary(beside, pid), "half")
	}
	writeText(t, filepath.Join(dir, fmt.Sprintf(".out.csv.decoy-%d.txt", dead)), "somebody's")
	writeText(t, filepath.Join(dir, fmt.Sprintf(".other.csv.decoy-%d.tmp", dead)), "another target's")
	f := stattest.Must(Create(target, 0o644))
	stattest.Check(t, f.Commit())
	got := names(t, dir)
	for _, c := range []struct {
		name string
		keep bool
	}{
		{filepath.Base(temporary(target, dead)), false},
		{filepath.Base(temporary(target, own)), false},
		{filepath.Base(temporary(target, parent)), true},
		{filepath.Base(temporary(beside, dead)), false},
		{filepath.Base(temporary(beside, own)), true},
		{filepath.Base(temporary(beside, parent)), true},
		{fmt.Sprintf(".out.csv.decoy-%d.txt", dead), true},
		{fmt.Sprintf(".other.csv.decoy-%d.tmp", dead), true},
		{"out.csv", true},
	} {
		if there := strings.Contains(got, c.name); there != c.keep {
			t.Errorf("%s there: %v, want %v", c.name, there, c.keep)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Skip("no symbolic links here")
	}
	whole := filepath.Join(dir, "whole")
	writeText(t, filepath.Join(dir, "file"), "old")
	stattest.Check(t, os.Symlink("file", whole))
	for _, c := range []struct{ name, target, want string }{
		{"directory", dir, "not a regular file"},
		{"no such directory", filepath.Join(dir, "none", "out.csv"), "no such"},
		{"dangling link", link, "a symbolic link"},
		{"link", whole, "a symbolic link"},
		{"device", os.DevNull, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.name != "directory" {
				t.Skip("the message differs")
			}
			f, err := Create(c.target, 0o644)
			if err == nil {
				f.Abort()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.target) ||
				strings.Contains(err.Error(), ".tmp") {
				t.Errorf("error %q, want %q and the target's name in it, not the temporary's", err, c.want)
			}
		})
	}
}

// TestModeIsKept: a file that is replaced keeps its permissions, and what is secret stays so.
func TestModeIsKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions")
	}
	for _, c := range []struct{ old, perm, want os.FileMode }{
		{0o600, 0o644, 0o600}, {0o666, 0o644, 0o666}, {0o640, 0o644, 0o640}, {0o644, 0o600, 0o600},
		{0o400, 0o600, 0o400},
	} {
		target := filepath.Join(t.TempDir(), "out.csv")
		writeText(t, target, "old")
		stattest.Check(t, os.Chmod(target, c.old))
		f := stattest.Must(Create(target, c.perm))
		stattest.Check(t, f.Commit())
		if info, err := os.Stat(target); err != nil || info.Mode() != c.want {
			t.Errorf("%v written with %v is %v, want %v (%v)", c.old, c.perm, info.Mode(), c.want, err)
		}
	}
}

func TestCreateNew(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	f, err := CreateNew(target, 0o644)
	stattest.Check(t, err)
	writeText(t, target, "of another process")
	stattest.Wraps(t, f.Commit(), fs.ErrExist, "Commit over a file that came in between")
	stattest.Wraps(t, stattest.Err(CreateNew(target, 0o644)), fs.ErrExist, "CreateNew over a file")
	if content(t, target) != "of another process" || names(t, dir) != "out.csv" {
		t.Errorf("the file holds %q, the directory %s", content(t, target), names(t, dir))
	}
	os.Remove(target)
	if f, err = CreateNew(target, 0o644); err == nil {
		err = f.Commit()
	}
	if err != nil || content(t, target) != "" {
		t.Errorf("CreateNew where nothing is: %v", err)
	}
}

// TestItself: a file of the same content may be there when the new one is complete, and may have
// been from the beginning; another one stays.
func TestItself(t *testing.T) {
	target := filepath.Join(t.TempDir(), "out.csv")
	for _, before := range []string{"none", "same", "mine", "longer than it"} {
		os.Remove(target)
		if before != "none" {
			writeText(t, target, before)
		}
		f := stattest.Must(Create(target, 0o644))
		f.Itself()
		fmt.Fprint(f, "same")
		err, want := f.Commit(), before
		if before == "none" || before == "same" {
			want = "same"
			stattest.Check(t, err)
		} else {
			stattest.Wraps(t, err, fs.ErrExist, "Commit over %q", before)
		}
		if got := content(t, target); got != want || names(t, filepath.Dir(target)) != "out.csv" {
			t.Errorf("over %s: %q is there, want %q, in %s", before, got, want,
				names(t, filepath.Dir(target)))
		}
	}
}

func TestErrorsNameTheTarget(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "out.csv")
	f := stattest.Must(Create(target, 0o644))
	f.f.Close() // as a device that fails
	_, werr := f.Write([]byte("x"))
	for _, err := range []error{werr, f.Commit()} {
		if err == nil || !strings.Contains(err.Error(), "writing "+target) ||
			strings.Contains(err.Error(), ".tmp") {
			t.Errorf("error %v, want it to name %s only", err, target)
		}
	}
	if got := names(t, dir); got != "" {
		t.Errorf("directory: %s, want nothing", got)
	}
}

// TestEnded: a process that has ended, and that its parent has not waited for, is gone.
func TestEnded(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the system does not tell the state of a process")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	stattest.Check(t, cmd.Start())
	for alive(cmd.Process.Pid) { // until it has ended
		time.Sleep(time.Millisecond)
	}
	stattest.Check(t, cmd.Wait())
}

func TestAlive(t *testing.T) {
	for _, c := range []struct {
		name string
		pid  int
		want bool
	}{{"own", os.Getpid(), true}, {"parent", os.Getppid(), true}, {"ended", deadPID(t), false},
		{"zero", 0, false}, {"negative", -1, false}} {
		if got := alive(c.pid); got != c.want {
			t.Errorf("%s: alive(%d) = %v, want %v", c.name, c.pid, got, c.want)
		}
	}
}
