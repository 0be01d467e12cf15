package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/synth"
)

// clock is a time that stands still unless told.
type clock struct{ t time.Time }

func (c *clock) now() time.Time           { return c.t }
func (c *clock) advance(by time.Duration) { c.t = c.t.Add(by) }

func startProgress(w *bytes.Buffer, bar bool) (*progress, *clock) {
	c := &clock{time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	return &progress{w: w, bar: bar, now: c.now, start: c.t}, c
}

func TestShortRunShowsNoProgress(t *testing.T) {
	for _, bar := range []bool{false, true} {
		var w bytes.Buffer
		p, c := startProgress(&w, bar)
		for range 19 {
			c.advance(100 * time.Millisecond)
			p.report("reading", .5)
		}
		p.finish()
		if w.Len() > 0 {
			t.Errorf("bar %v: printed %q in the first two seconds", bar, w.String())
		}
	}
}

func TestProgressLines(t *testing.T) {
	var w bytes.Buffer
	p, c := startProgress(&w, false)
	const reports = 100 // over ten seconds
	for i := range reports {
		c.advance(100 * time.Millisecond)
		p.of("reading")(float64(i) / reports)
	}
	p.finish()
	lines := strings.Split(strings.TrimSpace(w.String()), "\n")
	if len(lines) < 7 || len(lines) > 9 {
		t.Errorf("%d lines in the 8 seconds after the first two, want about one a second", len(lines))
	}
	for _, line := range lines {
		if !regexp.MustCompile(`^reading: \d+ %$`).MatchString(line) {
			t.Errorf("line %q, want a stage and a percentage only", line)
		}
	}
}

// TestPrivateProgressHasNoClock: whatever the time, a private run prints the same lines, and none
// if it is expected to be short.
func TestPrivateProgressHasNoClock(t *testing.T) {
	lines := func(seconds float64, pace time.Duration) string {
		var w bytes.Buffer
		p, c := startProgress(&w, false)
		p.private = true
		p.expect(synth.Forecast{Seconds: seconds})
		for i := range 10 {
			c.advance(pace)
			p.report("reading", float64(i)/10)
		}
		for i := range 10 {
			c.advance(pace)
			p.report(fmt.Sprintf("step %d of 10", i+1), float64(i)/10)
		}
		p.finish()
		return w.String()
	}
	const want = "reading: 0 %\nreading: 25 %\nreading: 50 %\nreading: 75 %\n" +
		"step 1 of 10: 0 %\nstep 4 of 10: 25 %\nstep 6 of 10: 50 %\nstep 9 of 10: 75 %\n"
	for _, pace := range []time.Duration{0, time.Millisecond, time.Hour} {
		if got := lines(20, pace); got != want {
			t.Errorf("a report in %v: printed %q, want %q", pace, got, want)
		}
		if got := lines(.1, pace); got != "" {
			t.Errorf("a short run with a report in %v printed %q", pace, got)
		}
	}
}

// TestEndsAreSaidInOrder: which of two jobs ends first depends on their rows, and is not said.
func TestEndsAreSaidInOrder(t *testing.T) {
	const want = "done: a\nfailed: b: why\ndone: d\ndone before: 1 job\n"
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		var w bytes.Buffer
		p := newBatchProgress(&terminal{stderr: &w}, 5)
		ends := []configs.Record{
			{Job: "a", Status: configs.Done}, {Job: "b", Status: configs.Failed, Error: "why"},
			{Job: "c", Status: configs.Done, Earlier: true}, {Job: "d", Status: configs.Done},
		}
		for _, i := range order {
			p.of(ends[i].Job)("reading", .5)
			p.done(i, ends[i])
		}
		p.finish()
		if got := w.String(); got != want {
			t.Errorf("jobs that end in the order %v: printed %q, want %q", order, got, want)
		}
		if i := order[len(order)-1]; p.said != 4 || p.ended != 4 || p.failing != 1 {
			t.Errorf("behind job %d: %d said, %d ended, %d failing; want 4, 4, 1", i, p.said, p.ended,
				p.failing)
		}
	}
	var w bytes.Buffer
	p := newBatchProgress(&terminal{stderr: &w}, 2)
	p.done(1, configs.Record{Job: "b", Status: configs.Done}) // a was never begun
	p.finish()
	if got := w.String(); got != "done: b\n" {
		t.Errorf("behind a job that never began: printed %q", got)
	}
}

func TestProgressBar(t *testing.T) {
	var w bytes.Buffer
	p, c := startProgress(&w, true)
	c.advance(3 * time.Second)
	p.report("reading", .25)
	time.Sleep(150 * time.Millisecond) // past the bar's throttle
	p.report("fitting the model", 7)   // a fraction out of range is no trouble
	p.finish()
	p.finish()
	for _, want := range []string{"reading", "25%", "fitting the model", "100%"} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("the bar never showed %q: %q", want, w.String())
		}
	}
}
