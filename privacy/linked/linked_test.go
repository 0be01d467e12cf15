package linked

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// tiny is the noise: the least that the samplers take, and 0 but with a probability below
// exp(−1000).
const tiny = noise.MinScale

// clinic is patients with visits, of which three count, and with doses.
const clinic = `decoy: 1
unit: id
tables:
  - name: patients
    columns:
      - {name: sex, kind: categorical, categories: [f, m]}
  - name: visits
    parent: patients
    key: patient
    order: {by: day, rows: 3}
    remember: [what]
    columns:
      - {name: what, kind: categorical, categories: [cold, flu], missing: [""]}
      - {name: day, kind: date, min: 2020-01-01, max: 2020-04-09, bins: 2, missing: [""]}
  - name: doses
    parent: patients
    key: id
    weight: 2
    order: {by: at, rows: 4}
    columns:
      - {name: at, kind: integer, min: 0, max: 9, bins: 5}
      - {name: drug, kind: categorical, categories: [a, b, c, d, e, f, g, h]}
`

func parsed(t testing.TB, text string) *schema.Linked {
	t.Helper()
	return stattest.Must(schema.ParseLinked([]byte(text)))
}

// free prices everything at nothing.
func free(accountant.Composition, float64, accountant.Adjacency) (accountant.Bound, error) {
	return accountant.Bound{}, nil
}

var wide = accountant.Budget{Epsilon: 1e6, Delta: 1e-9}

