package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/synth"
)

// plan is a job that is not run.
type plan struct{ jobFlags }

func planCommand(t *terminal) *cobra.Command {
	p := &plan{newJob()}
	return t.verb("plan", p.run, p.flags())
}

// planned is the plan as JSON.
type planned struct {
	Method         string                 `json:"method"`
	Chosen         string                 `json:"chosen,omitempty"` // by what, if not by a person
	Budget         budget                 `json:"budget"`
	Adjacency      accountant.Adjacency   `json:"adjacency"`
	Unit           string                 `json:"unit,omitempty"`
	MaxRowsPerUnit int                    `json:"max_rows_per_unit,omitempty"`
	Columns        int                    `json:"columns"`
	Cells          float64                `json:"cells"`
	Composition    accountant.Composition `json:"composition"`
	Cost           cost                   `json:"cost"`
	Usable         float64                `json:"smallest_usable_count,omitempty"` // rows
	RowNeeds       rowNeeds               `json:"rows_needed,omitzero"`
	Forecast       synth.Forecast         `json:"forecast"`
	Needs          configs.Needs          `json:"needs"`
	Neighbours     string                 `json:"-"`
}

// cost is a bound as JSON; the slack is left out where it is not known.
type cost struct {
	Epsilon float64  `json:"epsilon"`
	Delta   float64  `json:"delta"`
	Method  string   `json:"method"`
	Slack   *float64 `json:"slack,omitempty"`
}

func costOf(b accountant.Bound) cost {
	c := cost{Epsilon: b.Epsilon, Delta: b.Delta, Method: b.Method}
	if b.Slack < b.Epsilon {
		c.Slack = &b.Slack
	}
	return c
}

// String is the cost as a sentence.
func (c cost) String() string {
	text := fmt.Sprintf("epsilon %v at delta %v by %s", sixDigits(c.Epsilon), sixDigits(c.Delta),
		c.Method)
	if c.Slack != nil && *c.Slack > 0 {
		text += fmt.Sprintf(" (an upper bound, at most %s above the true value)",
			strconv.FormatFloat(*c.Slack, 'g', 2, 64))
	}
	return text
}

func (p *plan) run(cmd *cobra.Command, t *terminal, args []string) error {
	p.sayWeak(t)
	task, err := p.check(cmd, args)
	if err == nil && task.Domain == nil {
		if err = task.Buy(cmd.Context()); err == nil {
			return t.print(inferNeeds{p.Budget(), task.Purchase.Plan.Columns, task.Purchase.Plan.Needs()})
		}
	}
	if err != nil {
		return err
	}
	s := task.Domain
	columns, all := 0, 1.
	for _, one := range task.Schemas() {
		sayIDs(t, one.Unit, one.Names(), one)
		t.sayKnown(one)
		columns += len(one.Columns)
		all = min(all*cells(one), math.MaxFloat64)
	}
	fit, err := task.Plan()
	if err != nil {
		return err
	}
	nb := privacy.NeighboursOf(s, p.Relation())
	out := planned{Method: task.Fitter.Name(), Chosen: p.Chosen(), Budget: budget(p.Budget()),
		Adjacency: p.Relation(), Unit: s.Unit, Columns: columns, Cells: all,
		Composition: fit.Reserve, Needs: configs.NeedsOf(fit, s, p.Rows),
		Neighbours: nb.Units(s.Unit).Words()}
	out.Forecast = out.Needs.Forecast
	bound, err := pld.Epsilon(fit.Reserve, p.Delta, p.Relation())
	if err != nil {
		return err
	}
	out.Cost = costOf(bound)
	sigma := sigmaOf(out.Forecast, 1)
	out.Usable = usableSigmas * sigma
	out.RowNeeds = needsOf(s, out.Forecast)
	if out.MaxRowsPerUnit = task.Tables.MostRows(); s.Unit != "" && out.MaxRowsPerUnit == 0 {
		out.Neighbours = fmt.Sprintf("%v, unit = one %q, with all its rows in all tables",
			p.Relation(), s.Unit)
	}
	return t.print(out)
}

// cells is the number of different rows that a schema allows, at most the largest float64.
func cells(s *schema.Schema) float64 {
	n := 1.0
	for _, size := range s.Sizes() {
		n = min(n*float64(size), math.MaxFloat64)
	}
	return n
}

func sizeText(columns int, cells float64) string {
	count := strconv.FormatFloat(cells, 'f', 0, 64)
	if cells >= 1e6 {
		count = strings.Replace(strconv.FormatFloat(cells, 'e', 1, 64), "e+", "e", 1)
	}
	return fmt.Sprintf("%s, %s cells", plural(columns, "column", "columns"), count)
}

