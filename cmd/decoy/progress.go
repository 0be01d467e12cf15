package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	quietStart = 2 * time.Second // a run that takes no longer shows no progress
	lineEvery  = time.Second     // at most one plain line in this time
)

// progress shows the stage of a run in percent: as a bar on a terminal, else as plain lines. It shows no count, which might be private.
// It may be used by several goroutines.
type progress struct {
	w   io.Writer
	bar bool
	now func() time.Time

	mu    sync.Mutex
	start time.Time
	last  time.Time // of the last line
	stage string
	shown *progressbar.ProgressBar // nil before the first report after quietStart
}

// report is a synth.Progress: fraction is 0 to 1.
func (p *progress) report(stage string, fraction float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.start) < quietStart {
		return
	}
	percent := int(100 * min(max(fraction, 0), 1))
	if !p.bar {
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			fmt.Fprintf(p.w, "%s: %d %%\n", stage, percent)
		}
		return
	}
	if p.shown == nil {
		p.shown = progressbar.NewOptions(100, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(100*time.Millisecond))
	}
	if stage != p.stage {
		p.stage = stage
		p.shown.Describe(fmt.Sprintf("%-20s", stage))
	}
	p.shown.Set(percent)
}

// finish takes the bar off the terminal, before other text is printed.
func (p *progress) finish() {
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
