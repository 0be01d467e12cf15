package arch

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

var long = flag.Bool("long", false, "run the long form of some tests")

var list = flag.String("list", "", "write the functions that TestRoad finds into this folder")

// roadsFile has the caps of TestRoad. After a commit that shortened a road:
//
//	go test ./internal/arch -run TestRoad -args -write
//
// lowers each to what is there, and raises none.
const roadsFile = "roads.txt"

// chance is by how many functions one run of a command may differ from another: which branches are
// taken depends on the noise. In 36 runs of each command they were at most 4.
const chance = 5

// cohort is the number of rows of datasets/cohorts/icu-mortality, on which the commands run.
const cohort = 2085

// roads are the commands. Each begins in the folder in which the ones before have left their
// outputs.
var roads = []struct{ name, args string }{
	{"mst", "generate mortality.csv --method mst --schema mortality.yaml --epsilon 3 --out mst.csv"},
	{"bare", "generate mortality.csv --header-is-public --epsilon 3 --out bare.csv"},
	{"evaluate", "evaluate --train mortality.csv --synthetic mst.csv --schema mortality.yaml"},
}

// road is the functions of this module that a command executes, as FILE NAME, in order. Those in
// always are of every run, those in ever are of one run at least.
type road struct{ always, ever []string }

// TestRoad holds the number of functions that a person follows, when reading what a command does,
// to a cap, and that of their files. A function counts if a run executes a statement of it; one
// that is written inside another is part of that. Each command is run three times. What all runs
// execute must be within the cap; a cap that is lowered becomes what any run executes. Thus chance
// makes no run of the test fail.
//
// With -v it says how many functions and files of each package are on each road. With
//
//	go test ./internal/arch -run TestRoad -args -list DIR
//
// the functions themselves are in DIR/mst.txt, DIR/bare.txt and DIR/evaluate.txt.
func TestRoad(t *testing.T) {
	if !*long && *list == "" && !*write {
		t.Skip("-long: builds the program anew, with counters in it")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "decoy")
	build := exec.Command("go", "build", "-cover", "-coverpkg="+module+"/...", "-trimpath",
		"-buildvcs=false", "-o", program, "./cmd/decoy")
	build.Dir = filepath.Join(dir, "source")
	stattest.Check(t, os.Mkdir(build.Dir, 0o700))
	copyTelling(t, build.Dir)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := map[string]*road{}
	for turn := range 3 {
		work := folder(t, dir, fmt.Sprint(turn))
		for _, r := range roads {
			functions := executed(t, program, work, r.name, r.args)
			if turn == 0 {
				found[r.name] = &road{functions, functions}
				continue
			}
			f := found[r.name]
			f.always = slices.DeleteFunc(slices.Clone(f.always), func(name string) bool {
				_, ok := slices.BinarySearch(functions, name)
				return !ok
			})
			f.ever = slices.Concat(f.ever, functions)
			slices.Sort(f.ever)
			f.ever = slices.Compact(f.ever)
		}
	}
	answer, written := stops(t, program, folder(t, dir, "stops"))
	counts := map[string]count{
		"stops to the noisy answer": {len(answer), len(answer)},
		"stops to the cell written": {len(written), len(written)},
	}
	way := "to the noisy answer\n\n" + strings.Join(answer, "\n") +
		"\n\nand to the cell written\n\n" + strings.Join(written, "\n") + "\n"
	t.Logf("stops\n%s", way)
	if *list != "" {
		stattest.Check(t, os.MkdirAll(*list, 0o755))
		stattest.Check(t, os.WriteFile(filepath.Join(*list, "stops.txt"), []byte(way), 0o644))
	}
	for _, r := range roads {
		f := found[r.name]
		counts["functions "+r.name] = count{len(f.always), len(f.ever)}
		counts["files "+r.name] = count{len(filesOf(f.always)), len(filesOf(f.ever))}
		table := byPackage(f.ever)
		t.Logf("%s\n%s", r.name, table)
		if *list != "" {
			text := "decoy " + r.args + "\n\n" + table + "\n" + strings.Join(f.ever, "\n") + "\n"
			stattest.Check(t, os.WriteFile(filepath.Join(*list, r.name+".txt"), []byte(text), 0o644))
		}
	}
	hold(t, roadsFile, "TestRoad", counts)
}

// folder makes one with the cohort in it.
func folder(t *testing.T, dir, name string) string {
	t.Helper()
	out := filepath.Join(dir, name)
	stattest.Check(t, os.Mkdir(out, 0o700))
	for _, ext := range []string{".csv", ".yaml"} {
		data := stattest.Must(os.ReadFile("../../datasets/cohorts/icu-mortality" + ext))
		stattest.Check(t, os.WriteFile(filepath.Join(out, "mortality"+ext), data, 0o600))
	}
	return out
}

// run runs a command in a folder.
func run(t *testing.T, program, dir, args string, env ...string) {
	t.Helper()
	cmd := exec.Command(program, strings.Fields(args)...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DECOY_")
	})
	cmd.Env = append(cmd.Env, env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", args, err, text)
	}
}

// executed runs a command and returns the functions that it executed, in order.
func executed(t *testing.T, program, dir, name, args string) (out []string) {
	t.Helper()
	counters := filepath.Join(dir, name+".counters")
	stattest.Check(t, os.Mkdir(counters, 0o700))
	run(t, program, dir, args, "GOCOVERDIR="+counters)
	var errors bytes.Buffer
	tool := exec.Command("go", "tool", "covdata", "func", "-i="+counters)
	tool.Stderr = &errors
	text, err := tool.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errors.String())
	}
	for line := range strings.Lines(string(text)) { // FILE:LINE: NAME SHARE
		fields := strings.Fields(line)
		file, _, ok := strings.Cut(strings.TrimPrefix(fields[0], module+"/"), ":")
		if len(fields) == 3 && ok && fields[2] != "0.0%" && file != "internal/stops/stops.go" {
			out = append(out, file+" "+fields[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// filesOf is the files of functions, in order.
func filesOf(functions []string) (out []string) {
	for _, f := range functions {
		file, _, _ := strings.Cut(f, " ")
		out = append(out, file)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byPackage is a table of the numbers of functions and files, most functions first.
func byPackage(functions []string) string {
	type row struct {
		pkg              string
		functions, files int
	}
	var rows []row
	at := func(file string) *row {
		i := slices.IndexFunc(rows, func(r row) bool { return r.pkg == path.Dir(file) })
		if i < 0 {
			i, rows = len(rows), append(rows, row{pkg: path.Dir(file)})
		}
		return &rows[i]
	}
	for _, f := range functions {
		file, _, _ := strings.Cut(f, " ")
		at(file).functions++
	}
	files := filesOf(functions)
	for _, file := range files {
		at(file).files++
	}
	slices.SortStableFunc(rows, func(a, b row) int { return b.functions - a.functions })
	var out strings.Builder
	fmt.Fprintf(&out, "%9d functions in %3d files\n", len(functions), len(files))
	for _, r := range rows {
		fmt.Fprintf(&out, "%9d           in %3d files of %s\n", r.functions, r.files, r.pkg)
	}
	return out.String()
}
