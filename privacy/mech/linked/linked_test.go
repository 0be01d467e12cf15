package linked

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// tiny is the noise: the least that the samplers take, and 0 but with a probability below
// exp(−1000).
const tiny = noise.MinScale

// clinic is patients with visits, of which three count, and with doses; visits have drugs.
func clinic() *schema.Linked {
	return stattest.Must(schema.LoadLinked("../../../data/schema/testdata/clinic.yaml"))
}

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
	"patients": "id,sex\nb,m\na,m\n,f\na,f\nc,f\n d ,m\ne,f\n",
	"visits": "patient,visit,what,day\n" +
		"a,1,flu,2020-03-01\n" + // place 3
		"a,2,cold,2020-01-01\n" + // place 1
		"zz,1,flu,2020-01-02\n" + // an orphan
		",1,flu,2020-01-02\n" + // nobody's
		"a,4,flu,2020-03-05\n" + // behind the third
		"a,3,cold,2020-01-04\n" + // place 2
		"b,1,flu,not a day\n" + // without an order
		"b,,,2020-04-09\n" + // without an id
		"d,1,flu,2020-01-31\n" +
		"d,1,cold,2020-01-31\n" + // the same day and id: by its other codes before flu
		// equal but for their drugs, by which the second is the last
		"e,1,cold,2020-01-01\ne,2,cold,2020-01-01\ne,3,cold,2020-01-01\ne,4,cold,2020-01-01\n",
	"doses": "id,at,drug\na,9,b\na,0,a\na,0,a\na,2,c\n",
	"drugs": "who,visit,nr,dose\n" +
		"a,1,1,hi\na,1,0,lo\na,1,3,lo\n" + // the last is behind the second
		"a,2,2,lo\n" +
		"a,4,1,lo\nb,1,1,hi\nzz,1,1,hi\nc,9,1,lo\n" + // of no visit that is used
		"b,,0,lo\n,1,0,lo\n,,0,lo\n" + // nobody's
		"d, 1,0,lo\n" + // of both visits of d
		"e,1,0,lo\ne,2,1,hi\ne,4,0,lo\ne,4,1,hi\n",
}

// TestRules: what becomes of rows is what Files says, counted by hand. No mistake is an error.
func TestRules(t *testing.T) {
	l := clinic()
	rows := stattest.Must(Files(l, files(t, l, hostile)))
	const full, none = 1 << 16, "(missing)"
	jan, mar := "[2020-01-01, 2020-02-20)", "[2020-02-20, 2020-04-09]"
	want := map[string]int64{
		// sex, visits, doses, place, visit
		"patients: f 3 4 1 cold " + jan:                     full / 3,
		"patients: f 3 4 2 cold " + jan:                     full / 3,
		"patients: f 3 4 3 flu " + mar:                      full / 3,
		"patients: m 1 0 1 " + none + " " + mar:             full,
		"patients: f 0 0 " + none + " " + none + " " + none: full,
		"patients: m 2 0 1 cold " + jan:                     full / 2,
		"patients: m 2 0 2 flu " + jan:                      full / 2,
		"patients: f 3 0 1 cold " + jan:                     full / 3,
		"patients: f 3 0 2 cold " + jan:                     full / 3,
		"patients: f 3 0 3 cold " + jan:                     full / 3,
		// sex, rows, place, before, seen cold, flu and missing, gap, next
		"visits: f 3 1 cold " + jan + " true false false [3, 4) cold " + jan:  full / 2,
		"visits: f 3 2 cold " + jan + " true false false [48, 64) flu " + mar: full / 2,
		"visits: m 2 1 cold " + jan + " true false false [0, 1) flu " + jan:   full,
		"visits: f 3 1 cold " + jan + " true false false [0, 1) cold " + jan:  full / 2,
		"visits: f 3 2 cold " + jan + " true false false [0, 1) cold " + jan:  full / 2,
		// a drug that is as it was has code 8
		"doses: f 4 1 [0, 2) a [0, 1) [0, 2) 8": 2 * full / 3,
		"doses: f 4 2 [0, 2) a [2, 3) [2, 4) 2": 2 * full / 3,
		"doses: f 4 3 [2, 4) c [6, 8) [8, 9] 1": 2 * full / 3,
		// sex, visit, drugs
		"visits.children: f cold " + jan + " 1":         full/3 + full/3,
		"visits.children: f cold " + jan + " 0":         full/3 + full/3,
		"visits.children: f cold " + jan + " 2":         full / 3,
		"visits.children: f flu " + mar + " 2":          full / 3,
		"visits.children: m " + none + " " + mar + " 0": full,
		"visits.children: m cold " + jan + " 1":         full / 2,
		"visits.children: m flu " + jan + " 1":          full / 2,
		// sex, rows, place, dose
		"doses.rows: f 4 1 [0, 2) a": full / 2,
		"doses.rows: f 4 2 [0, 2) a": full / 2,
		"doses.rows: f 4 3 [2, 4) c": full / 2,
		"doses.rows: f 4 4 [8, 9] b": full / 2,
		// sex, visit, rows, place, drug
		"drugs.rows: f flu " + mar + " 2 1 0 lo":  full / 3,
		"drugs.rows: f flu " + mar + " 2 2 1 hi":  full / 3,
		"drugs.rows: f cold " + jan + " 1 1 2 lo": full / 3,
		"drugs.rows: f cold " + jan + " 1 1 0 lo": full / 3,
		"drugs.rows: f cold " + jan + " 2 1 0 lo": full / 3,
		"drugs.rows: f cold " + jan + " 2 2 1 hi": full / 3,
		"drugs.rows: m cold " + jan + " 1 1 0 lo": full / 2,
		"drugs.rows: m flu " + jan + " 1 1 0 lo":  full / 2,
		// sex, visit, rows, place, before, gap, next
		"drugs: f flu " + mar + " 2 1 0 lo [1, 2) 1 hi":  full,
		"drugs: f cold " + jan + " 2 1 0 lo [1, 2) 1 hi": full,
	}
	if got := counted(t, l, rows); differ(got, want) != "" {
		t.Error(differ(got, want))
	}
}

