package linked

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// visit is a row of a made-up history.
type visit struct{ day, diagnosis, ward, score, stage int }

// person is a unit: sex, age group, risk, and its visits.
type person struct {
	parent [3]int
	visits []visit
}

var visitSizes = []int{6, 3, 8, 12}

// clinic makes people whose visits have an order, depend on the person and on all that was before:
// from each seed others of the same population. Some people have 60 visits, some none. No stage
// falls, and no day has two visits of a person.
func clinic(n int, seed uint64) []person {
	u := rand.New(rand.NewPCG(seed, 54))
	out := make([]person, n)
	for i := range out {
		p := &out[i]
		p.parent = [3]int{u.IntN(2), u.IntN(5), min(u.IntN(4), u.IntN(4))}
		risk := p.parent[2]
		mean := 2 + 4*float64(risk)
		if u.IntN(50) == 0 {
			mean = 45
		}
		visits := min(60, int(mean*u.ExpFloat64()))
		day, chronic, home := u.IntN(1500), u.IntN(6), u.IntN(3)
		if u.IntN(4) > 0 {
			chronic, home = 3*p.parent[0]+risk%3, p.parent[1]%3
		}
		v := visit{diagnosis: u.IntN(6), ward: home, score: p.parent[1] + u.IntN(2), stage: u.IntN(3)}
		for range visits {
			v.day = day
			p.visits = append(p.visits, v)
			day += 1 + int(u.ExpFloat64()*float64(120-30*risk))
			switch {
			case u.IntN(3) == 0:
				v.diagnosis = chronic // what comes back
			case u.IntN(2) == 0:
				v.diagnosis = (v.diagnosis + 1 + u.IntN(2)) % 6
			}
			switch u.IntN(4) {
			case 0:
				v.ward = u.IntN(3)
			case 1:
				v.ward = home
			}
			v.score = max(0, min(7, v.score+u.IntN(3)-1+risk/3))
			v.stage = min(11, v.stage+u.IntN(4)/3)
		}
	}
	return out
}

// written are the tables of people, a file sorted by person; orphans says which visits lose theirs.
func written(t testing.TB, people []person, orphan func() bool) *Tables {
	t.Helper()
	columns := func(names []string, sizes []int, rows [][]int) *table.Table {
		s := &schema.Schema{}
		var codes []table.Codes
		for k, name := range names {
			s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Integer,
				Max: float64(sizes[k] - 1), Bins: sizes[k]})
			codes = append(codes, table.NewCodes(sizes[k], len(rows)))
			for i, row := range rows {
				codes[k].Set(i, uint16(row[k]))
			}
		}
		out, err := table.FromColumns(s, codes, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var parents, rows [][]int
	c := child{Name: "visits"}
	for i, p := range people {
		parents = append(parents, p.parent[:])
		for _, v := range p.visits {
			rows = append(rows, []int{v.diagnosis, v.ward, v.score, v.stage,
				min(19, v.day/250)})
			c.Order = append(c.Order, float64(v.day))
			if c.Parent = append(c.Parent, i); orphan != nil && orphan() {
				c.Parent[len(c.Parent)-1] = -1
			}
		}
	}
	c.By = 4
	c.Rows = columns([]string{"diagnosis", "ward", "score", "stage", "day"},
		append(slices.Clone(visitSizes), 20), rows)
	return &Tables{Name: "patients", Children: []child{c},
		Parents: columns([]string{"sex", "age", "risk"}, []int{2, 5, 4}, parents)}
}

// resample draws people with all of their visits.
func resample(people []person, u *rand.Rand) []person {
	out := make([]person, len(people))
	for i := range out {
		out[i] = people[u.IntN(len(people))]
	}
	return out
}

// histories are those of people; setting them keeps the people.
func historiesOf(people []person) (out [][]visit) {
	for _, p := range people {
		out = append(out, slices.Clone(p.visits))
	}
	return out
}

func with(people []person, visits [][]visit) []person {
	out := slices.Clone(people)
	for i := range out {
		out[i].visits = visits[i]
	}
	return out
}

// mix permutes what take gives a pointer to, among the visits of each group.
func mix(h [][]visit, u *rand.Rand, group func(unit, place int) int, swap func(a, b *visit)) {
	in := map[int][]*visit{}
	for i := range h {
		for j := range h[i] {
			in[group(i, j)] = append(in[group(i, j)], &h[i][j])
		}
	}
	for _, g := range slices.Sorted(maps.Keys(in)) {
		u.Shuffle(len(in[g]), func(a, b int) { swap(in[g][a], in[g][b]) })
	}
}

