package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/accountant/zcdp"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

type plan struct {
	jobFlags
	releases int
	all      bool
}

func planCommand(t *terminal) *cobra.Command {
	p := &plan{jobFlags: newJob(), releases: 1}
	return t.verb("plan", p.run, p.flags(), flags{"releases": &p.releases, "compare": &p.all})
}

// planned is the plan as JSON.
type planned struct {
	Method         string                 `json:"method"`
	Chosen         string                 `json:"chosen,omitempty"` // by what, if not by a person
	Budget         accountant.Budget      `json:"budget"`
	Adjacency      accountant.Adjacency   `json:"adjacency"`
	Unit           string                 `json:"unit,omitempty"`
	MaxRowsPerUnit int                    `json:"max_rows_per_unit,omitempty"`
	Columns        int                    `json:"columns"`
	Cells          float64                `json:"cells"`
	Composition    accountant.Composition `json:"composition"`
	Cost           cost                   `json:"cost"`
	Curve          []point                `json:"curve"`
	Releases       *releases              `json:"releases,omitempty"`
	Usable         float64                `json:"smallest_usable_count,omitempty"` // rows
	RowNeeds       rowNeeds               `json:"rows_needed,omitzero"`
	Coarsen        []coarse               `json:"coarsen,omitempty"`
	Forecast       synth.Forecast         `json:"forecast"`
	Needs          configs.Needs          `json:"needs"`
	Elsewhere      *counted               `json:"counted_elsewhere,omitempty"`
	neighbours     privacy.Neighbours
}

// counted is what another engine counts for the fit (decoy help scale).
type counted struct {
	Tables      int   `json:"tables"`
	Cells       int   `json:"cells"`
	MemoryBytes int64 `json:"memory_bytes"` // of a task, and of the gate
	Queries     int   `json:"queries"`      // at most: one for all tables, and one for each sum
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
	text := fmt.Sprintf("epsilon %s at delta %s by %s", configs.Short(c.Epsilon),
		configs.Short(c.Delta), c.Method)
	if c.Slack != nil && *c.Slack > 0 {
		text += fmt.Sprintf(" (an upper bound, at most %s above the true value)",
			strconv.FormatFloat(*c.Slack, 'g', 2, 64))
	}
	return text
}

// plan is the plan of a fit on a file with that schema, or on the embedded example.
func (p *plan) plan(f synth.Fitter, s *schema.Schema) (*synth.RunPlan, error) {
	if p.Dataset == "" {
		s = synth.Adaptive(f, s)
	}
	return synth.NewPlan(f, s, privacy.NeighboursOf(s, p.Relation()), p.Budget())
}

func (p *plan) run(cmd *cobra.Command, t *terminal, _ []string) error {
	if p.all {
		return p.compare(cmd, t)
	}
	fitter, err := p.method(cmd)
	if err != nil {
		return err
	}
	p.sayNotes(t)
	s, err := configs.SchemaOf(p.Schema, p.Dataset)
	if err != nil {
		return err
	}
	sayIDs(t, s.Unit, s.Names())
	t.sayKnown(s)
	nb := privacy.NeighboursOf(s, p.Relation())
	fit, err := p.plan(fitter, s)
	if err != nil {
		return err
	}
	bound, err := pld.Epsilon(fit.Reserve, p.Delta, p.Relation())
	if err != nil {
		return err
	}
	out := planned{
		Method: fitter.Name(), Chosen: p.Chosen(), Budget: p.Budget(),
		Adjacency: p.Relation(), Unit: s.Unit,
		Columns: len(s.Columns), Cells: cells(s), Composition: fit.Reserve, Cost: costOf(bound),
		Needs: configs.NeedsOf(fit, s, p.Rows), neighbours: nb,
	}
	out.Forecast = fit.Forecast(out.Needs.Rows)
	if out.Curve, err = curve(fit.Reserve, p.Relation()); err != nil {
		return err
	}
	if p.releases > 1 {
		if out.Releases, err = together(fit.Reserve, p.releases, p.Job); err != nil {
			return err
		}
	}
	if fit, err := synth.NewPlan(fitter, s, nb, p.Budget()); err == nil {
		f := fit.Forecast(0)
		if cells, err := synth.JointCells(f, s); err == nil {
			out.Elsewhere = &counted{Tables: len(f.Joints), Cells: cells, MemoryBytes: 8 * int64(cells),
				Queries: 1 + f.Sums}
		}
	}
	sigma := oneWaySigma(out.Forecast)
	out.Usable, out.Coarsen = usableSigmas*sigma, coarsen(s, sigma, out.Needs.Rows)
	out.RowNeeds = needsOf(s, out.Forecast)
	if s.Unit != "" {
		out.MaxRowsPerUnit = nb.MaxRowsPerUnit
	}
	return t.print(out)
}