// TestOrderTellsNothing: rows in another order, ids of another name and a patient who comes first
// in another file leave the counts as they are, in 8 random files, or 50 with -long.
func TestOrderTellsNothing(t *testing.T) {
	tries := 8
	if *long {
		tries = 50
	}
	l, u := clinic(), rand.New(rand.NewPCG(3, 4))
	var want map[string]int64
	lines := map[string][]string{}
	heads := map[string]string{}
	for name, text := range hostile {
		all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		heads[name], lines[name] = all[0], all[1:]
	}
	for try := range tries {
		texts := map[string]string{}
		for name, list := range lines {
			u.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			texts[name] = heads[name] + "\n" + strings.Join(list, "\n") + "\n"
			if try%2 == 1 {
				for _, id := range []string{"a", "b", "d", "e"} {
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
	l := clinic()
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
		"no visit":   {"drugs": "who,nr,dose\na,0,lo\n"},
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
	if _, err := open([]string{"a.csv", "b.csv", "c.csv", "d.csv"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no files: %v", err)
	}
	file, err := open(files(t, l, map[string]string{"patients": "id,sex\ncanary,canary\n\n,\n",
		"visits": "patient,visit,what,day\ncanary\ncanary,canary,canary,canary,canary\n\"",
		"drugs":  "who,visit,nr,dose\ncanary,canary,canary,canary\n",
		"doses":  "id,at,drug\n\xff,\xff\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if l := stattest.Must(file.Read()); l.Spent() != wide {
		t.Errorf("%v is spent", l.Spent())
	}
}

// small is patients with visits of few codes, and with drugs of these.
const small = `decoy: 1
unit: id
tables:
  - name: patients
    columns: [{name: sex, kind: categorical, categories: [f, m]}]
  - name: visits
    parent: patients
    key: id
    weight: %d
    id: visit
    order: {by: day, rows: %d}
    columns:
      - {name: what, kind: categorical, categories: [x, y]}
      - {name: day, kind: integer, min: 0, max: 1}
  - name: drugs
    parent: visits
    key: visit
    weight: %d
    order: {by: nr, rows: 2}
    columns: [{name: nr, kind: integer, min: 0, max: 1}]
`

// smallUnit is the rows of a unit: what it has in the first table, and which visits.
type smallUnit struct {
	sex    []uint8
	visits []smallVisit
}

// smallVisit is a visit, and its drugs.
type smallVisit struct {
	code  uint8
	drugs []uint8
}

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
	schemas := []*schema.Schema{l.Tables[0].Schema, views[1].Fine(), views[2].Fine()}
	cells, keys, ids := [3][][]uint8{}, [3][]uint32{}, []uint32{} // ids: of visits
	add := func(i, key int, row ...uint8) {
		cells[i], keys[i] = append(cells[i], row), append(keys[i], uint32(key))
	}
	for id, unit := range units {
		for _, x := range unit.sex {
			add(0, id, x)
		}
		for _, v := range unit.visits {
			for _, x := range v.drugs {
				add(2, len(ids), x)
			}
			ids = append(ids, uint32(len(ids)))
			add(1, id, v.code/2, v.code%2)
		}
	}
	var tables []table.Linked
	for i, s := range schemas {
		order := u.Perm(len(cells[i]))
		one, cols := table.Linked{}, make([]table.Codes, len(s.Columns))
		for c, n := range s.Sizes() {
			cols[c] = table.NewCodes(n, len(order))
		}
		for at, row := range order {
			for c, x := range cells[i][row] {
				cols[c].Set(at, uint16(x))
			}
			if one.Key = append(one.Key, keys[i][row]); i == 1 {
				one.ID = append(one.ID, ids[row])
			}
		}
		if i == 0 {
			one.ID = one.Key
		}
		one.Table = stattest.Must(table.FromColumns(s, cols, nil))
		tables = append(tables, one)
	}
	var plan accountant.Composition
	for _, v := range views {
		nb := privacy.NeighboursOf(v.Schema, adj)
		for _, q := range ask(v) {
			plan = append(plan, accountant.Charge{Event: nb.MeasureEvent(q, tiny), Count: 1})
		}
	}
	s := stattest.Must(privacy.Open(t.Context(), rowsOf(l, views,
		func(_ context.Context, begin func() error) ([]table.Linked, error) { return tables, begin() }),
		privacy.Options{Budget: wide, Plan: plan, Price: free, Adjacency: adj}))
	for _, v := range views {
		if one := stattest.Must(s.View(v.Name)); ask(v) != nil {
			out = append(out, stattest.Must(one.MeasureAll(ask(v), tiny))...)
		}
	}
	return out
}

// TestSmallLinked takes every pair of linked tables of up to three units, each of up to two rows in
// the first table and three in the second, or two with up to two in the third each, that differ in
// one unit, and compares how far the counts of views move with what is charged: it is never more,
// and is reached. The rows are in a new order in every table. Two units are shared where few kinds
// of them are taken, one where all are.
func TestSmallLinked(t *testing.T) {
	var few, all, deep []smallUnit
	for i, codes := range multisets(4, 3) {
		var visits []smallVisit
		for _, code := range codes {
			visits = append(visits, smallVisit{code: code})
		}
		for k, sex := range [][]uint8{{0}, nil, {1}, {0, 1}, {1, 1}} {
			if all = append(all, smallUnit{sex, visits}); k == 0 || k == 1 && i%9 == 3 {
				few = append(few, smallUnit{sex, visits})
			}
		}
	}
	drugs := multisets(2, 2)
	for i, kinds := range multisets(2*len(drugs), 2) {
		var visits []smallVisit
		for _, k := range kinds {
			visits = append(visits, smallVisit{k % 2 * 2, drugs[k/2]})
		}
		if deep = append(deep, smallUnit{[]uint8{0}, visits}); i%9 == 3 {
			deep = append(deep, smallUnit{nil, visits})
		}
	}
	questions := func(v *schema.View, drugs int) (out []privacy.Query) {
		n := len(v.Schema.Columns)
		if drugs == 0 && (v.Table > 1 || v.Table == 1 && v.Parents()) {
			return nil
		}
		out = append(out, privacy.Total{}, privacy.Marginal{Cols: []int{n - 2, n - 1}})
		if v.Table > 0 {
			out = append(out, privacy.Marginal{
				Cols: slices.Compact([]int{0, v.Given - 1, v.Given, n - 1})})
		}
		return out
	}
	u := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		weight, rows, drugs, shared int // drugs: the weight of these; 0: there are none
		adj                         accountant.Adjacency
		kinds                       []smallUnit
	}{
		{1, 3, 0, 2, accountant.AddRemove, few}, {2, 3, 0, 1, accountant.AddRemove, all},
		{1, 2, 0, 1, accountant.AddRemove, all}, {1, 3, 0, 1, accountant.ReplaceOne, few},
		{2, 3, 0, 1, accountant.ReplaceOne, few[:20]},
		{1, 2, 1, 1, accountant.AddRemove, deep}, {1, 2, 1, 1, accountant.ReplaceOne, deep},
	} {
		t.Run(fmt.Sprint(c.weight, c.rows, c.drugs, c.shared, c.adj), func(t *testing.T) {
			if deepest := c.rows == 3 && c.adj == accountant.AddRemove; deepest && !*long {
				t.Skip("-long: enumerates many linked tables")
			}
			l := parsed(t, fmt.Sprintf(small, c.weight, c.rows, max(1, c.drugs)))
			views := stattest.Must(schema.Views(l))
			ask := func(v *schema.View) []privacy.Query { return questions(v, c.drugs) }
			var reach []func(a, b []int64) // of each question
			for _, v := range views {
				nb := privacy.NeighboursOf(v.Schema, c.adj)
				for _, q := range ask(v) {
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
					return smallCounts(t, l, views, c.adj, slices.Concat(units, more), u, ask)
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

// TestManyRows: a person of 100,000 rows weighs no more than C, and one of more rows than there are
// parts of a row weighs nothing.
func TestManyRows(t *testing.T) {
	for _, c := range []struct{ weight, visits, want int }{
		{1, 400, 0}, {2, 400, 400 * 249}, {2, 200, 200 * 249 * (2 << 16 / (200 * 249))},
	} {
		text := strings.Replace(fmt.Sprintf(small, 1, 1000, c.weight), "rows: 2", "rows: 250", 1)
		l := parsed(t, text)
		views := stattest.Must(schema.Views(l))
		unit := smallUnit{sex: []uint8{1}}
		for range c.visits {
			unit.visits = append(unit.visits, smallVisit{drugs: slices.Repeat([]uint8{0, 1}, 125)})
		}
		ask := func(v *schema.View) []privacy.Query {
			if v.Steps && v.Table == 2 {
				return []privacy.Query{privacy.Total{}}
			}
			return nil
		}
		u := rand.New(rand.NewPCG(9, 9))
		got := smallCounts(t, l, views, 0, []smallUnit{unit}, u, ask)[0][0]
		if got != int64(c.want) || got > int64(c.weight)<<16 {
			t.Errorf("%d visits of 250 drugs weigh %d, want %d", c.visits, got, c.want)
		}
	}
}

// TestAlone: of a table of rows alone, each id is one unit, however many rows it has and wherever
// they are; a unit more moves the view of the units by one, and that of the steps by at most C.
func TestAlone(t *testing.T) {
	l := parsed(t, `decoy: 1
unit: id
order: {by: day, rows: 3}
columns:
  - {name: what, kind: categorical, categories: [x, y]}
  - {name: day, kind: integer, min: 0, max: 9}
`)
	u := rand.New(rand.NewPCG(7, 8))
	of := func(units [][]uint8) map[string]int64 {
		lines := []string{}
		for id, rows := range units {
			for _, x := range rows {
				lines = append(lines, fmt.Sprintf("%c%d,%c,%d\n", 'a'+id%3, id, 'x'+x/2, x%2))
			}
		}
		u.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		path := filepath.Join(t.TempDir(), "rows.csv")
		text := "id,what,day\n,x,1\n" + strings.Join(lines, "")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return counted(t, l, stattest.Must(Files(l, []string{path})))
	}
	kinds := multisets(4, 4)
	far := map[string]int64{}
	for k := range 3 {
		shared := [][]uint8{kinds[(5*k+1)%len(kinds)], kinds[(11*k+3)%len(kinds)]}[:1+k%2]
		without := of(shared)
		for _, one := range kinds {
			with, moved := of(append(slices.Clone(shared), one)), map[string]int64{}
			for cell, n := range with {
				view, _, _ := strings.Cut(cell, ":")
				if moved[view] += n - without[cell]; n < without[cell] {
					t.Fatalf("%v: %s falls", one, cell)
				}
			}
			want := int64(0) // rows of one unit weigh 1, rounded down
			if n := int64(min(len(one), 3)); n > 0 {
				want = (1 << 16) / n * n
			}
			if moved["units"] != want || moved["rows"] > 1<<16 {
				t.Fatalf("%v: units move by %d, want %d; steps by %d", one, moved["units"], want,
					moved["rows"])
			}
			far["rows"] = max(far["rows"], moved["rows"])
		}
	}
	if far["rows"] != 1<<16 {
		t.Errorf("steps move by %d at most", far["rows"])
	}
}
