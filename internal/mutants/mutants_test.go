// Package mutants breaks the privacy core on purpose, one line at a time, and asks that a test
// notices. A mutant that survives is a hole in the tests. It compiles the core anew for each
// mutant, so it runs only with -long:
//
//	go test ./internal/mutants -args -long
//
// A test that fails without a mutant, too, shows nothing, so each is run without one first. Where
// all tests have just passed, -passed leaves that at one test a package, which shows that the
// mutants are woven in as they should be, and saves a third of what the runs take.
package mutants

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var long = flag.Bool("long", false, "run the mutants: some minutes")
var pass = flag.Bool("passed", false, "all tests have passed without mutants")

// mutant is one edit of mutants.txt. The old text must occur exactly once in the file, so that a
// mutant cannot go stale unnoticed.
type mutant struct {
	name string
	edit
	tests string // package and test that must notice
}

//go:embed mutants.txt
var list string

// mutants are those of the list.
var mutants = parse(list)

// parse reads the list. Lines that it does not know are a panic.
func parse(list string) (out []mutant) {
	for _, part := range strings.Split(list, "\n== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		m := mutant{name: name}
		var old, changed []string
		for line := range strings.Lines(body) {
			switch line = strings.TrimSuffix(line, "\n"); {
			case strings.HasPrefix(line, "in "):
				m.file = line[3:]
			case strings.HasPrefix(line, "by "):
				m.tests = line[3:]
			case strings.HasPrefix(line, "-"):
				old = append(old, line[1:])
			case strings.HasPrefix(line, "+"):
				changed = append(changed, line[1:])
			case line != "" && line[0] != '#':
				panic(name + ": " + line)
			}
		}
		m.old, m.new = strings.Join(old, "\n"), strings.Join(changed, "\n")
		out = append(out, m)
	}
	return out
}

// tags are those of packages whose tests need one.
var tags = map[string]string{"./internal/kill": "faults", "./internal/replay": "seam"}

// TestMutantsAreFresh checks that every edit still fits the source, without running any.
func TestMutantsAreFresh(t *testing.T) {
	for _, m := range mutants {
		fits(t, m.name, m.file, m.old)
		folder, test, ok := strings.Cut(m.tests, " ")
		test, _, _ = strings.Cut(test, "/") // of a part of a test, the whole
		if !ok || !hasTest(t, folder, test) {
			t.Errorf("%s: %q is not a package and a test of it", m.name, m.tests)
		}
	}
	for _, m := range audited {
		for _, e := range m.edits {
			fits(t, m.name, e.file, e.old)
		}
	}
}

// hasTest reports whether a package has the test.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(folder), "*_test.go"))
	stattest.Check(t, err)
	for _, path := range files {
		src := stattest.Must(os.ReadFile(path))
		if strings.Contains(string(src), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// fits reports a text that does not occur exactly once in a file.
func fits(t *testing.T, name, file, old string) {
	t.Helper()
	src := stattest.Must(os.ReadFile(filepath.Join("../..", filepath.FromSlash(file))))
	if n := strings.Count(string(src), old); n != 1 {
		t.Errorf("%s: the text to change occurs %d times in %s", name, n, file)
	}
}

// TestMutantsAreCaught builds the tests of each package once, with all mutants that they must
// notice, and once more for each mutant that cannot be one of many.
func TestMutantsAreCaught(t *testing.T) {
	if !*long {
		t.Skip("skipped: runs with -args -long")
	}
	root := stattest.Must(filepath.Abs("../.."))
	dir := t.TempDir()
	chosen := map[string][]edit{}    // by -run
	programs := map[string]*tester{} // of each folder
	var alone []string
	weaving := sync.OnceValue(func() error {
		overlay, rest, err := weave(root, dir, chosen)
		if err != nil {
			return err
		}
		alone = rest
		limit, errs := make(chan bool, runtime.GOMAXPROCS(0)), make(chan error)
		for folder, p := range programs {
			p.overlay, p.path = overlay, filepath.Join(dir, strings.ReplaceAll(folder, "/", "_"))
			go func() {
				limit <- true
				errs <- p.build(root, folder)
				<-limit
			}()
		}
		for range programs {
			err = errors.Join(err, <-errs)
		}
		return err
	})
	var passed sync.Map // tests that were run without a mutant
	var said sync.Once  // why nothing compiles
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			fits(t, m.name, m.file, m.old)
			folder, test, _ := strings.Cut(m.tests, " ")
			chosen[m.name], programs[folder] = []edit{m.edit}, &tester{dir: filepath.Join(root, folder)}
			t.Parallel() // goes on when all are chosen
			if err := weaving(); err != nil {
				said.Do(func() { t.Error(err) })
				t.Fatal("the mutants do not compile, so they show nothing")
			}
			p, name := programs[folder], m.name
			once := map[bool]string{true: folder, false: m.tests}[*pass]
			if slices.Contains(alone, m.name) {
				name = ""
				dir := t.TempDir()
				p = &tester{p.dir, replaced(t, root, dir, chosen[m.name]), filepath.Join(dir, "test")}
				if err := p.build(root, folder); err != nil {
					t.Fatalf("the mutant does not compile, so it shows nothing:\n%v", err)
				}
			} else if _, known := passed.LoadOrStore(once, true); !known && tags[folder] != "faults" {
				if out, err := p.run(test, ""); err != nil {
					t.Errorf("the test fails without a mutant too:\n%s", out)
				}
			}
			out, err := p.run(test, name)
			if err == nil {
				t.Errorf("no test noticed:\n%s", out)
			} else if !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:") {
				t.Errorf("the tests did not run, so this shows nothing:\n%s", out)
			}
		})
	}
}

// tester is a program of a package's tests.
type tester struct {
	dir     string // where they run
	overlay string // also of the programs that they build
	path    string
}

// build makes the program.
func (p *tester) build(root, folder string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+p.overlay,
		"-tags="+tags[folder], "-o", p.path, folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", folder, err, out)
	}
	return nil
}

// run runs a test with a mutant in force.
func (p *tester) run(test, mutant string) (string, error) {
	cmd := exec.Command(p.path, "-test.failfast", "-test.timeout=300s", "-test.run=^"+test+"$")
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), switchName+"="+mutant,
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+p.overlay)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
