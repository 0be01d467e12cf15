package synth

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
)

// linkedPlan is a fit of each view of linked tables, all paid for by one account.
type linkedPlan struct {
	schema *schema.Linked
	views  []*schema.View
	plans  []Plan // of each view
}

// rowShare is the share of the budget, in μ², for the views of all rows, of which that of the units
// counts twice; the others have equal parts of the rest. Chosen on nlswork and nafld at ε = 1
// (docs/decisions/013).
const rowShare = 0.6

// viewed is a method that may fit views of linked tables, one by one, as [Terms] name them.
type viewed interface {
	// viewable says why the method as configured does not: its settings speak of one table.
	viewable() error
}

// Fits says why a method as configured does not fit linked tables: the error wraps [ErrConfig].
func Fits(f Fitter) error {
	v, ok := f.(viewed)
	if !ok {
		return fmt.Errorf("%s does not fit linked tables: aim and mst do: %w", f.Name(), ErrConfig)
	}
	return v.viewable()
}

// planViews plans the fit of linked tables: what is left is divided among their views.
func planViews(f Fitter, tables *schema.Linked, t Terms) (_ Plan, err error) {
	if err := Fits(f); err != nil {
		return nil, err
	}
	p := &linkedPlan{schema: tables}
	if p.views, err = schema.Views(tables); err != nil {
		return nil, err
	}
	left, known := t.Left.Mu2, t.Known
	rows := float64(len(p.schema.Tables) - 1) // views of all rows
	t.Known = nil
	for _, m := range known { // of the units' own columns
		t.Known = append(t.Known, m.Times(schema.Full))
	}
	for _, v := range p.views {
		t.View, t.Schema = v, v.Schema
		t.Neighbours = privacy.NeighboursOf(v.Schema, t.Neighbours.Adjacency)
		share := rowShare / (rows + 1)
		switch {
		case v.All == 0:
			share = (1 - rowShare) / (float64(len(p.views)) - rows)
		case v.Table == 0:
			share *= 2
		}
		t.Left.Mu2 = left * share * (1 - 1e-9)
		one, err := f.Plan(t)
		if err != nil {
			return nil, err
		}
		t.Known, p.plans = nil, append(p.plans, one) // known is nothing of the others
	}
	return p, nil
}

// toDraw has a plan ask for what the rows of a view are drawn by.
func (p *aimPlan) toDraw(v *schema.View) {
	if v.Table == 0 {
		p.full, p.cfg.MemoryMB = schema.Full, min(p.cfg.MemoryMB, unitMemory)
		return
	}
	p.sets, p.cfg.Workload, p.cfg.MemoryMB = drawnSets(v), "sets", min(p.cfg.MemoryMB, stepMemory)
	if v.Steps {
		p.first, p.cfg.TargetShare = v.Transitions(), firstPairs
	}
}

// firstPairs is the share of the budget of a view of steps for the pairs of each column with itself
// in the row before, which are measured first. Chosen on nlswork at ε = 1: transitions are .18 off
// without it, .14 with .2 or .35, and .15 with .5.
const firstPairs = 0.3

// stepMemory is the most memory of the fit of a view of steps, in MB: each step is drawn from the
// tables of the model, and larger ones tell nothing. On nlswork at ε = 10, 24,000 steps are drawn
// in 5 s, and in 44 s with 80 MB; errors are the same at ε = 1 and 10.
const stepMemory = 8

// unitMemory is that of the view of the units, in MB: of it a row of each unit is drawn. With 8,
// unit × row is .10 off on nlswork at ε = 1, and .09 with 80.
const unitMemory = 32

// knownWeight is the weight of a pair of columns that are both known before a step, beside one with
// a column of the step: what these depend on is hidden by what they have in common.
const knownWeight = 0.25

// drawnSets is what should be right in a view of which columns are known before a row is drawn.
func drawnSets(v *schema.View) (out []columnSet) {
	for j := range v.Schema.Columns {
		for i := range j {
			weight := 1.
			if j < v.Given {
				weight = knownWeight
			}
			out = append(out, columnSet{[]int{i, j}, weight})
		}
	}
	if v.Steps {
		out = append(out, columnSet{v.Dates(), 2})
	}
	return out
}

// Fit fits each view.
func (p *linkedPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	params, settings := &release.Linked{Schema: p.schema}, map[string]any{}
	far := 0. // of all: stages begin anew
	for i, v := range p.views {
		view, err := s.View(v.Name)
		if err != nil {
			return out, err
		}
		m, err := p.plans[i].Fit(ctx, view, func(stage string, done float64) {
			far = max(far, (float64(i)+done)/float64(len(p.views)))
			progress.Report(v.Name+": "+stage, far)
		})
		if err != nil {
			return out, err
		}
		params.Views = append(params.Views, m.Params.(*release.Marginal))
		settings[v.Name] = m.Settings
	}
	return Model{Params: params, Settings: settings}, nil
}

// Forecast is what the fits of the views need, one after the other, beside all of these views,
// which have at most as many rows as the schema lets so many units have. Noise of steps is in rows.
func (p *linkedPlan) Forecast(rows int) (f Forecast) {
	held, most := 0, []int{rows}
	for i := range p.schema.Tables[1:] {
		most = append(most, most[p.schema.Of(i+1)]*p.schema.Tables[i+1].Order.Rows)
	}
	for i, one := range p.plans {
		v := one.Forecast(rows)
		held += most[p.views[i].Table] * len(p.views[i].Schema.Columns)
		f.Seconds += v.Seconds
		f.MemoryBytes = max(f.MemoryBytes, v.MemoryBytes)
		for _, n := range v.Noise {
			n.What = p.views[i].Name + ": " + n.What
			n.Sigma /= schema.Full
			f.Noise = append(f.Noise, n)
		}
	}
	f.MemoryBytes += int64(held)
	return f
}
