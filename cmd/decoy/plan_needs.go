package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// point is one point of the curve of guarantees that a composition gives at once.
type point struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// curve is ε at some δ: all of them hold together.
func curve(c accountant.Composition, adj accountant.Adjacency) ([]point, error) {
	var out []point
	for _, delta := range []float64{1e-12, 1e-9, 1e-7, 1e-5} {
		b, err := pld.Epsilon(c, delta, adj)
		if err != nil {
			return nil, err
		}
		out = append(out, point{delta, b.Epsilon})
	}
	return out, nil
}

// usableSigmas is how far a count must be above zero, in standard deviations of its noise, to be
// taken for more than noise: an empty category passes in one of 740 cases.
const usableSigmas = 3

// oneWaySigma is the noise of the counts of a column's codes, 0 where the method does not measure
// them.
func oneWaySigma(f synth.Forecast) float64 {
	for _, n := range f.Noise {
		if n.Columns == 1 {
			return n.Sigma
		}
	}
	return 0
}

// pairSigma is the noise of the counts of a pair of columns, 0 where the method measures none.
func pairSigma(f synth.Forecast) float64 {
	for _, n := range f.Noise {
		if n.Columns == 2 {
			return n.Sigma
		}
	}
	return 0
}

// rowNeeds is how many rows a fit needs for what it measures to stand out of the noise, each by
// usableSigmas where the rows are spread evenly; 0 for what the method does not measure.
type rowNeeds struct {
	Least  float64 `json:"least,omitempty"`  // a column of two codes: below, all is noise
	Column float64 `json:"column,omitempty"` // the median column
	Pair   float64 `json:"pair,omitempty"`   // a pair of two such columns
	Codes  int     `json:"codes,omitempty"`  // of the median column
}

func needsOf(s *schema.Schema, f synth.Forecast) rowNeeds {
	sizes := s.Sizes()
	slices.Sort(sizes)
	median := sizes[len(sizes)/2]
	one, two := usableSigmas*oneWaySigma(f), usableSigmas*pairSigma(f)
	if one == 0 {
		return rowNeeds{}
	}
	return rowNeeds{Least: 2 * one, Column: float64(median) * one,
		Pair: float64(median*median) * two, Codes: median}
}

// text says what so many rows, of whose number said tells, are enough for.
func (n rowNeeds) text(w io.Writer, rows int, said string) {
	if n.Least == 0 {
		return
	}
	fmt.Fprintf(w, "needs\tabout %d rows for a column of %d codes, the median, to stand out of the "+
		"noise; below %d even one of 2 codes is only noise\n", wholeRows(n.Column), n.Codes,
		wholeRows(n.Least))
	if n.Pair > 0 {
		fmt.Fprintf(w, "\tabout %d rows for all cells of a pair of two such columns; with fewer, only "+
			"its larger cells stand out\n", wholeRows(n.Pair))
	}
	enough := "for single columns and pairs"
	switch x := float64(rows); {
	case x < n.Least:
		enough = "for nothing: the table will be only noise"
	case x < n.Column:
		enough = "for columns of few codes"
	case n.Pair == 0:
		enough = "for single columns"
	case x < n.Pair:
		enough = "for single columns, and for pairs of few codes"
	}
	fmt.Fprintf(w, "\t%s: enough %s\n", said, enough)
}

// sayNoise tells of a model of so few rows, as counted with noise, that it is only noise.
func (n rowNeeds) sayNoise(t *terminal, rows float64) {
	if rows < n.Least {
		t.say("about %.0f rows are too few for this noise: even a column of two codes needs about %d, "+
			"so that most of the model is noise; take a larger epsilon, or fewer columns (decoy plan)",
			max(rows, 0), wholeRows(n.Least))
	}
}

// sayPairs tells of a model of so few rows, as counted with noise, that relations are mostly lost.
func (n rowNeeds) sayPairs(t *terminal, rows float64) {
	if n.Least <= rows && rows < n.Pair {
		t.say("about %.0f rows are few: most relations between columns are lost in the noise; a typical "+
			"pair (%d codes each) needs about %d rows, or a larger epsilon (decoy plan)", rows, n.Codes,
			wholeRows(n.Pair))
	}
}

// sayTarget tells whoever has named a target, and has too few rows for pairs to stand out, of what
// needs fewer. The rows are those of sayPairs.
func (n rowNeeds) sayTarget(
	t *terminal, s *schema.Schema, rows float64, given configs.Settings,
) {
	for _, g := range given {
		if g.Key == targetKey && rows < n.Pair {
			how := ""
			if at := s.Index(fmt.Sprint(g.Value)); at >= 0 && s.Columns[at].Kind.Ordered() {
				how = " (it predicts categories: give the column kind: boolean in the schema)"
			}
			t.say("if all that matters is to predict %v, decoy train --target %[1]v needs fewer rows for "+
				"the same epsilon%s", g.Value, how)
		}
	}
}

// coarse is a column with more codes than the noise lets stand out.
type coarse struct {
	Column string `json:"column"`
	Codes  int    `json:"codes"`
	Usable int    `json:"usable"` // if the rows were spread evenly
}

// coarsenFrom is how many times more codes than stand out a column has that should have fewer.
const coarsenFrom = 2

