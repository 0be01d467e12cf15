//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/synth"
)

var tables = flag.String("tables", "", "folder with adult.csv, bank.csv and the other public "+
	"tables of the catalogue")

var methods = flag.String("methods", "mst,aim", "methods of TestForecasts, with commas between; "+
	"all is every method")

// TestForecasts compares what decoy plan says with what decoy generate takes, on the tables of the
// catalogue: processor seconds within a factor of three and, of three tables, resident memory
// within one of two. A method that cannot plan a table, such as smalldb, is named and left out. All
// methods take an hour.
//
//	go test ./cmd/decoy -run TestForecasts -v -timeout 1h -args -tables DIR -methods all
func TestForecasts(t *testing.T) {
	if *tables == "" {
		t.Skip("-args -tables DIR names the folder with the public tables")
	}
	names := strings.Split(*methods, ",")
	if *methods == "all" {
		names = synth.Names()
	}
	for _, method := range names {
		for _, name := range datasets.Names() {
			w := workplace{t, t.TempDir()}
			d, err := datasets.Get(name)
			check(t, err)
			if d.Embedded {
				continue
			}
			text, err := os.ReadFile(filepath.Join(*tables, name+".csv"))
			check(t, err)
			w.write("in.csv", string(text))
			w.write("s.yaml", string(d.SchemaYAML()))
			cmd := exec.Command("decoy", "plan", "--schema", "s.yaml", "--epsilon", "1", "--rows",
				strconv.Itoa(d.Rows), "--method", method, "--json")
			cmd.Dir = w.dir
			out, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitUsage {
				t.Logf("%s %s: not possible: %s", name, method, bytes.TrimSpace(exit.Stderr))
				continue
			}
			check(t, err)
			var plan struct{ Needs configs.Needs }
			check(t, json.NewDecoder(bytes.NewReader(out)).Decode(&plan))
			n := plan.Needs
			run, stderr := w.start("generate in.csv --quiet --schema s.yaml --epsilon 1 --out out.csv "+
				"--method "+method, nil)
			if code := ended(t, run); code != 0 {
				t.Fatal(stderr)
			}
			usage := run.ProcessState.SysUsage().(*syscall.Rusage)
			seconds := (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
			bytes := float64(usage.Maxrss)
			if runtime.GOOS == "linux" {
				bytes *= 1024
			}
			s, m := float64(n.Seconds)/seconds, float64(n.MemoryBytes)/bytes
			t.Logf("%s %s: %.2f s forecast, %.2f s taken (ratio %.2f); %v forecast, %s taken (ratio %.2f)",
				name, method, n.Seconds, seconds, s,
				n.MemoryBytes, spelling.Size(int64(bytes)), m)
			large := slices.Contains([]string{"adult", "bank", "support2"}, name)
			if s < 1./3 || s > 3 || large && (m < .5 || m > 2) {
				t.Errorf("%s %s: a forecast is off", name, method)
			}
		}
	}
}