// files writes tables by their names, and gives the paths in the order of the schema.
func files(t testing.TB, l *schema.Linked, texts map[string]string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, one := range l.Tables {
		paths = append(paths, filepath.Join(dir, one.Name+".csv"))
		if err := os.WriteFile(paths[len(paths)-1], []byte(texts[one.Name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// counted is the rows of each view with their counts, as anybody would measure them: the marginal
// of all columns, by the labels of its cells, in parts of rows.
func counted(t testing.TB, l *schema.Linked, rows *privacy.Rows) map[string]int64 {
	t.Helper()
	views := stattest.Must(schema.Views(l))
	var plan accountant.Composition
	var all []privacy.Marginal
	for _, v := range views {
		q := privacy.Marginal{}
		for c := range v.Schema.Columns {
			q.Cols = append(q.Cols, c)
		}
		all = append(all, q)
		nb := privacy.NeighboursOf(v.Schema, 0)
		plan = append(plan, accountant.Charge{Event: nb.MeasureEvent(q, tiny), Count: 1})
	}
	s := stattest.Must(privacy.Open(t.Context(), rows,
		privacy.Options{Budget: wide, Plan: plan, Price: free}))
	out := map[string]int64{}
	for i, v := range views {
		codecs := stattest.Must(v.Schema.Codecs())
		counts := stattest.Must(stattest.Must(s.View(v.Name)).Measure(all[i], tiny))
		for cell, n := range counts {
			if n == 0 {
				continue
			}
			label := make([]string, len(codecs))
			for c := len(codecs) - 1; c >= 0; c-- {
				label[c] = codecs[c].Label(uint16(cell % codecs[c].Size()))
				cell /= codecs[c].Size()
			}
			out[v.Name+": "+strings.Join(label, " ")] = n
		}
	}
	return out
}

// differ says where counts differ; "" nowhere.
func differ(got, want map[string]int64) (out string) {
	for cell, n := range want {
		if got[cell] != n {
			out += fmt.Sprintf("\n%s: %d, want %d", cell, got[cell], n)
		}
	}
	for cell, n := range got {
		if _, ok := want[cell]; !ok {
			out += fmt.Sprintf("\n%s: %d, want none", cell, n)
		}
	}
	return out
}

// hostile are tables with every mistake that a file may hold.
var hostile = map[string]string{
	"patients": "id,sex\nb,m\na,m\n,f\na,f\nc,f\n d ,m\n",
	"visits": "patient,what,day\n" +
		"a,flu,2020-03-01\n" + // place 3
		"a,cold,2020-01-01\n" + // place 1
		"zz,flu,2020-01-02\n" + // an orphan
		",flu,2020-01-02\n" + // nobody's
		"a,flu,2020-03-05\n" + // behind the third
		"a,cold,2020-01-04\n" + // place 2
		"b,flu,not a day\n" + // without an order
		"b,,2020-04-09\n" +
		"d,flu,2020-01-31\n" +
		"d,cold,2020-01-31\n", // the same day: by its other codes before flu
	"doses": "id,at,drug\na,9,b\na,0,a\na,0,a\na,2,c\n",
}

// TestRules: what becomes of rows is what Files says, counted by hand. No mistake is an error.
func TestRules(t *testing.T) {
	l := parsed(t, clinic)
	rows := stattest.Must(Files(l, files(t, l, hostile)))
	const full, none = 1 << 16, "(missing)"
	jan, mar := "[2020-01-01, 2020-02-20)", "[2020-02-20, 2020-04-09]"
	want := map[string]int64{
		// sex, visits, first, doses, first
		"patients: f 3 cold " + jan + " 4 [0, 2) a":                      1,
		"patients: m 1 " + none + " " + mar + " 0 " + none + " " + none:  1,
		"patients: f 0 " + none + " " + none + " 0 " + none + " " + none: 1,
		"patients: m 2 cold " + jan + " 0 " + none + " " + none:          1,
		// sex, rows, place, before, seen cold, flu and missing, gap, next
		"visits: f 3 1 cold " + jan + " true false false [3, 4) cold " + jan:  full / 2,
		"visits: f 3 2 cold " + jan + " true false false [48, 64) flu " + mar: full / 2,
		"visits: m 2 1 cold " + jan + " true false false [0, 1) flu " + jan:   full,
		// a drug that is as it was has code 8
		"doses: f 4 1 [0, 2) a [0, 1) [0, 2) 8": 2 * full / 3,
		"doses: f 4 2 [0, 2) a [2, 3) [2, 4) 2": 2 * full / 3,
		"doses: f 4 3 [2, 4) c [6, 8) [8, 9] 1": 2 * full / 3,
	}
	if got := counted(t, l, rows); differ(got, want) != "" {
		t.Error(differ(got, want))
	}
}

// TestOrderTellsNothing: rows in another order, ids of another name and a patient who comes first
// in another file leave the counts as they are, in 50 random files.
func TestOrderTellsNothing(t *testing.T) {
	l, u := parsed(t, clinic), rand.New(rand.NewPCG(3, 4))
	var want map[string]int64
	lines := map[string][]string{}
	heads := map[string]string{}
	for name, text := range hostile {
		all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		heads[name], lines[name] = all[0], all[1:]
	}
	for try := range 50 {
		texts := map[string]string{}
		for name, list := range lines {
			u.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			texts[name] = heads[name] + "\n" + strings.Join(list, "\n") + "\n"
			if try%2 == 1 {
				for _, id := range []string{"a", "b", "d"} {
					texts[name] = strings.ReplaceAll(texts[name], "\n"+id+",", "\n"+id+id+",")
				}
				texts[name] = strings.ReplaceAll(texts[name], "\n d ,", "\ndd ,")
			}
		}
		got := counted(t, l, stattest.Must(Files(l, files(t, l, texts))))
		if want == nil {
			want = got
		}
		if differ(got, want) != "" {
			t.Fatalf("%v: %s", texts, differ(got, want))
		}
	}
}

// TestHeadersAreLookedAtFirst: what is wrong with the header of any file is said before anything is
// spent; what is wrong with a row is never said, and no text of a row is in an error.
func TestHeadersAreLookedAtFirst(t *testing.T) {
	l := parsed(t, clinic)
	open := func(paths []string) (*ledger.File, error) {
		file := ledger.NewFile(filepath.Join(t.TempDir(), "ledger"))
		s, err := privacy.Open(t.Context(), stattest.Must(Files(l, paths)), privacy.Options{Budget: wide,
			Ledger: file, Plan: accountant.Composition{{Event: accountant.GDPFilter{Mu: 1}, Count: 1}}})
		if err == nil {
			err = s.Finish(nil, nil)
		}
		return file, err
	}
	for name, texts := range map[string]map[string]string{
		"no key":     {"visits": "id,what,day\na,flu,2020-01-01\n"},
		"no column":  {"doses": "id,when,drug\na,canary,a\n"},
		"no unit":    {"patients": "sex\nf\n"},
		"empty file": {"doses": ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{}
			for table, text := range hostile {
				all[table] = text
			}
			for table, text := range texts {
				all[table] = text
			}
			file, err := open(files(t, l, all))
			if !errors.Is(err, schema.ErrSchema) {
				t.Errorf("the error is %v", err)
			}
			if _, err := os.Stat(file.Path()); !errors.Is(err, os.ErrNotExist) {
				t.Error("there is a ledger")
			}
		})
	}
	if _, err := open([]string{"a.csv", "b.csv", "c.csv"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no files: %v", err)
	}
	file, err := open(files(t, l, map[string]string{"patients": "id,sex\ncanary,canary\n\n,\n",
		"visits": "patient,what,day\ncanary\ncanary,canary,canary,canary\n\"",
		"doses":  "id,at,drug\n\xff,\xff\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if l := stattest.Must(file.Read()); l.Spent() != wide {
		t.Errorf("%v is spent", l.Spent())
	}
}

// small is patients with visits of few codes.
const small = `decoy: 1
unit: id
tables:
  - name: patients
    columns: [{name: sex, kind: categorical, categories: [f, m]}]
  - name: visits
    parent: patients
    key: id
    weight: %d
    order: {by: day, rows: %d}
    columns:
      - {name: what, kind: categorical, categories: [x, y]}
      - {name: day, kind: integer, min: 0, max: 1}
`

// smallUnit is the rows of a unit: what it has in the first table, and in the other.
type smallUnit struct{ sex, visits []uint8 }

// multisets are those of up to most of n things.
func multisets(n, most int) (out [][]uint8) {
	out = [][]uint8{nil}
	for from := 0; most > 0; most-- {
		end := len(out)
		for _, m := range out[from:end] {
			least := 0
			if len(m) > 0 {
				least = int(m[len(m)-1])
			}
			for x := least; x < n; x++ {
				out = append(out, append(slices.Clone(m), uint8(x)))
			}
		}
		from = end
	}
	return out
}

// smallCounts are the counts of a view's questions on a table of units, whose rows are in an order
// of their own.
func smallCounts(
	t testing.TB, l *schema.Linked, views []*schema.View, adj accountant.Adjacency, units []smallUnit,
	u *rand.Rand, ask func(v *schema.View) []privacy.Query,
) (out [][]int64) {
	t.Helper()
	schemas := []*schema.Schema{l.Tables[0].Schema, views[1].Fine()}
	cols := [][]table.Codes{{{U8: []uint8{}}}, {{U8: []uint8{}}, {U8: []uint8{}}}}
	ids := [][]uint32{{}, {}}
	for id, unit := range units {
		for _, x := range unit.sex {
			cols[0][0].U8, ids[0] = append(cols[0][0].U8, x), append(ids[0], uint32(id))
		}
		for _, x := range unit.visits {
			cols[1][0].U8, cols[1][1].U8 = append(cols[1][0].U8, x/2), append(cols[1][1].U8, x%2)
			ids[1] = append(ids[1], uint32(id))
		}
	}
	var tables []*table.Table
	for i := range cols {
		one := stattest.Must(table.FromColumns(schemas[i], cols[i], ids[i]))
		tables = append(tables, one.Select(u.Perm(one.Rows())))
	}
	var plan accountant.Composition
	for _, v := range views {
		nb := privacy.NeighboursOf(v.Schema, adj)
		for _, q := range ask(v) {
			plan = append(plan, accountant.Charge{Event: nb.MeasureEvent(q, tiny), Count: 1})
		}
	}
	s := stattest.Must(privacy.Open(t.Context(), rowsOf(l, views,
		func(_ context.Context, begin func() error) ([]*table.Table, error) { return tables, begin() }),
		privacy.Options{Budget: wide, Plan: plan, Price: free, Adjacency: adj}))
	for _, v := range views {
		one := stattest.Must(s.View(v.Name))
		out = append(out, stattest.Must(one.MeasureAll(ask(v), tiny))...)
	}
	return out
}

// TestSmallLinked takes every pair of linked tables of up to three units, each of up to two rows in
// the first table and three in the other, that differ in one unit, and compares how far the counts
// of views move with what is charged: it is never more, and is reached. The rows are in a new order
// in every table. Two units are shared where few kinds of them are taken, one where all are.
func TestSmallLinked(t *testing.T) {
	var few, all []smallUnit
	for i, visits := range multisets(4, 3) {
		for k, sex := range [][]uint8{{0}, nil, {1}, {0, 1}, {1, 1}} {
			if all = append(all, smallUnit{sex, visits}); k == 0 || k == 1 && i%9 == 3 {
				few = append(few, smallUnit{sex, visits})
			}
		}
	}
	questions := func(v *schema.View) (out []privacy.Query) {
		n := len(v.Schema.Columns)
		out = append(out, privacy.Total{}, privacy.Marginal{Cols: []int{n - 2, n - 1}})
		if v.Table > 0 {
			out = append(out, privacy.Marginal{Cols: []int{0, v.Given - 1, v.Given, n - 1}})
		}
		return out
	}
	u := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		weight, rows, shared int
		adj                  accountant.Adjacency
		kinds                []smallUnit
	}{
		{1, 3, 2, accountant.AddRemove, few}, {2, 3, 1, accountant.AddRemove, all},
		{1, 2, 1, accountant.AddRemove, all}, {1, 3, 1, accountant.ReplaceOne, few},
		{2, 3, 1, accountant.ReplaceOne, few[:20]},
	} {
		t.Run(fmt.Sprint(c.weight, c.rows, c.shared, c.adj), func(t *testing.T) {
			if testing.Short() {
				t.Skip("-short: enumerates linked tables")
			}
			l := parsed(t, fmt.Sprintf(small, c.weight, c.rows))
			views := stattest.Must(schema.Views(l))
			var reach []func(a, b []int64) // of each question
			for _, v := range views {
				nb := privacy.NeighboursOf(v.Schema, c.adj)
				for _, q := range questions(v) {
					l2 := tiny / nb.MeasureEvent(q, tiny).(accountant.Gaussian).NoiseMultiplier
					far, name := 0., fmt.Sprint(v.Name, q)
					t.Cleanup(func() {
						least := .99
						if c.adj == accountant.ReplaceOne {
							least = .7 // of units that are in one cell each
						}
						if _, total := q.(privacy.Total); total && c.adj == accountant.ReplaceOne {
							least = .3
						}
						if far < least*l2 {
							t.Errorf("%s moves by at most %v, %v is charged", name, far, l2)
						}
					})
					reach = append(reach, func(a, b []int64) {
						sum := 0.
						for i := range a {
							sum += float64((a[i] - b[i]) * (a[i] - b[i]))
						}
						if far = max(far, math.Sqrt(sum)); far > l2*(1+1e-12) {
							t.Fatalf("%s moves by %v, %v is charged", name, far, l2)
						}
					})
				}
			}
			for i, shared := range multisets(len(c.kinds), c.shared) {
				var units []smallUnit
				for _, k := range shared {
					units = append(units, c.kinds[k])
				}
				of := func(more ...smallUnit) [][]int64 {
					return smallCounts(t, l, views, c.adj, slices.Concat(units, more), u, questions)
				}
				other := of()
				for k, more := range c.kinds {
					with := of(more)
					for q := range reach {
						reach[q](with[q], other[q])
					}
					if c.adj == accountant.ReplaceOne && (k+i)%3 == 0 {
						other = with
					}
				}
			}
		})
	}
}