// coarsen lists the columns in which an even share of the rows is less than half of the smallest
// usable count.
func coarsen(s *schema.Schema, sigma float64, rows int) []coarse {
	var out []coarse
	if sigma == 0 {
		return out
	}
	usable := max(2, int(float64(rows)/(usableSigmas*sigma)))
	for i, size := range s.Sizes() {
		if size > coarsenFrom*usable {
			out = append(out, coarse{s.Columns[i].Name, size, usable})
		}
	}
	return out
}

// needsText is the second half of a plan: what it means for a table of so many rows.
func (p planned) needsText(w io.Writer) {
	var points []string
	for _, c := range p.Curve {
		points = append(points, fmt.Sprintf("%s at %s", short3(c.Epsilon), configs.Short(c.Delta)))
	}
	fmt.Fprintf(w, "also\tthe same run, stated at other deltas: epsilon %s\n",
		strings.Join(points, ", "))
	if r := p.Releases; r != nil {
		fmt.Fprintf(w, "%d releases\ttogether epsilon %s at delta %s; %s\n", r.Number, short3(r.Epsilon),
			configs.Short(r.Delta), r.limits())
	}
	if p.Usable > 0 {
		fmt.Fprintf(w, "visible\ta category of %.0f rows or more: %d standard deviations of the noise "+
			"of a column's counts\n", p.Usable, usableSigmas)
	}
	p.RowNeeds.text(w, p.Needs.Rows, p.Needs.RowsText("--rows"))
	head := "coarsen"
	for _, c := range p.Coarsen {
		fmt.Fprintf(w, "%s\t%q has %d codes; with %s about %d stand out of the noise\n", head,
			c.Column, c.Codes, plural(p.Needs.Rows, "row", "rows"), c.Usable)
		head = ""
	}
	fmt.Fprintf(w, "memory\t%s with %s, %s of it for the fit\n", spelling.Size(p.Needs.MemoryBytes),
		p.Needs.RowsText("--rows"), spelling.Size(p.Forecast.MemoryBytes))
	if e := p.Elsewhere; e != nil {
		queries := "one query"
		if e.Queries > 1 {
			queries = fmt.Sprintf("up to %d queries, one for each gradient sum", e.Queries)
		}
		fmt.Fprintf(w, "in Spark\t%s of %d cells in all, %s in each task and here; %s\n",
			plural(e.Tables, "table", "tables"), e.Cells, spelling.Size(e.MemoryBytes), queries)
	}
	fmt.Fprintf(w, "time\t%s on one core, %s of it for the fit\n", spelling.Time(p.Needs.Seconds),
		spelling.Time(p.Forecast.Seconds))
}

func short3(x float64) string { return fmt.Sprintf("%.3g", x) }

// compare plans with every method, at its defaults.
func (p *plan) compare(cmd *cobra.Command, t *terminal) error {
	for _, name := range []string{"releases", "method", "set", "target", "workload", "time-limit"} {
		if cmd.Flags().Changed(name) {
			return usagef("--compare takes every method with its defaults: leave --%s out", name)
		}
	}
	if err := p.checkBudget(); err != nil {
		return err
	}
	s, err := configs.SchemaOf(p.Schema, p.Dataset)
	if err != nil {
		return err
	}
	type line struct {
		Method string        `json:"method"`
		Calls  int           `json:"calls,omitempty"`
		Sigma  float64       `json:"one_way_sigma,omitempty"`
		Rows   rowNeeds      `json:"rows_needed,omitzero"`
		Needs  configs.Needs `json:"needs,omitzero"`
		Error  string        `json:"error,omitempty"`
	}
	var lines []line
	for _, name := range synth.Names() {
		l := line{Method: name, Needs: configs.Needs{Rows: p.Rows}}
		f, err := synth.New(name, nil)
		if err != nil {
			return err
		}
		fit, err := p.plan(f, s)
		switch {
		case errors.Is(err, synth.ErrConfig), errors.Is(err, accountant.ErrBudgetRange):
			l.Error = spelling.Plain(err)
		case err != nil:
			return err
		default:
			forecast := fit.Forecast(0)
			l.Calls, l.Needs = callsOf(forecast), configs.NeedsOf(fit, s, p.Rows)
			l.Sigma, l.Rows = oneWaySigma(forecast), needsOf(s, forecast)
		}
		lines = append(lines, l)
	}
	err = t.print(listing[line]{lines,
		"METHOD\tCALLS\tNOISE OF A COLUMN'S COUNTS\tVISIBLE FROM\tROWS FOR A COLUMN\tFOR A PAIR\t" +
			"MEMORY\tTIME",
		func(l line) string {
			if l.Error != "" {
				return row(l.Method, "-", "-", "-", "-", "-", "-", "-")
			}
			or := func(text string, of float64) string {
				if of == 0 {
					return "-"
				}
				return text
			}
			return row(l.Method, l.Calls, or(short3(l.Sigma)+" rows", l.Sigma),
				or(fmt.Sprintf("%.0f rows", usableSigmas*l.Sigma), l.Sigma),
				or(fmt.Sprint(wholeRows(l.Rows.Column)), l.Rows.Column),
				or(fmt.Sprint(wholeRows(l.Rows.Pair)), l.Rows.Pair),
				spelling.Size(l.Needs.MemoryBytes), spelling.Time(l.Needs.Seconds))
		}})
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.Error != "" {
			t.say("%s", l.Error)
		}
	}
	t.say("for %s; nothing was read; which method is best for what: decoy help methods",
		lines[0].Needs.RowsText("--rows"))
	return nil
}
