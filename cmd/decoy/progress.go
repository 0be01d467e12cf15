package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/decoy-dp/decoy/synth"
)

const (
	quietStart = 2 * time.Second // a run that takes no longer shows no progress
	lineEvery  = time.Second     // at most one plain line in this time
)

// progress shows the stage of a run in percent: as a bar on a terminal, else as plain lines. It
// shows no count, which might be private. It may be used by several goroutines.
//
// How long something takes on private rows depends on them, and plain lines are kept by others. So
// the lines of a private run follow no clock: there is one at each new stage and at each quarter of
// it, if the run is expected to take long, else none.
type progress struct {
	w       io.Writer
	bar     bool
	private bool
	long    bool // a private run is expected to take more than quietStart
	now     func() time.Time

	mu    sync.Mutex
	start time.Time
	last  time.Time // of the last line
	stage string
	steps int                      // quarters of the stage that have a line
	shown *progressbar.ProgressBar // nil before the first report after quietStart
}

// report is a synth.Progress: fraction is 0 to 1.
func (p *progress) report(stage string, fraction float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	percent := int(100 * min(max(fraction, 0), 1))
	if p.private && !p.bar {
		p.step(stage, percent/25)
		return
	}
	now := p.now()
	if now.Sub(p.start) < quietStart {
		return
	}
	if !p.bar {
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			fmt.Fprintf(p.w, "%s: %d %%\n", stage, percent)
		}
		return
	}
	if p.shown == nil {
		p.shown = progressbar.NewOptions(100, progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(100*time.Millisecond))
	}
	if stage != p.stage {
		p.stage = stage
		p.shown.Describe(fmt.Sprintf("%-20s", stage))
	}
	p.shown.Set(percent)
}

// step prints a line of a private run that is expected to take long. Stages that differ in a number
// only, such as the steps of a training, are one.
func (p *progress) step(stage string, quarter int) {
	kind := stage
	if i := strings.IndexAny(stage, "0123456789"); i >= 0 {
		kind = stage[:i]
	}
	if !p.long || kind == p.stage && quarter <= p.steps {
		return
	}
	p.stage, p.steps = kind, quarter
	fmt.Fprintf(p.w, "%s: %d %%\n", stage, 25*quarter)
}

// expect is told what a private run is expected to take, by what is public.
func (p *progress) expect(f synth.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.long = f.Seconds > quietStart.Seconds()
}

// finish takes the bar off the terminal, before other text is printed.
func (p *progress) finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != nil {
		p.shown.Clear()
		p.shown = nil
	}
}

// of is a progress function of one stage.
func (p *progress) of(stage string) func(float64) {
	return func(fraction float64) { p.report(stage, fraction) }
}