func (p planned) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\n", p.Method)
	if p.Chosen != "" {
		fmt.Fprintf(w, "chosen by\t%s\n", p.Chosen)
	}
	fmt.Fprintf(w, "budget\t%s\n", configs.BudgetText(p.Budget))
	fmt.Fprintf(w, "neighbours\t%s\n", p.neighbours.Units(p.Unit).Words())
	fmt.Fprintf(w, "schema\t%s\n", sizeText(p.Columns, p.Cells))
	head := "measures"
	for _, n := range p.Forecast.Noise {
		noise := fmt.Sprintf("noise of standard deviation %s rows in each cell", configs.Short(n.Sigma))
		switch {
		case n.Multiplier > 0:
			noise = fmt.Sprintf("noise of %s times what one unit may add", configs.Short(n.Multiplier))
		case n.Sigma == 0:
			noise = fmt.Sprintf("exponential mechanism of epsilon %s", configs.Short(n.Eps))
		}
		fmt.Fprintf(w, "%s\t%d × %s, %s\n", head, n.Count, n.What, noise)
		head = ""
	}
	fmt.Fprintf(w, "costs\t%v, all included\n", p.Cost)
	p.needsText(w)
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

// releases is what several runs of one plan on one table cost together, each perhaps chosen after
// the ones before.
type releases struct {
	Number  int     `json:"number"`
	Epsilon float64 `json:"epsilon"` // of the composition of all, at Delta
	Delta   float64 `json:"delta"`
	// the smallest limit of a ledger that lets all of them run
	Basic accountant.Budget `json:"limit_basic"`
	// the same with rule zcdp; nil if the method has no zero-concentrated cost
	ZCDP *accountant.Budget `json:"limit_zcdp,omitempty"`
}

// together adds up n runs of a plan.
func together(c accountant.Composition, n int, j configs.Job) (*releases, error) {
	all := slices.Clone(c)
	for i := range all {
		all[i].Count *= n
	}
	out := &releases{Number: n, Delta: j.Delta,
		Basic: accountant.Budget{Epsilon: float64(n) * j.Epsilon, Delta: float64(n) * j.Delta}}
	bound, err := pld.Epsilon(all, j.Delta, j.Relation())
	if err != nil {
		return nil, err
	}
	out.Epsilon = bound.Epsilon
	if rho := zcdp.Rho(all); !math.IsInf(rho, 1) && j.Delta > 0 {
		out.ZCDP = &accountant.Budget{Epsilon: zcdp.Epsilon(rho, j.Delta), Delta: j.Delta}
	}
	return out, nil
}

// limits says which limits of a ledger let all releases run.
func (r releases) limits() string {
	text := fmt.Sprintf("a ledger lets them run from epsilon %s, delta %s", up3(r.Basic.Epsilon),
		up3(r.Basic.Delta))
	if r.ZCDP != nil {
		text += fmt.Sprintf(", or with --rule zcdp from epsilon %s, delta %s", up3(r.ZCDP.Epsilon),
			up3(r.ZCDP.Delta))
	}
	return text
}

// up3 is x with three digits, rounded up: as a limit it is enough.
func up3(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return short3(math.Ceil(x/unit*(1-1e-12)) * unit)
}
