package text

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// stays are the columns of the relations that are asked here, and the relations.
var (
	stays = []schema.Column{
		{Name: "in", Kind: schema.Date, Max: 30000, OnInvalid: schema.Clamp},
		{Name: "out", Kind: schema.Date, Max: 30000, OnInvalid: schema.Clamp},
		{Name: "days", Kind: schema.Integer, Max: 90, OnInvalid: schema.Clamp},
		{Name: "x", Kind: schema.Real, Max: 90, Decimals: 1, OnInvalid: schema.Clamp},
		{Name: "y", Kind: schema.Real, Max: 90, Decimals: 1, OnInvalid: schema.Clamp},
		{Name: "total", Kind: schema.Real, Max: 90, Decimals: 1, OnInvalid: schema.Clamp},
	}
	byDays  = schema.Magnitudes{Kind: schema.Integer, PerPower: 1}
	ofStays = []Relation{
		{Made: schema.Made{Name: "out", Kind: schema.NotBefore, Of: []string{"in"}}},
		{Made: schema.Made{Name: "out", Kind: schema.NotBefore, Of: []string{"in"}}, By: byDays},
		relationOf("{name: days, kind: difference, of: [out, in], in: days, round: down}"),
		relationOf("{name: total, kind: sum, of: [x, y]}"),
		relationOf("{name: total, kind: product, of: [x, y], round: nearest, decimals: 1}"),
		relationOf("{name: y, kind: copy, of: x}"),
		relationOf("{name: days, kind: sum, of: [total, x], less: y}"),
		relationOf("{name: y, kind: difference, of: [total, x]}"),
	}
)

// relationOf is that of a column that a schema file describes.
func relationOf(line string) Relation {
	columns := "decoy: 1\ncolumns:\n"
	for _, name := range []string{"in", "out"} {
		columns += "  - {name: of " + name + ", kind: date, min: 2020-01-01, max: 2021-01-01}\n"
	}
	for _, name := range []string{"x", "y", "total"} {
		columns += "  - {name: of " + name + ", kind: real, min: 0, max: 1}\n"
	}
	line = regexp.MustCompile(`\b(in|out|x|y|total)\b([],}])`).ReplaceAllString(line, "of $1$2")
	line = strings.Replace(line, "{name: of ", "{name: ", 1)
	m := stattest.Must(schema.Parse([]byte(columns + "  - " + line + "\n"))).Made[0]
	for i, name := range m.Of {
		m.Of[i] = strings.TrimPrefix(name, "of ")
	}
	for i, name := range m.Less {
		m.Less[i] = strings.TrimPrefix(name, "of ")
	}
	return Relation{Made: m}
}

// staysOf are rows of these columns; units may be nil.
func staysOf(k int, units []uint32, lines ...string) *Table {
	t := &Table{k: k}
	for _, c := range stays {
		t.names = append(t.names, c.Name)
	}
	if units != nil {
		t.unit = "id"
	}
	t.load = func(_ context.Context, begin func() error) (*table.Texts, error) {
		texts := &table.Texts{Columns: make([]table.TextColumn, len(stays)), Units: units}
		for row, line := range lines {
			for i, cell := range strings.Split(line, ",") {
				c := &texts.Columns[i]
				c.Texts, c.Cells = append(c.Texts, cell), append(c.Cells, uint32(row))
			}
		}
		return texts, begin()
	}
	return t
}

// openStays is a session on them that has reserved what so many questions cost.
func openStays(t *testing.T, tab *Table, adj accountant.Adjacency, sigma float64, n int) *Session {
	t.Helper()
	nb := tab.Neighbours(adj)
	return openText(t, tab, adj,
		accountant.Composition{{Event: nb.MeasureEvent(privacy.Marginal{}, sigma), Count: n}})
}

// smallStays are four rows: one keeps all relations, one breaks all, of one nothing can be said of
// some, and one keeps some.
var smallStays = []string{
	"2020-01-01,2020-01-05,4,2.0,2.0,4.0", "2020-01-05,2020-01-01,4,2.0,3.0,4.0",
	",,7,0,0,0", "2020-01-01,2020-01-09,8,NA,1e400,1.5",
}

// relationsRow is that of TestSmallTables. A unit moves each relation by as many counts as it has
// rows, so that n relations move by the root of n times as far as one.
func relationsRow() smallRow {
	event := func(nb privacy.Neighbours) accountant.Event {
		cost := relationsCost(nb, len(ofStays), tiny)[0]
		g := cost.Event.(accountant.Gaussian)
		g.NoiseMultiplier /= math.Sqrt(float64(cost.Count))
		return g
	}
	return smallRow{"Relations", "", func(s *small) value {
		var lines []string
		units := []uint32{}
		for i, u := range s.Units {
			for _, c := range u {
				lines, units = append(lines, smallStays[c]), append(units, uint32(i))
			}
		}
		tab := staysOf(s.NB.MaxRowsPerUnit, units, lines...)
		got, err := openStays(s.T, tab, s.NB.Adjacency, tiny, len(ofStays)).
			Relations(stays, ofStays, tiny)
		stattest.Check(s.T, err)
		var out []float64
		for _, x := range slices.Concat(got...) {
			out = append(out, float64(x))
		}
		return value{out}
	}, func(nb privacy.Neighbours) float64 {
		return tiny / event(nb).(accountant.Gaussian).NoiseMultiplier
	}, gatetest.L2, nil}
}

