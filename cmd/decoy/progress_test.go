package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/synth"
)

// lines are what a run prints that reports ten times in each of two stages.
func lines(p func(*terminal) *progress, seconds float64, pace time.Duration) string {
	var w bytes.Buffer
	shown := p(&terminal{stderr: &w})
	shown.expect(synth.Forecast{Seconds: seconds})
	now := shown.now
	passed := time.Duration(0)
	shown.now = func() time.Time { return now().Add(passed) }
	for stage, name := range []string{"reading", "step %d of 10"} {
		for i := range 10 {
			passed += pace
			if stage > 0 {
				shown.report(fmt.Sprintf(name, i+1), float64(i)/10)
			} else {
				shown.of(name)(float64(i) / 10)
			}
		}
	}
	return w.String()
}

const allLines = "reading: 0 %\nreading: 25 %\nreading: 50 %\nreading: 75 %\n" +
	"step 1 of 10: 0 %\nstep 4 of 10: 25 %\nstep 6 of 10: 50 %\nstep 9 of 10: 75 %\n"

// TestProgressLines: there is a line at each quarter of a stage, but in the first two seconds.
func TestProgressLines(t *testing.T) {
	public := (*terminal).progress
	if got := lines(public, 0, time.Millisecond); got != "" {
		t.Errorf("a short run prints %q", got)
	}
	if got := lines(public, 0, time.Hour); got != allLines {
		t.Errorf("a long run prints %q", got)
	}
}

// TestPrivateProgressHasNoClock: whatever the time, a private run prints the same lines, and none
// if it is expected to be short.
func TestPrivateProgressHasNoClock(t *testing.T) {
	for seconds, want := range map[float64]string{20: allLines, .1: ""} {
		p := (&terminal{stderr: &bytes.Buffer{}}).privateProgress()
		began := p.now()
		time.Sleep(time.Millisecond)
		if p.now() != began {
			t.Fatal("its clock goes")
		}
		if got := lines((*terminal).privateProgress, seconds, 0); got != want {
			t.Errorf("%v seconds: printed %q, want %q", seconds, got, want)
		}
	}
}
