//go:build linux

package stats

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestPrograms: hostile programs leave the middle of the range and nothing else, in bounded time;
// what they leave behind dies with them.
func TestPrograms(t *testing.T) {
	tab := people(t, 30, 1)
	// a folder of files that a program must not change, and a socket's address that it cannot reach
	left := stattest.Must(os.CreateTemp("", ""))
	left.Close()
	defer os.Remove(left.Name())
	nan := math.NaN()
	for name, tt := range map[string]struct {
		script string
		want   float64
	}{
		"a count":       {`n=-1; while read l; do n=$((n+1)); done; echo $n`, 30},
		"a header":      {`read l; [ "$l" = "x,c,y,died" ] && echo 1`, 1},
		"no input read": {`echo 3.5`, 3.5},
		"no line end":   {`printf 2`, 2},
		"large":         {`echo 1e308`, 1e308},
		"temporary":     {`cat > "$TMPDIR/f" && ls "$TMPDIR" | wc -l`, 1},
		"alone":         {`ls /proc/self/net/dev >/dev/null; echo $$`, 1},
		"larger":        {`echo 1e999`, nan},
		"infinite":      {`echo inf`, nan},
		"NaN":           {`echo nan`, nan},
		"silent":        {`true`, nan},
		"fails":         {`echo 1; exit 3`, nan},
		"killed":        {`echo 1; sh -c 'kill -9 $$'`, nan},
		"junk":          {`echo "patient 17 has it"`, nan},
		"two lines":     {`echo 1; echo 2`, nan},
		"two numbers":   {`echo 1 2`, nan},
		"rows":          {`cat`, nan},
		"endless":       {`while :; do echo 11111111111111111; done`, nan},
		"stderr":        {`cat >&2; echo 4`, 4},
		"hangs":         {`echo 1; sleep 7531`, nan},
		"spins":         {`while :; do :; done`, nan},
		"memory":        {`x=1; while :; do x=$x$x; done; echo 1`, nan},
		"forks":         {`while :; do sleep 7531 & done`, nan},
		"left behind":   {`(sleep 7531; echo 7) & echo 5`, nan},
		"writes":        {`echo 1 > ` + left.Name() + ` && echo 1`, nan},
		"network":       {`grep -c : /proc/net/dev`, 1},
	} {
		f, err := Program([]string{"sh", "-c", tt.script}, Limits{time.Second, 512})
		if errors.Is(err, ErrStatistic) && strings.Contains(err.Error(), "namespaces") {
			t.Skip(err)
		}
		check(t, err)
		got := f.Of(tab)
		if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) &&
			!(name == "left behind" && got == 5) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if out, _ := exec.Command("sh", "-c", "cat /proc/[0-9]*/cmdline").Output(); strings.Contains(
		strings.ReplaceAll(string(out), "\x00", " "), "sleep 7531") {
		t.Error("something sleeps on")
	}
	for _, bad := range [][]string{nil, {"no-such-program-at-all"}} {
		stattest.Wraps(t, stattest.Err(Program(bad, Limits{time.Second, 64})), ErrStatistic, "%q", bad)
	}
	stattest.Wraps(t, stattest.Err(Program([]string{"sh"}, Limits{})), ErrStatistic, "no limits")
}