// TestRelations: what is counted, of rows that keep a relation, break it, or say nothing of it.
func TestRelations(t *testing.T) {
	tab := staysOf(1, nil, slices.Concat(smallStays, []string{
		"2020-01-01,2020-01-01,0,1.5,1.5,2.3", "2020-01-01,,3,0.5,0.5,1.0"})...)
	s := openStays(t, tab, accountant.AddRemove, tiny, len(ofStays))
	got := stattest.Must(s.Relations(stays, ofStays, tiny))
	zero := byDays.Len() / 2
	for _, c := range []struct {
		relation, cell int
		want           int64
	}{
		{0, 0, 3}, {0, 1, 1}, // an order: there is none where one is missing
		{1, zero, 1}, {1, zero - 24, 1}, {1, zero + 24, 1}, {1, zero + 25, 1}, // 0, −4, 4 and 8 days
		{2, 0, 2}, {2, 1, 3}, // 0 = 0 says nothing; a missing date with a number of days breaks it
		{3, 0, 2}, {3, 1, 3}, // so does a missing summand
		{4, 0, 2}, {4, 1, 3}, // 1.5 · 1.5 is 2.25, which is written as 2.3
		{5, 0, 3}, {5, 1, 1}, // 1e400 is no number
		{6, 0, 1}, {6, 1, 5}, // with a part that is taken off
		{7, 0, 2}, {7, 1, 2},
	} {
		if got := got[c.relation][c.cell]; got != c.want {
			t.Errorf("relation %d, count %d: %d, want %d", c.relation, c.cell, got, c.want)
		}
	}
}

// TestRelationsNoise: each count has noise of its own, of the right scale.
func TestRelationsNoise(t *testing.T) {
	const n, sigma = 2000, 4.0
	s := openStays(t, staysOf(1, nil, smallStays...), accountant.AddRemove, sigma, 4*n)
	of := slices.Concat(ofStays[:1], ofStays[2:5])
	var draws []int64
	for range n {
		for k, counts := range stattest.Must(s.Relations(stays, of, sigma)) {
			exact := [][]int64{{2, 1}, {2, 2}, {1, 2}, {1, 2}}[k]
			draws = append(draws, counts[0]-exact[0], counts[1]-exact[1])
		}
	}
	law := func(scale float64) func(int64) float64 {
		return func(x int64) float64 { return roundedNormal(x, scale) }
	}
	if !follows(draws, 14, law(sigma)) {
		t.Error("the noise does not follow its law")
	}
	for _, wrong := range []float64{.7, 1.3} {
		if follows(draws, 14, law(wrong*sigma)) {
			t.Errorf("%v times the right scale is accepted", wrong)
		}
	}
}

// TestRelationsAreRefused: what is not paid for, or cannot be asked, is not counted.
func TestRelationsAreRefused(t *testing.T) {
	sigma := 3 * tiny
	s := openStays(t, staysOf(1, nil, smallStays...), accountant.AddRemove, sigma, len(ofStays)-1)
	stattest.Wraps(t, stattest.Err(s.Relations(stays, ofStays, sigma)), accountant.ErrBudget,
		"one relation more than was reserved")
	for name, ask := range map[string]func() error{
		"no noise": func() error { return stattest.Err(s.Relations(stays, ofStays, 0)) },
		"a column that there is not": func() error {
			other := append(slices.Clone(stays), schema.CountColumn("z", 3))
			return stattest.Err(s.Relations(other, ofStays[:1], sigma))
		},
		"magnitudes of a sum": func() error {
			return stattest.Err(s.Relations(stays, []Relation{{Made: ofStays[3].Made, By: byDays}}, sigma))
		},
		"a column of texts": func() error {
			texts := []schema.Column{schema.TextColumn("in", "a"), stays[1]}
			return stattest.Err(s.Relations(texts, ofStays[:1], sigma))
		},
	} {
		stattest.Fails(t, ask(), "%s", name)
	}
	if got := len(s.Ledger().Entries); got != 2 {
		t.Errorf("%d entries, want an opening and a reservation", got)
	}
	for name, other := range map[string]*session{
		"elsewhere": {opened: &opened{far: &far{}}}, "linked": {opened: &opened{parts: []*Table{nil}}}} {
		stattest.Wraps(t, stattest.Err(other.Relations(stays, ofStays, noise.MinScale)),
			privacy.ErrElsewhere, "%s", name)
	}
}

// TestRelationsHaveTheirKeys: two relations that ask another thing have another key.
func TestRelationsHaveTheirKeys(t *testing.T) {
	first := Relation{Made: schema.Made{Name: "x", Of: []string{"a", "b"}},
		By: schema.Magnitudes{Kind: schema.Integer, PerPower: 1}}
	keys := map[string]bool{first.key(): true}
	for _, change := range []func(r *Relation){
		func(r *Relation) { r.Name = "y" }, func(r *Relation) { r.Kind = schema.NotBefore },
		func(r *Relation) { r.Of = []string{"a,b"} }, func(r *Relation) { r.Less = []string{"a"} },
		func(r *Relation) { r.Round = schema.Down },
		func(r *Relation) { r.Decimals = 1 }, func(r *Relation) { r.In = 2 },
		func(r *Relation) { r.By.PerPower = 2 }, func(r *Relation) { r.By.Edges = []float64{0, 1} },
		func(r *Relation) { r.By.Edges = []float64{0, 2} }, func(r *Relation) { r.By.Format = "z" },
	} {
		other := first
		change(&other)
		if keys[other.key()] {
			t.Errorf("%s is the key of another relation", other.key())
		}
		keys[other.key()] = true
	}
}
