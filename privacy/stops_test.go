package privacy_test

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// TestStops lists the functions through which rows or their true counts pass from synth.Run to a
// released number when mst measures: those on the stack when the rows are read and when they are
// counted, with the stacks of the goroutines that wait for them, and those that another way of
// reading and counting leaves out. How a file is read is behind table.Read.
func TestStops(t *testing.T) {
	const most = 10
	stops := []string{"table.Read", "privacy.countTo", "noise.(*RoundedGaussian).AddTo"}
	s := &schema.Schema{Columns: []schema.Column{{Name: "ill", Kind: schema.Boolean}}}
	load := func(_ context.Context, begin func() error, _ access.Bound) (*access.Joint, error) {
		if err := begin(); err != nil {
			return nil, err
		}
		stops = append(stops, callers()...)
		count := func([]int64, []int, [][]int32) { stops = append(stops, callers()...) }
		return &access.Joint{CountTo: count}, nil
	}
	rows := privacy.FromLoader(access.Loader{Schema: s, Load: load})
	f, err := synth.Checked(&synth.MST{})
	if err == nil {
		_, _, err = synth.Run(context.Background(), rows, f, synth.RunOptions{Options: privacy.Options{
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}})
	}
	slices.Sort(stops)
	stops = slices.Compact(stops)
	if t.Logf("%d stops:\n%s", len(stops), strings.Join(stops, "\n")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(stops, "privacy.counter") || len(stops) > most {
		t.Errorf("%d stops, at most %d", len(stops), most)
	}
}

var (
	begun = regexp.MustCompile(`^created by \S+ in goroutine (\d+)`)
	frame = regexp.MustCompile(`^github\.com/decoy-dp/decoy/([\w/]+\.)\S*?` + // package, function
		`((\(\*\w+\)\.)?[A-Za-z]\w+)(\[\.{3}\])?(\.(func|gowrap)?\d+)*\([^(]*$`)
)

// callers are the functions of this module from synth.Run to the caller of it, across goroutines.
func callers() (out []string) {
	buf := make([]byte, 1<<20)
	all := string(buf[:runtime.Stack(buf, true)])
	for id := " "; id != ""; {
		_, stack, _ := strings.Cut(all, "goroutine"+id)
		stack, _, _ = strings.Cut(stack, "\n\n")
		id = ""
		for line := range strings.Lines(stack) {
			if m := begun.FindStringSubmatch(line); m != nil {
				id = " " + m[1] + " "
			} else if m := frame.FindStringSubmatch(line); m != nil {
				out = append(out, m[1]+m[2])
			}
		}
	}
	return out[2 : len(out)-1] // without this function and the test
}