// keepDay swaps two visits but for their days.
func keepDay(a, b *visit) {
	*a, *b = *b, *a
	a.day, b.day = b.day, a.day
}

// damages are ways to break linked tables, with the families that see it, the one that is meant for
// it first.
var damages = []struct {
	name string
	off  []string
	do   func(people []person, u *rand.Rand) []person
}{
	{"histories swapped among parents", []string{FanOut, parentChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			u.Shuffle(len(h), func(a, b int) { h[a], h[b] = h[b], h[a] })
			return with(people, h)
		}},
	{"histories swapped among parents with as many rows", []string{parentChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			equal := map[int][]int{}
			for i := range h {
				equal[len(h[i])] = append(equal[len(h[i])], i)
			}
			for _, n := range slices.Sorted(maps.Keys(equal)) {
				at := equal[n]
				u.Shuffle(len(at), func(a, b int) { h[at[a]], h[at[b]] = h[at[b]], h[at[a]] })
			}
			return with(people, h)
		}},
	{"order within a unit shuffled", []string{transition, thirdNext, ChildChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			mix(h, u, func(unit, _ int) int { return unit }, keepDay)
			return with(people, h)
		}},
	{"rows swapped at equal place", []string{transition, thirdNext, distinctValues, parentChild,
		ChildChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			mix(h, u, func(_, place int) int { return place }, keepDay)
			return with(people, h)
		}},
	{"children independent", []string{gapOfRows, transition, thirdNext, distinctValues, parentChild,
		ChildChild},
		func(people []person, u *rand.Rand) []person {
			h, all := historiesOf(people), func(_, _ int) int { return 0 }
			for _, swap := range []func(a, b *visit){
				func(a, b *visit) { a.day, b.day = b.day, a.day },
				func(a, b *visit) { a.diagnosis, b.diagnosis = b.diagnosis, a.diagnosis },
				func(a, b *visit) { a.ward, b.ward = b.ward, a.ward },
				func(a, b *visit) { a.score, b.score = b.score, a.score },
				func(a, b *visit) { a.stage, b.stage = b.stage, a.stage },
			} {
				mix(h, u, all, swap)
			}
			for i := range h {
				slices.SortFunc(h[i], func(a, b visit) int { return a.day - b.day })
			}
			return with(people, h)
		}},
	{"copies of the first row",
		[]string{distinctValues, transition, thirdNext, parentChild, ChildChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i := range h {
				for j := range h[i] {
					day := h[i][j].day
					h[i][j] = h[i][0]
					h[i][j].day = day
				}
			}
			return with(people, h)
		}},
	{"only the first row", []string{FanOut, parentChild, transition, gapOfRows, thirdNext,
		distinctValues,
		ChildChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i := range h {
				h[i] = h[i][:min(1, len(h[i]))]
			}
			return with(people, h)
		}},
	{"a quarter of the rows where the risk is highest, of 6 % of the people",
		[]string{FanOut, parentChild, transition, gapOfRows, thirdNext, ChildChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i, p := range people {
				if p.parent[2] == 3 {
					h[i] = h[i][:(len(h[i])+3)/4]
				}
			}
			return with(people, h)
		}},
	{"a quarter of one diagnosis, at one age", []string{parentChild},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i, p := range people {
				for j := range h[i] {
					if v := &h[i][j]; p.parent[1] == 4 && v.diagnosis == 2 && u.IntN(4) > 0 {
						v.diagnosis = 3
					}
				}
			}
			return with(people, h)
		}},
	{"the stage falls in 1 % of the steps", []string{transition},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i := range h {
				for j := range len(h[i]) - 1 {
					if a, b := &h[i][j], &h[i][j+1]; a.stage > 0 && u.IntN(100) == 0 {
						b.stage = a.stage - 1
					}
				}
			}
			return with(people, h)
		}},
	{"1 % of the rows on the day of the one before", []string{gapOfRows},
		func(people []person, u *rand.Rand) []person {
			h := historiesOf(people)
			for i := range h {
				for j := range len(h[i]) - 1 {
					if u.IntN(100) == 0 {
						h[i][j+1].day = h[i][j].day
					}
				}
			}
			return with(people, h)
		}},
	{"2 % orphans", []string{OrphansOrder}, func(p []person, _ *rand.Rand) []person { return p }},
	{"none, but a resample", nil, func(p []person, _ *rand.Rand) []person { return p }},
	{"none, but others", nil, func(p []person, _ *rand.Rand) []person { return clinic(len(p), 7) }},
}

