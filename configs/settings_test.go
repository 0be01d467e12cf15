package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth"
)

func TestDecoder(t *testing.T) {
	type config struct {
		Share  float64  `mapstructure:"share"`
		Steps  int      `mapstructure:"steps"`
		Target string   `mapstructure:"target"`
		Pairs  []string `mapstructure:"pairs"`
		Units  []int    `mapstructure:"units"`
		Inner  string   // no tag: no setting
	}
	for _, c := range []struct {
		name  string
		given []Given
		want  config
		err   string
	}{
		{name: "nothing"},
		{name: "text", given: []Given{{"share", "0.25", "x"}, {"steps", "7", "x"},
			{"target", "died", "x"}, {"pairs", "a,b", "x"}},
			want: config{Share: .25, Steps: 7, Target: "died", Pairs: []string{"a", "b"}}},
		{name: "typed", given: []Given{{"share", 1, "x"}, {"steps", 7, "x"},
			{"pairs", []any{"a", "b"}, "x"}, {"steps", 8, "y"}},
			want: config{Share: 1, Steps: 8, Pairs: []string{"a", "b"}}},
		{name: "numbers as text", given: []Given{{"units", "64,128", "x"}},
			want: config{Units: []int{64, 128}}},
		{name: "one number as text", given: []Given{{"units", "64", "x"}},
			want: config{Units: []int{64}}},
		{name: "numbers", given: []Given{{"units", []any{64, 128}, "x"}},
			want: config{Units: []int{64, 128}}},
		{name: "one number", given: []Given{{"units", 64, "x"}}, want: config{Units: []int{64}}},
		{name: "fraction in a list", given: []Given{{"units", []any{64, 1.5}, "f"}},
			err: "f: units: [64 1.5] is not a list of whole number"},
		{name: "number for a list of texts", given: []Given{{"pairs", 7, "f"}},
			err: "f: pairs: 7 is not a list of text"},
		{name: "whole number written as a real one", given: []Given{{"steps", 2.0, "x"}},
			want: config{Steps: 2}},
		{name: "unknown", given: []Given{{"stepps", "7", "job.yaml, line 3"}},
			err: `job.yaml, line 3: method m has no setting "stepps"; did you mean "steps"?`},
		{name: "unknown and nothing near", given: []Given{{"q", "7", "--set"}},
			err: `there is share, steps, target, pairs, units`},
		{name: "case matters", given: []Given{{"Steps", "7", "--set"}},
			err: `no setting "Steps"; did you mean "steps"?`},
		{name: "untagged", given: []Given{{"inner", "7", "--set"}}, err: "no setting"},
		{name: "not a number", given: []Given{{"share", "much", "--set"}},
			err: `--set: share: "much" is not a number: `},
		{name: "empty number", given: []Given{{"steps", "", "--set"}},
			err: `steps: "" is not a whole number`},
		{name: "fraction", given: []Given{{"steps", 1.5, "f"}},
			err: `f: steps: 1.5 is not a whole number`},
		{name: "fraction as text", given: []Given{{"steps", "1.5", "f"}},
			err: `"1.5" is not a whole number`},
		{name: "number for a text", given: []Given{{"target", 7, "f"}},
			err: `f: target: 7 is not a text`},
		{name: "null", given: []Given{{"steps", nil, "f"}}, err: "f: steps: "},
		{name: "two mistakes", given: []Given{{"steps", "a", "f"}, {"xyz", 1, "f"}}, err: "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := config{}
			err := Decoder("m", c.given)(&got)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !errors.Is(err, synth.ErrConfig) {
					t.Errorf("error %v, want %q in it", err, c.err)
				}
				return
			}
			check(t, err)
			if !slices.Equal(got.Pairs, c.want.Pairs) {
				t.Errorf("pairs %q, want %q", got.Pairs, c.want.Pairs)
			}
			got.Pairs, c.want.Pairs = nil, nil
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDecoderReachesTheMethod(t *testing.T) {
	f := stattest.Must(synth.New("mst", Decoder("mst", []Given{{"group_sigmas", "3.5", "--set"}})))
	if got := f.(*synth.MST).GroupSigmas; got != 3.5 {
		t.Errorf("group_sigmas is %v", got)
	}
}

func TestParseSet(t *testing.T) {
	g, err := ParseSet(" steps = 7=8", "--set")
	if want := (Given{"steps", "7=8", "--set"}); err != nil || g != want {
		t.Errorf("got %+v, %v", g, err)
	}
	for _, bad := range []string{"", "steps", "=7"} {
		stattest.Wraps(t, stattest.Err(ParseSet(bad, "--set")), synth.ErrConfig, "%q", bad)
	}
}
