package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
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
