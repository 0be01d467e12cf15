//go:build faults && unix

package disk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain is the process under test when it is given a folder: it passes five points there.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DISK_TEST"); dir != "" {
		scenario(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func scenario(dir string) {
	note := func(what string, err error) {
		switch {
		case errors.Is(err, syscall.ENOSPC):
			os.Stdout.WriteString(what + " is full\n")
		case err != nil:
			os.Stdout.WriteString(what + " failed\n")
		}
	}
	one := filepath.Join(dir, "one")
	f, err := OpenFile(one, os.O_CREATE|os.O_WRONLY, 0o600)
	note("create", err)
	if f != nil {
		n, err := Write(f, []byte("four"))
		note("write", err)
		if n != 4 && err == nil {
			os.Stdout.WriteString("short write\n")
		}
		note("sync", Sync(f))
	}
	note("rename", step("rename", "two", func() error { return os.Rename(one, dir+"/two") }))
	note("remove", Remove(filepath.Join(dir, "old")))
}

func TestFaults(t *testing.T) {
	const points = "create one\nwrite one\nsync one\nrename two\nremove old\n"
	for _, c := range []struct {
		fault, said, left string // what is in the folder at the end, by name and content
		died              bool
	}{
		{"", "", "two=four", false},
		{"9:kill", "", "two=four", false},
		{"1:kill", "", "old=", true},
		{"1:after", "", "old= one=", true},
		{"2:half", "", "old= one=fo", true},
		{"2:after", "", "old= one=four", true},
		{"4:half", "", "old= one=four", true},
		{"5:kill", "", "old= two=four", true},
		{"5:after", "", "two=four", true},
		{"2:eio", "write failed\n", "two=fo", false},
		{"4:eio", "rename failed\n", "one=four", false},
		{"2:enospc", "write is full\nsync is full\nrename is full\n", "one=fo", false},
		{"5:enospc", "", "two=four", false},
		{"3:term", "", "old= one=four", true},
		{"3:hup", "", "old= one=four", true},
	} {
		t.Run(c.fault, func(t *testing.T) {
			dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "DISK_TEST="+dir, "DISK_FAULT="+c.fault, "DISK_FAULT_LOG="+log)
			said, err := cmd.Output()
			if died := err != nil; died != c.died || string(said) != c.said {
				t.Errorf("died: %v (%v), said %q; want %v, %q", died, err, said, c.died, c.said)
			}
			var left []string
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
				left = append(left, e.Name()+"="+string(b))
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
			b, _ := os.ReadFile(log)
			if got := string(b); !strings.HasPrefix(points, got) || !c.died && got != points {
				t.Errorf("points %q, want %q or its beginning", got, points)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	dir, keep := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DISK_TEST="+dir, "DISK_FAULT_KEEP="+keep)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(keep, "old")); err != nil || string(b) != "old" {
		t.Errorf("the removed file was not kept: %q, %v", b, err)
	}
}