// TestDamages does what linked tables must not have to a resample of units: each damage puts the
// families off that it should, and no others. The seeds are fixed; TestFresh says how seldom others
// would blame a family.
func TestDamages(t *testing.T) {
	people := clinic(6000, 1)
	real := written(t, people, nil)
	for i, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			u := rand.New(rand.NewPCG(uint64(i), 55))
			var orphan func() bool
			if slices.Contains(d.off, OrphansOrder) {
				orphan = func() bool { return u.IntN(50) == 0 }
			}
			families, err := Families(real, written(t, d.do(resample(people, u), u), orphan), 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				t.Logf("%-18s %.4f, floor %.4f, good up to %.4f", f.Name, f.Off, f.Floor, f.Limit)
				if want := !slices.Contains(d.off, f.Name); f.Good != want {
					t.Errorf("%s: good is %v, want %v", f.Name, f.Good, want)
				}
				if group := strings.Contains(d.name, "%") || strings.HasPrefix(d.name, "a quarter"); group &&
					f.Name == d.off[0] && f.Name != OrphansOrder && f.Off > f.Limit {
					t.Errorf("%s: it is off without its groups", f.Name)
				}
			}
		})
	}
}

// TestPredict: resampled units teach as much as real ones, and independent rows less, of each
// column and of a target.
func TestPredict(t *testing.T) {
	people := clinic(2000, 1)
	real := written(t, people, nil)
	u := rand.New(rand.NewPCG(3, 58))
	good := written(t, clinic(2000, 2), nil)
	broken := written(t, damages[4].do(resample(people, u), u), nil)
	for _, targets := range []map[string][]uint16{nil, {"risk": {2, 3}, "score": {4, 5, 6, 7}}} {
		same := stattest.Must(Predict(real, good, targets, 1))
		worse := stattest.Must(Predict(real, broken, targets, 1))
		if want := map[bool]int{true: 7, false: 2}[targets == nil]; len(same) != want {
			t.Fatalf("%d predictions, want %d", len(same), want)
		}
		for i, p := range same {
			t.Logf("%s %v %s: real %.3f, others %.3f, independent %.3f", p.Column, p.Next, p.Positive,
				p.Real, p.Synthetic, worse[i].Synthetic)
			if math.Abs(p.Real-p.Synthetic) > .06 || worse[i].Synthetic > p.Synthetic-.03 {
				t.Errorf("%s: AUROC %.3f of real, %.3f of others, %.3f of independent rows", p.Column,
					p.Real, p.Synthetic, worse[i].Synthetic)
			}
		}
	}
}

const described = `decoy: 1
unit: id
tables:
  - name: patients
    columns: [{name: sex, kind: categorical, categories: [f, m]}]
  - name: visits
    parent: patients
    key: who
    order: {by: day, rows: 3}
    columns:
      - {name: day, kind: integer, min: 0, max: 1000, bins: 4, missing: [""]}
      - {name: state, kind: boolean}
`

