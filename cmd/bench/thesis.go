package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// measures are what a run of thesis is scored by.
var measures = []measure{
	{"AUROC", 3, "auroc", .4, .9}, {"rare class, %", 2, "rate", 0, 30},
	{"nnAA, training", 3, "nnaa", 0, 1}, {"nnAA, test", 3, "", 0, 0}, {"privacy loss", 3, "", 0, 0},
	{"LTU", 3, "ltu", 0, 1}, {"noise", 0, "", 0, 0},
}

// published are the figures of J. Pedersen's thesis (RPI 2022, hdl 20.500.13015/6261) for the
// cohorts that ours have the shapes of, without and with its noise; 0 is none.
var published = map[string][2]scores{
	"icu-mortality":   {{.723, 4.5}, {.724, 5.4, .539, 0, .012}},
	"icu-severity":    {{.614, 17.8}, {.657, 20.2, .860, 0, .012}},
	"icu-readmission": {{.713, 2.6}, {.720, 3.2, .627, 0, .020}},
}

// thesis repeats the thesis' protocol on the embedded cohorts and prints a table of each. Run r of
// every cell fits the same two thirds of the rows, drawn by seed r; the others are for the test.
// All cells have r runs before one has more, so that of a command that is ended all have as many.
func thesis(args []string) {
	flags := flag.NewFlagSet("thesis", flag.ExitOnError)
	cohorts := flags.String("cohorts", "icu-mortality,icu-severity,icu-readmission", "tables")
	variants := flags.String("variants", "mst,aim target={label},pategan target={label},"+
		"wgan target={label},wgan target={label} mode=box,wgan target={label} mode=thesis,"+
		"wgan target={label} mode=ball,wgan target={label} marginal_share=.001,"+
		"wgan target={label} marginal_share=.001 mode=thesis",
		"methods, each with its settings; {label} stands for the column to predict")
	epsilons := flags.String("epsilon", "1,3,10", "budgets; delta is 1e-5")
	runs := flags.Int("runs", 10, "runs of each cell")
	done := flags.String("done", "", doneUsage)
	pictures := flags.String("pictures", "", "folder that results-NAME.svg are written into")
	flags.Parse(args)
	log := must(openRuns(*done))
	var panels []*testTable
	var ways []way
	for _, v := range split(*variants) {
		must(variant(v, nil))
		ways = append(ways, way{strings.Replace(v, " target={label}", "", 1), watched(v)})
	}
	copied := func(t *testTable, _ accountant.Budget) (scores, error) { return t.measured(t.train) }
	for i, name := range strings.Split(*cohorts, ",") {
		panels = append(panels, cohort(name, 1))
		panels[i].cells = append([]*cell{{way: way{"real rows", copied}, label: "real rows | –"}},
			cellsOf(ways, must(budgetsOf(*epsilons, 1e-5)))...)
	}
	for start, run := time.Now(), 1; run <= *runs; run++ {
		var group errgroup.Group
		group.SetLimit(2)
		for _, p := range panels {
			t := cohort(p.name, run)
			for _, c := range p.cells {
				group.Go(func() error {
					c.runs = log.of(t, c.way, c.Budget, run)
					return nil
				})
			}
		}
		group.Wait()
		for _, p := range panels {
			for _, c := range p.cells {
				if key := c.runs[0].lineKey; len(c.runs) > len(log.runs[key]) {
					log.runs[key] = c.runs
				}
			}
		}
		fmt.Fprintf(os.Stderr, "run %d of %d of all cells is done after %v\n", run, *runs,
			time.Since(start).Round(time.Second))
	}
	for _, p := range panels {
		p.head(measures, 1e-5, len(p.cells[0].runs))
		old := published[p.name]
		for _, c := range append([]*cell{
			{label: "thesis, without noise | –", runs: []doneRun{{Scores: old[0]}}},
			{label: "thesis, with noise | –", runs: []doneRun{{Scores: old[1]}}},
		}, p.cells...) {
			c.print(measures)
		}
	}
	for k, m := range measures {
		if *pictures != "" && m.file != "" {
			path := filepath.Join(*pictures, "results-"+m.file+".svg")
			check(os.WriteFile(path, []byte(picture(panels, k)), 0o644))
		}
	}
}

// cohort is an embedded table as a run parts it.
func cohort(name string, run int) *testTable {
	d := must(datasets.Get(name))
	rows := must(d.Table())
	t := &testTable{name: name, task: must(taskOf(rows.Schema(), d.Label, d.Positive))}
	t.part(rows, (2*rows.Rows()+1)/3, uint64(run))
	return t
}

// watched measures what a variant draws, and the certificates of its critics.
func watched(settings string) func(*testTable, accountant.Budget) (scores, error) {
	return func(t *testTable, b accountant.Budget) (out scores, err error) {
		sum, steps := 0., 0.
		f := must(variant(strings.ReplaceAll(settings, "{label}", t.task.Label),
			func(stage string, _ float64) {
				var step, of int
				var multiplier, size float64
				if n, _ := fmt.Sscanf(stage, "step %d of %d, noise multiplier %g, certificate %g",
					&step, &of, &multiplier, &size); n == 4 {
					sum, steps = sum+size, steps+1
				}
			}))
		syn, err := f.drawn(t.train, b)
		if err == nil {
			out, err = t.measured(syn)
		}
		out[6] = sum / max(1, steps)
		return out, err
	}
}