// usableSigmas is how far a count must be above zero, in standard deviations of its noise, to be
// taken for more than noise: an empty category passes in one of 740 cases.
const usableSigmas = 3

// sigmaOf is the noise of the counts of so many columns, 0 where the method measures none.
func sigmaOf(f synth.Forecast, columns int) float64 {
	at := slices.IndexFunc(f.Noise, func(n synth.Noise) bool { return n.Columns == columns })
	if at < 0 {
		return 0
	}
	return f.Noise[at].Sigma
}

// rowNeeds is how many rows a fit needs for what it measures to stand out of the noise, each by
// usableSigmas where the rows are spread evenly; 0 for what the method does not measure.
type rowNeeds struct {
	// of a column of two codes: below, all is noise
	Least roughly `json:"least,omitempty"`
	// of the median column, and of a pair of two such columns
	Column roughly `json:"column,omitempty" head:"ROWS FOR A COLUMN"`
	Pair   roughly `json:"pair,omitempty" head:"FOR A PAIR"`
	Codes  int     `json:"codes,omitempty"` // of the median column
}

// roughly is a number of rows, of which people see two digits.
type roughly float64

func (r roughly) String() string {
	if r == 0 {
		return "-"
	}
	return fmt.Sprint(wholeRows(float64(r)))
}

func needsOf(s *schema.Schema, f synth.Forecast) rowNeeds {
	sizes := s.Sizes()
	if len(sizes) == 0 {
		return rowNeeds{}
	}
	slices.Sort(sizes)
	median := sizes[len(sizes)/2]
	one, two := usableSigmas*sigmaOf(f, 1), usableSigmas*sigmaOf(f, 2)
	if one == 0 {
		return rowNeeds{}
	}
	return rowNeeds{roughly(2 * one), roughly(float64(median) * one),
		roughly(float64(median*median) * two), median}
}

// rough is the share of the rows that the noise of a typical table of two columns moves, above
// which relations are said to be rough: chosen on adult, support2 and heart_cleveland at ε = .1 to
// 10, by what decoy evaluate says of them (docs/decisions/006).
const rough = .06

// few is of how many pairs one must have been measured, or it is said: chosen as rough is.
const few = 6

// sayLost tells of a model of so few rows, as counted with noise, that it is only noise, or which
// relations are lost in it, as far as its noisy counts show.
func (n rowNeeds) sayLost(t *terminal, m *release.Model) {
	if roughly(m.Rows) < n.Least {
		t.say("about %.0f rows are too few for this noise: even a column of two codes needs about %v, "+
			"so that most of the model is noise; take a larger epsilon, or fewer columns (decoy plan)",
			max(m.Rows, 0), n.Least)
		return
	}
	said := false
	for _, r := range m.Relations() {
		said = t.sayRelations(r) || said
	}
	help := "a larger epsilon, or fewer columns"
	target, one := m.Settings["target"] // of linked tables each view has settings
	if m.Method != "aim" {
		help = "--method aim, " + help
	} else if one && target == "" {
		help += ", or --target COLUMN for the one that people will predict"
	}
	if said {
		t.say("more relations are kept with %s", help)
	}
}

// sayRelations reports whether relations are lost or rough, and tells which.
func (t *terminal) sayRelations(r release.Relations) bool {
	all := len(r.Alone) + len(r.Lost) + len(r.Kept)
	pairs := all * (all - 1) / 2
	few := few*r.Pairs < pairs
	rough := r.Noise > rough
	if len(r.Alone)+len(r.Lost) == 0 && (len(r.Kept) == 0 || !rough && !few) {
		return false
	}
	if r.Of != "" {
		t.say("among the columns of %s, and with those of its parents:", r.Of)
	}
	switch {
	case len(r.Kept) == 0:
		t.say("relations between columns are lost in the noise, whatever they are")
	case len(r.Kept) < len(r.Lost): // the shorter list
		t.sayNames(r.Kept, nil, "relations between columns are lost in the noise, but for some of these")
	case len(r.Lost) > 0:
		t.sayNames(r.Lost, nil, "relations of %d of %d columns are lost in the noise, if they have any",
			len(r.Lost), all)
	}
	if len(r.Kept) > 0 {
		t.sayNames(r.Alone, nil, "relations that were not measured are lost, those of")
		if few {
			t.say("%d of %d pairs of columns were measured: of the others only those relations are kept "+
				"that follow from these", r.Pairs, pairs)
		}
		if rough {
			t.say("relations that are kept are rough: the noise of a typical pair moves %.0f %% of the "+
				"rows", 100*r.Noise)
		}
	}
	return true
}

// quoted is names in words.
func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