// read reads two tables that are given as text, or three, of which the last is of the second.
func read(t *testing.T, texts ...string) (*Tables, error) {
	t.Helper()
	text := described
	if len(texts) == 3 {
		text = strings.Replace(text, "rows: 3}", "rows: 3}\n    id: [who, no]", 1) + `  - name: drugs
    parent: visits
    key: [who, no]
    order: {by: nr, rows: 2}
    columns:
      - {name: nr, kind: integer, min: 0, max: 9}
      - {name: drug, kind: categorical, categories: [a, b, c]}
`
	}
	l, err := schema.ParseLinked([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i, text := range texts {
		paths = append(paths, filepath.Join(t.TempDir(), l.Tables[i].Name+".csv"))
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Read(t.Context(), l, paths)
}

// TestThreeTables: drugs are compared with the visits that they belong to, beside a resample of
// patients: other patients of the population are good, and drugs that are swapped among visits are
// seen where rows are compared with their parents, and nowhere else. Keys that come twice, and
// drugs of no visit, are counted; those of a visit that does not count are not used.
func TestThreeTables(t *testing.T) {
	written := func(seed uint64, swap bool) *Tables {
		u := rand.New(rand.NewPCG(seed, 60))
		patients, visits, drugs := "id,sex\n", "who,no,day,state\n", "who,no,nr,drug\n"
		for i := range 4000 {
			patients += fmt.Sprintf("%d,%s\n", i, []string{"f", "m"}[i%2])
			for k := range u.IntN(4) {
				ill := u.IntN(2) == 0
				visits += fmt.Sprintf("%d,%d,%d,%v\n", i, k, 100*k+u.IntN(90), ill)
				if swap {
					ill = u.IntN(2) == 0
				}
				drug := map[bool]int{true: u.IntN(2), false: 1 + u.IntN(2)}[ill]
				for nr := range u.IntN(3) {
					drugs += fmt.Sprintf("%d,%d,%d,%s\n", i, k, nr, []string{"a", "b", "c"}[drug])
				}
			}
		}
		got, err := read(t, patients, visits, drugs)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	real := written(1, false)
	for seed, swap := range []bool{false, true} {
		families, err := Families(real, written(uint64(seed+2), swap), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, p := range f.Parts {
				want := swap && f.Name == parentChild && p.Of == "state × drug"
				if off := p.Off > p.Limit; off != want {
					t.Errorf("swapped %v: %s: %s %s is %.3f off, of a floor of %.3f", swap, f.Name, p.Table,
						p.Of, p.Off, p.Floor)
				}
			}
		}
		if all, err := Predict(real, real, nil, 1); err != nil || all[len(all)-1].Table != "drugs" {
			t.Errorf("predictions %v: %v", all, err)
		}
	}
	got, err := read(t, "id,sex\n7,f\n", "who,no,day,state\n7,1,9,true\n7,1,10,true\n7,2,11,true\n"+
		"7,3,12,true\n", "who,no,nr,drug\n7,1,0,a\n7,3,0,b\n7,4,0,b\n,1,0,c\n")
	if err != nil {
		t.Fatal(err)
	}
	visits, drugs := &got.Children[0], &got.Children[1]
	if h := got.History(drugs); visits.Doubled != 1 || h.Orphans != 2 || h.Unused != 1 ||
		!slices.Equal(h.Rows, []int{0}) || !slices.Equal(drugs.Units, []int{0, 0, 0}) {
		t.Errorf("%d visits come twice; drugs %+v of %v", visits.Doubled, h, drugs.Units)
	}
}

// TestNever: what no real step does is named with its share, of a value that follows another, and
// of a day that has two rows; a step of one real row in a hundred is not, nor what few units do.
func TestNever(t *testing.T) {
	written := func(units, back, again int) *Tables {
		patients, visits := "id,sex\n", "who,day,state\n"
		for i := range units {
			patients += fmt.Sprintf("%d,f\n", i)
			second := map[bool]int{true: 1, false: 500 + i%90}[i < again]
			visits += fmt.Sprintf("%d,1,%v\n%d,%d,true\n%d,%d,%v\n", i, i%2 == 0, i, second, i, 700+i%90,
				i >= back)
		}
		got, err := read(t, patients, visits)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		units, realBack, units2, back, again int
		want                                 string
	}{
		{1000, 0, 1000, 0, 0, ""},
		{1000, 0, 1000, 60, 0, "state = false follows true in 0.030, 0.000"},
		{1000, 0, 500, 0, 40, "day stays the same in 0.040, 0.000"},
		{1000, 10, 1000, 60, 0, ""}, // seldom, not never
		{1000, 0, 1000, 8, 8, ""},   // few steps
		{10, 0, 10, 1, 1, ""},       // by chance
	} {
		families, err := Families(written(c.units, c.realBack, 0), written(c.units2, c.back, c.again), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range families {
			for _, p := range f.Parts {
				if g := p.Group; g != nil && g.Units == Steps && !f.Good {
					got += fmt.Sprintf("%s in %.3f, %.3f", g.Of, g.Synthetic, g.Real)
				}
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

// TestTies: rows of one day have no order, so what they do in that of their codes does not excuse
// what other rows never do.
func TestTies(t *testing.T) {
	written := func(again string) *Tables {
		patients, visits := "id,sex\n", "who,day,state\n"
		for i := range 3000 {
			patients += fmt.Sprintf("%d,f\n", i)
			states := [][]any{{i, "500", false, "700", false}, {i, "500", true, "700", false},
				{i, "500", false, again, true}}[min(i%2+i%10/9, 2)]
			visits += fmt.Sprintf("%d,1,%v\n", i, i%2 == 1) +
				fmt.Sprintf("%[1]d,%[2]s,%[3]v\n%[1]d,%[4]s,%[5]v\n", states...)
		}
		return stattest.Must(read(t, patients, visits))
	}
	families := stattest.Must(Families(written("500"), written("700"), 1))
	if p := families[2].Parts[0]; families[2].Good || p.Group == nil ||
		p.Group.Of != "state = true follows false" || p.Group.Real != 0 {
		t.Errorf("%+v: %+v", p, p.Group)
	}
}

// TestFewUnits: six units of one sex do not say that those of the other have no rows.
func TestFewUnits(t *testing.T) {
	written := func(units int, second string) *Tables {
		patients, visits := "id,sex\n", "who,day,state\n"
		for i := range units {
			patients += fmt.Sprintf("%d,%s\n", i, []string{"f", second}[i%2])
			visits += fmt.Sprintf("%d,1,true\n%[1]d,2,true\n%[1]d,3,true\n", i)
		}
		return stattest.Must(read(t, patients, visits))
	}
	for _, second := range []string{"f", "m"} {
		for _, f := range stattest.Must(Families(written(1000, "m"), written(6, second), 1)) {
			for _, p := range f.Parts {
				if p.Group != nil {
					t.Errorf("%s: %s: %+v", second, f.Name, p.Group)
				}
			}
		}
	}
}

// TestRead counts in the order of the file: ids that come twice, rows of nobody, rows behind a
// later one of their unit, and rows that do not count.
func TestRead(t *testing.T) {
	const patients = "id,sex\n7,f\n b,m\n7,m\n"
	const visits = "who,day,state\n7,900,true\nb,10,false\n7,20,true\nx,1,true\n" +
		"b ,10,true\n7,,true\n" +
		"7,30,false\n7,1000,true\n"
	got, err := read(t, patients, visits)
	if err != nil {
		t.Fatal(err)
	}
	c := &got.Children[0]
	if want := []int{0, 1, 0, -1, 1, 0, 0, 0}; got.Parents.Rows() != 2 || got.Doubled != 1 ||
		!slices.Equal(c.Parent, want) {
		t.Errorf("%d parents, %d twice, rows of %v, want 2, 1 and %v", got.Parents.Rows(), got.Doubled,
			c.Parent, want)
	}
	if got.History(c).Unused != 2 { // one without a day, and the fourth of patient 7
		t.Errorf("%d rows do not count, want 2", got.History(c).Unused)
	}
	families, err := Families(got, got, 1)
	if err != nil {
		t.Fatal(err)
	}
	var shares []float64
	for _, f := range families {
		if f.Name == OrphansOrder {
			for _, p := range f.Parts {
				shares = append(shares, p.Off)
			}
		} else if f.Off != 0 {
			t.Errorf("%s: %v off itself", f.Name, f.Off)
		}
	}
	// one id of three, one row of eight; of four rows that have one before them, 20 and 30 are
	// behind 900
	if want := []float64{1. / 3, 1. / 8, 2. / 4}; !slices.Equal(shares, want) {
		t.Errorf("shares %v, want %v", shares, want)
	}
	fanOut := families[0].Parts[0]
	if *fanOut.Real != 2.5 || fanOut.RealShares[2] != .5 || fanOut.RealShares[3] != .5 {
		t.Errorf("%v rows a unit, shares %v", *fanOut.Real, fanOut.RealShares)
	}
	for _, bad := range []struct{ patients, visits, want string }{
		{"id,sex\n", visits, "patients: no rows"},
		{"sex\nf\n", visits, "patients.csv: "},
		{patients, "who,day,state\n7,1,x\n", "visits.csv: "},
	} {
		if _, err := read(t, bad.patients, bad.visits); err == nil ||
			!strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %s…", err, bad.want)
		}
	}
	if _, err := Families(got, written(t, clinic(10, 1), nil), 1); !errors.Is(err, eval.ErrTables) {
		t.Errorf("other columns: %v", err)
	}
}

// TestOrphansOfMixedFile: orphans are seen where the real file is in no order.
func TestOrphansOfMixedFile(t *testing.T) {
	const patients = "id,sex\n1,f\n2,m\n"
	real, err := read(t, patients, "who,day,state\n1,5,true\n1,4,true\n2,5,true\n2,4,true\n")
	if err != nil {
		t.Fatal(err)
	}
	made, err := read(t, patients, "who,day,state\n1,5,true\n1,6,true\n2,5,true\n3,4,true\n")
	if err != nil {
		t.Fatal(err)
	}
	families, err := Families(real, made, 1)
	if err != nil {
		t.Fatal(err)
	}
	none := stattest.Must(read(t, patients, "who,day,state\n3,5,true\n2,,true\n"))
	if _, err := Families(none, made, 1); !errors.Is(err, eval.ErrTables) || !strings.Contains(
		err.Error(), "of 2 rows 1 have a key that no row above has, and 1 no place") {
		t.Errorf("rows of nobody: %v", err)
	}
	if f := families[6]; f.Name != OrphansOrder || f.Off >= f.Limit || f.Good {
		t.Errorf("%+v, want one that is not good, though the real file is worse", f)
	}
}

// TestFileOrder: rows that are put in another order in the file are the same histories, and only
// the order of the file is off.
func TestFileOrder(t *testing.T) {
	people := clinic(300, 1)
	real, other := written(t, people, nil), written(t, people, nil)
	c := &other.Children[0]
	rows := rand.New(rand.NewPCG(1, 59)).Perm(c.Rows.Rows())
	parent, order := make([]int, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		parent[i], order[i] = c.Parent[row], c.Order[row]
	}
	c.Rows, c.Parent, c.Order = c.Rows.Select(rows), parent, order
	families, err := Families(real, other, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if off := f.Off > 0; off != (f.Name == OrphansOrder) || off == f.Good {
			t.Errorf("%s is %v off", f.Name, f.Off)
		}
	}
}

// steady makes people whose visits hardly change: n of them, each with so many visits. A ward goes
// with a diagnosis, and a stage with a score, but for a share that is weak.
func steady(n int, u *rand.Rand, weak float64, visits func(u *rand.Rand) int) []person {
	out := make([]person, n)
	for i := range out {
		p := &out[i]
		p.parent = [3]int{u.IntN(2), u.IntN(5), u.IntN(4)}
		base, score, day := u.IntN(6), u.IntN(8), u.IntN(300)
		for range visits(u) {
			day += 1 + u.IntN(5)
			v := visit{day: day, diagnosis: base, score: score}
			if u.IntN(10) == 0 {
				v.diagnosis, v.score = u.IntN(6), u.IntN(8)
			}
			if v.ward, v.stage = v.diagnosis/2, v.score+u.IntN(2); u.Float64() < weak {
				v.ward, v.stage = u.IntN(3), u.IntN(12)
			}
			p.visits = append(p.visits, v)
		}
	}
	return out
}

// TestFresh: other units of the population are good where units are few, or a few of them have most
// of the rows: of 40 samples with -long at most 7 are not good in an answer, and of 16 samples at
// most 5, as so few are with a probability of 1 − 3e-4 if one in 20 is. That two columns of a row
// no longer go together, one of which is shuffled, is seen at 1,000 units each time.
func TestFresh(t *testing.T) {
	samples, most := uint64(16), 5
	if *long {
		samples, most = 40, 7
	}
	for _, c := range []struct {
		name   string
		units  int
		visits func(u *rand.Rand) int
	}{
		{"8 units of 1000 rows", 8, func(u *rand.Rand) int { return 800 + u.IntN(700) }},
		{"60 units of 30 rows", 60, func(u *rand.Rand) int { return 30 }},
		{"200 units, a few with most rows", 200, func(u *rand.Rand) int {
			return int(min(1500, math.Pow(1-u.Float64(), -1/.7)))
		}},
		{"1000 units of 1 to 6 rows", 1000, func(u *rand.Rand) int { return 1 + u.IntN(6) }},
	} {
		bad := map[string]int{}
		for seed := range samples {
			u := rand.New(rand.NewPCG(seed, 61))
			made := steady(c.units, u, .6, c.visits)
			real := written(t, steady(c.units, u, .6, c.visits), nil)
			for _, f := range stattest.Must(Families(real, written(t, made, nil), seed)) {
				if !f.Good {
					bad[f.Name]++
				}
			}
			for k, swap := range []func(a, b *visit){
				func(a, b *visit) { a.ward, b.ward = b.ward, a.ward },
				func(a, b *visit) { a.stage, b.stage = b.stage, a.stage },
			} {
				if c.units != 1000 {
					continue
				}
				h := historiesOf(made)
				mix(h, u, func(_, _ int) int { return 0 }, swap)
				if stattest.Must(Families(real, written(t, with(made, h), nil), seed))[7].Good {
					t.Errorf("seed %d: shuffled column %d is not seen", seed, k)
				}
			}
		}
		t.Logf("%s: of %d not good: %v", c.name, samples, bad)
		for name, n := range bad {
			if n > most {
				t.Errorf("%s: %s: %d of %d samples of the population are not good", c.name, name, n,
					samples)
			}
		}
	}
}
