package synth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/decoy-dp/decoy/data/schema"
)

// AIM is the AIM method (McKenna, Mullins, Sheldon, Miklau, "AIM: An Adaptive and Iterative
// Mechanism for Differentially Private Synthetic Data", VLDB 2022, arXiv 2201.12677): measure every
// one-way marginal, then, round by round, choose the marginal of the workload that the model so far
// explains worst, beyond what noise would do to it, and measure that; estimate a graphical model
// from all measurements.
//
// Beside the paper:
//
//   - the whole budget is one Gaussian filter (accountant.GDPFilter), exact where zCDP is not;
//   - columns of many codes are smoothed (marginal.Smooth), and one-way marginals get a share of
//     the budget that grows with their noise beside the rows, divided by their codes;
//   - where noise is large beside the rows, rounds are few and first join columns, as MST does;
//   - a marginal may be chosen at several resolutions: with its columns' codes merged into 2 to 32
//     runs of about equal mass, or long columns' into up to 4096 groups, where full detail would
//     drown;
//   - rounds are fewer and noise falls faster; late rounds measure several marginals before the
//     model is estimated anew, estimates that a round hardly moves are not computed anew in it, and
//     of many candidates each is looked at every few rounds;
//   - marginals with a target column weigh more and have a part of the budget of their own; without
//     a target, pairs of columns of two to four categories have a smaller one, where noise is large
//     those of one or two such columns only;
//   - beside pairs, a bounded number of sets of three columns, and of four with the target, may be
//     chosen.
//
// Everything after a measurement is post-processing.
type AIM struct {
	// marginals that should be right: pairs, triples, or sets, which Sets lists; default pairs
	Workload string `mapstructure:"workload"`
	// columns joined by *, with an optional weight: age*sex*income=2
	Sets []string `mapstructure:"sets"`
	// column to predict: its marginals weigh more and have a budget of their own
	Target string `mapstructure:"target"`
	// share of the budget for the pairs of the target; default 0.2 with a target, 0.15 without, for
	// pairs of columns of two to four categories, and 1.4 times as much where noise is large beside
	// the rows
	TargetShare float64 `mapstructure:"target_share" min:"0" max:"1"`
	// share for one-way marginals; default 0.05 to 0.75, by how noisy they are
	OneWayShare float64 `mapstructure:"one_way_share" min:"0" max:"1"`
	// share of a round for its choice; default 0.1, with columns of fewer than 8 codes on average, or
	// where noise is large beside the rows, 0.2
	SelectShare float64 `mapstructure:"select_share" min:"0" max:"0.999999"`
	// memory of the fit besides the rows, in MB; default 80
	MemoryMB int `mapstructure:"memory_mb" default:"80" min:"1" max:"1048576"`
}

// columnSet is one set of columns whose marginal should be right.
type columnSet struct {
	Cols   []int
	Weight float64 // > 0
}

// Name is "aim".
func (*AIM) Name() string { return "aim" }

func (c *AIM) check() error {
	named := len(c.Sets) > 0
	if c.Workload == "" {
		c.Workload = map[bool]string{true: "sets", false: "pairs"}[named]
	}
	switch {
	case named != (c.Workload == "sets"),
		!slices.Contains([]string{"pairs", "triples", "sets"}, c.Workload):
		return fmt.Errorf("workload %q must be pairs, triples or, with sets, sets", c.Workload)
	case c.Target == "" && c.TargetShare != 0:
		return fmt.Errorf("target_share %v without a target", c.TargetShare)
	case c.TargetShare+max(c.OneWayShare, firstShare) >= 1:
		return fmt.Errorf("target_share %v and one_way_share %v must add up to less than 1",
			c.TargetShare, c.OneWayShare)
	}
	return nil
}

// columnSets resolves the workload.
func (c *AIM) columnSets(s *schema.Schema) ([]columnSet, error) {
	var out []columnSet
	d, n := len(s.Columns), map[string]int{"pairs": 2, "triples": 3}[c.Workload]
	if n = min(n, max(d, 2)); n > 0 && n <= d {
		for _, cols := range combin.Combinations(d, n) {
			out = append(out, columnSet{cols, 1})
		}
	}
	for _, text := range c.Sets {
		set, err := parseSet(s, text)
		if err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

// maxSetColumns bounds the columns of one set: its closure has 2^n marginals.
const maxSetColumns = 6

func parseSet(s *schema.Schema, text string) (columnSet, error) {
	fail := func(what string) (columnSet, error) {
		return columnSet{}, fmt.Errorf("aim: set %q: %s: %w", text, what, ErrConfig)
	}
	set := columnSet{Weight: 1}
	names, weight, weighted := strings.Cut(text, "=")
	if weighted {
		w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !(w > 0 && w <= 1e6) {
			return fail("the weight must be a number in (0, 1e6]")
		}
		set.Weight = w
	}
	var err error
	if set.Cols, err = joinedNames(s, names); err != nil {
		return fail(err.Error())
	}
	if len(set.Cols) > maxSetColumns {
		return fail(fmt.Sprintf("more than %d columns", maxSetColumns))
	}
	slices.Sort(set.Cols)
	return set, nil
}