// measured scores a synthetic table by all of [measures] but the noise.
func (t *testTable) measured(syn *table.Table) (scores, error) {
	auroc, err := t.learnt(syn)
	of := func(t *table.Table) *eval.Points { return must(eval.TablePoints(t, eval.Euclidean)) }
	loss := must(eval.PrivacyLoss(of(t.train), of(t.test), of(syn), 1))
	return scores{auroc, 100 * rate(syn, t.task), loss.Train.Mean,
		loss.Holdout.Mean, loss.Loss, t.leftTwo(syn)}, err
}

// leftTwo is how often a leave-two-unlabelled attacker is right who knows every row, and of all but
// two, one fitted and one not, which they are. In the cells of all pairs of columns he compares the
// synthetic rows with the other fitted ones: a cell has one row more or not, and the variance of
// counts drawn at random. Source: Pedersen et al., Algorithms 15(7) 254, 2022.
func (t *testTable) leftTwo(syn *table.Table) (accuracy float64) {
	const rounds = 2000
	u, sizes := rand.New(rand.NewPCG(1, 0)), t.train.Schema().Sizes()
	var fitted, other [rounds]int
	var scores [rounds]float64
	for r := range scores {
		fitted[r], other[r] = u.IntN(t.train.Rows()), u.IntN(t.test.Rows())
	}
	for b := range sizes {
		for a := range b {
			real, drawn := t.train.Counts(a, b), syn.Counts(a, b)
			cell := func(t *table.Table, row int) int {
				return int(t.Column(a).At(row))*sizes[b] + int(t.Column(b).At(row))
			}
			for r := range scores {
				in, out := cell(t.train, fitted[r]), cell(t.test, other[r])
				if in != out { // else it says nothing
					known, beside := float64(real[in]-1), float64(real[out])
					scores[r] += (float64(drawn[in])-known-.5)/(known+1) -
						(float64(drawn[out])-beside-.5)/(beside+1)
				}
			}
		}
	}
	for _, s := range scores {
		accuracy += float64(1+cmp.Compare(s, 0)) / (2 * rounds)
	}
	return accuracy
}

// of is a score, one value a run.
func (c *cell) of(score int) (out []float64) {
	for _, r := range c.runs {
		out = append(out, r.Scores[score])
	}
	return out
}

// picture is an SVG of measure k, a panel of each cohort: the means of all cells with their 95 %
// intervals, one ε beside the other in the colour of the way. Real rows are a dashed line, the
// thesis' figure with noise is a dotted one.
func picture(panels []*testTable, k int) string {
	const across, up, down = 260., 40., 240.
	var out strings.Builder
	draw := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line := func(x1, y1, x2, y2 float64, style string) {
		draw(`<path d="M%.1f %.1fL%.1f %.1f" stroke=%s/>`, x1, y1, x2, y2, style)
	}
	text := func(x, y float64, s string) { draw(`<text x="%.1f" y="%.1f">%s</text>`, x, y, s) }
	m, colour := measures[k], 0
	y := func(v float64) float64 {
		return down - (down-up)*(min(max(v, m.low), m.high)-m.low)/(m.high-m.low)
	}
	draw(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 440" font-family="sans-serif" ` +
		`font-size="11"><rect width="100%%" height="100%%" fill="#fff"/>`)
	text(5, 15, m.name)
	for i, p := range panels {
		left, right := across*float64(i)+30, across*float64(i+1)-5
		text(left, up-10, p.name)
		for tick := range 6 {
			v := m.low + (m.high-m.low)*float64(tick)/5
			line(left, y(v), right, y(v), `"#ddd"`)
			text(left-28, y(v)+4, fmt.Sprintf("%.1f", v))
		}
		line(left, y(published[p.name][1][k]), right, y(published[p.name][1][k]),
			`"#000" stroke-dasharray="1 3"`)
		real, _ := meanOf(p.cells[0].of(k))
		line(left, y(real), right, y(real), `"#000" stroke-dasharray="6 3"`)
		for j, c := range p.cells[1:] {
			mean, half := meanOf(c.of(k))
			if c.name != p.cells[j].name {
				colour = (colour + 100) % 360
			}
			x := left + (right-left)*(float64(j)+.5)/float64(len(p.cells))
			line(x, y(mean-half), x, y(mean+half), fmt.Sprintf(`"hsl(%d,80%%,38%%)"`, colour))
			draw(`<circle cx="%.1f" cy="%.1f" r="2" fill="hsl(%d,80%%,38%%)"/>`, x, y(mean), colour)
			draw(`<text transform="translate(%.1f %v) rotate(90)" font-size="8">%s</text>`, x-2,
				down+8, strings.Replace(c.label, "|", "ε =", 1))
		}
	}
	return out.String() + "</svg>\n"
}
