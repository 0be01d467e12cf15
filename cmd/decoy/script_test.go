package main

import (
	"bytes"
	"crypto/rand"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"decoy": main, "minisign": makeKeys})
}

// makeKeys stands for minisign -G -W -p PUB -s KEY.
func makeKeys() {
	if len(os.Args) != 7 || os.Args[1] != "-G" || os.Args[2] != "-W" || os.Args[3] != "-p" ||
		os.Args[5] != "-s" {
		fmt.Fprintln(os.Stderr, "usage: minisign -G -W -p PUB -s KEY")
		os.Exit(2)
	}
	public, secret, err := minisign.GenerateKey(rand.Reader)
	for path, key := range map[string]encoding.TextMarshaler{os.Args[4]: public, os.Args[6]: secret} {
		var text []byte
		if err == nil {
			text, err = key.MarshalText()
		}
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "DECOY_") {
					e.Setenv(name, "")
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "bytes": writeBytes, "truncate": truncateFile, "categories": categories,
			"rows": countRows, "visits": visits, "mostly": mostly,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "tmpfs": // whether this process may mount one, in a name space of its own
				return exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs .").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// exits N COMMAND ARG... runs a command that must exit with code N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := codeOf(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func codeOf(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// mostly N COMMAND ARG... is exits for what noise changes once in some sixty runs: the command has
// three tries, and what a failed one made, but for the ledger, is removed.
func mostly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mostly N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	files := func() []fs.DirEntry {
		files, err := os.ReadDir(ts.MkAbs("."))
		ts.Check(err)
		return files
	}
	before := map[string]bool{}
	for _, f := range files() {
		before[f.Name()] = true
	}
	for range 3 {
		if codeOf(ts, args[1:]) == want {
			return
		}
		for _, f := range files() {
			if !before[f.Name()] && !strings.HasSuffix(f.Name(), ".ledger") {
				ts.Check(os.Remove(ts.MkAbs(f.Name())))
			}
		}
	}
	ts.Fatalf("no exit code %d in three tries", want)
}

// bytes FILE TEXT [N] writes TEXT, a Go string without its quotes in which {} is N letters x.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: bytes FILE TEXT [N]")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		text = strings.Replace(text, "{}", strings.Repeat("x", n), 1)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// truncate FILE N cuts the last N bytes off a file.
func truncateFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-int64(n)))
}

// categories SCHEMA DATA N writes a schema with a column of N categories and a few rows of it.
func categories(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: categories SCHEMA DATA N")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	var s, d bytes.Buffer
	fmt.Fprint(&s, "decoy: 1\ncolumns:\n  - name: sex\n    kind: categorical\n    categories: [f, "+
		"m]\n  - name: code\n    kind: categorical\n    categories:\n")
	fmt.Fprint(&d, "sex,code\n")
	for i := range n {
		fmt.Fprintf(&s, "      - c%05d\n", i)
		if i%5 == 0 {
			fmt.Fprintf(&d, "%c,c%05d\n", "fm"[i%2], i)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), s.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), d.Bytes(), 0o600))
}

// visits [--no-header] FILE N writes N visits, two for each id, with an age and a ward.
func visits(ts *testscript.TestScript, neg bool, args []string) {
	header := "id,age,ward\n"
	if len(args) > 0 && args[0] == "--no-header" {
		header, args = "", args[1:]
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: visits [--no-header] FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	d := bytes.NewBufferString(header)
	for i := range n {
		fmt.Fprintf(d, "p%d,%d,%s\n", i/2, 20+i*7%60, []string{"icu", "medical", "surgical"}[i%3])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), d.Bytes(), 0o600))
}

// rows FILE PATTERN checks that a CSV file has rows, and that each matches the pattern.
func countRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rows FILE PATTERN")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")[1:]
	if len(lines) == 0 {
		ts.Fatalf("%s has no rows", args[0])
	}
	for i, line := range lines {
		if !regexp.MustCompile("^" + args[1] + "$").MatchString(line) {
			ts.Fatalf("%s: row %d %q does not match", args[0], i+1, line)
		}
	}
}
