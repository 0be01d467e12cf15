package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// linkedSchema has a name that would break a page that believed it.
const linkedSchema = `decoy: 1
unit: id
tables:
  - name: patients
    columns: [{name: "<img src=x onerror=alert(1)>", kind: categorical, categories: [f, m]}]
  - name: visits
    parent: patients
    key: id
    order: {by: day, rows: 6}
    columns:
      - {name: day, kind: date, min: 2020-01-01, max: 2029-12-31}
      - {name: state, kind: categorical, categories: [well, "<script>ill</script>"]}
`

// clinic is 400 made-up patients with their visits, which are of anybody if they are mixed; of some
// of them, the first, those of another seed, under new ids. With fewer than none all visits are of
// nobody.
func clinic(t *testing.T, l *schema.Linked, seed uint64, mixed bool, copies int) *linked.Tables {
	t.Helper()
	patients, visits := "id,<img src=x onerror=alert(1)>\n", "id,day,state\n"
	for i := range 400 {
		of := seed
		if i < copies {
			of = 0
		}
		u := rand.New(rand.NewPCG(of, uint64(i)))
		id := uint64(i) + 1000*seed
		patients += fmt.Sprintf("%d,%s\n", id, []string{"f", "m"}[i%2])
		for v := range 1 + u.IntN(7) {
			ill := u.IntN(10) < map[bool]int{true: 5, false: 1 + 8*(i%2)}[mixed]
			if copies < 0 {
				id = 999_999
			}
			state := map[bool]string{true: "<script>ill</script>", false: "well"}[ill]
			visits += fmt.Sprintf("%d,202%d-0%d-11,%s\n", id, v, 1+u.IntN(9), state)
		}
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "0.csv"), filepath.Join(dir, "1.csv")}
	for i, text := range []string{patients, visits} {
		stattest.Check(t, os.WriteFile(paths[i], []byte(text), 0o600))
	}
	got := stattest.Must(linked.Read(t.Context(), l, paths))
	return got
}

// compared compares patients with others, without or with a holdout.
func compared(t *testing.T, seed uint64, mixed, holdout bool, copies int) *Report {
	t.Helper()
	l := stattest.Must(schema.ParseLinked([]byte(linkedSchema)))
	var held *linked.Tables
	if holdout {
		held = clinic(t, l, 1000+seed, false, 0)
	}
	claim := &Claim{Method: "aim", Text: "(ε = 1)"}
	r := stattest.Must(Compute(t.Context(), Linked{Schema: l, Train: clinic(t, l, 0, false, 0),
		Synthetic: clinic(t, l, seed, mixed, copies), Holdout: held}, Options{Claim: claim}))
	return r
}

// TestLinkedCopies: real histories under new ids are seen, all of them also without a holdout, and
// other units of the population are not blamed: in five comparisons no sign is beyond three
// standard errors, of which each is 1.3e-3, where it is normal.
func TestLinkedCopies(t *testing.T) {
	verdict := func(seed uint64, holdout bool, copies int) status {
		r := compared(t, seed, false, holdout, copies)
		f := r.Summary[len(r.Summary)-1]
		t.Logf("%d copies, holdout %v: %s %s", copies, holdout, f.Status, f.Answer)
		if f.Question != "Are real histories copied?" || f.Rule == "" ||
			(copies >= 0) != slices.ContainsFunc(r.Metrics, func(m metric) bool {
				return m.Name == "NNAA"
			}) {
			t.Errorf("%q, by %q, of %v", f.Question, f.Rule, r.Metrics)
		}
		return f.Status
	}
	for seed := range uint64(5) {
		if got := verdict(seed+1, true, 0); got != good {
			t.Errorf("seed %d: %s where nothing is copied", seed, got)
		}
	}
	for _, c := range []struct {
		holdout bool
		copies  int
		want    []status
	}{
		{true, 400, []status{poor}}, {true, 100, []status{mixed, poor}},
		{false, 400, []status{poor}}, {false, 0, []status{unknown}}, {true, -1, []status{unknown}},
	} {
		if got := verdict(1, c.holdout, c.copies); !slices.Contains(c.want, got) {
			t.Errorf("%d copies, holdout %v: %s, want %s", c.copies, c.holdout, got, c.want)
		}
	}
}

// TestRowsOfUnits: the columns of other units look alike although all rows of a unit are, in 40
// samples of 60 units with 30 rows each, of which up to 7 may be blamed (see linked.TestFresh).
// That a category is half as frequent, or a number is shifted by half a standard deviation, is seen
// at 1,000 units each time.
func TestRowsOfUnits(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte("decoy: 1\nunit: id\nmax_rows_per_unit: 30\ncolumns:\n" +
		"  - {name: c, kind: categorical, categories: [a, b, d]}\n" +
		"  - {name: x, kind: real, min: -9, max: 9, bins: 16}\n")))
	made := func(u *rand.Rand, units, rows int, halved bool, shift float64) Table {
		var texts [][]string
		codecs := stattest.Must(s.Codecs())
		codes := []table.Codes{table.NewCodes(3, units*rows), table.NewCodes(16, units*rows)}
		var of []uint32
		for i := range units {
			c, x := "abd"[u.IntN(3)], u.NormFloat64()+shift
			if halved && c == 'b' && u.IntN(2) == 0 {
				c = 'a'
			}
			for range rows {
				row := []string{string(c), fmt.Sprintf("%.3f", min(9, max(-9, x+.1*u.NormFloat64())))}
				for k, text := range row {
					code := stattest.Must(codecs[k].EncodeText([]byte(text)))
					codes[k].Set(len(of), code)
				}
				texts, of = append(texts, row), append(of, uint32(i))
			}
		}
		return Table{Rows: stattest.Must(table.FromColumns(s, codes, of)),
			Values: stattest.Must(eval.NewValues(s, s.Names(), slices.Values(texts)))}
	}
	alike := func(in Tables) finding {
		w := stattest.Must(start(in, stattest.Must(Options{}.filled())))
		stattest.Check(t, w.shapes())
		return answer([]question{{"", "", w.alike}})[0]
	}
	bad := 0
	for seed := range uint64(40) {
		u := rand.New(rand.NewPCG(seed, 62))
		if f := alike(Tables{Train: made(u, 60, 30, false, 0),
			Synthetic: made(u, 60, 30, false, 0)}); f.Status != good {
			bad++
			t.Logf("%s %s", f.Status, f.Answer)
		}
		real := made(u, 1000, 3, false, 0)
		for _, broken := range []Table{made(u, 1000, 3, true, 0), made(u, 1000, 3, false, .5)} {
			if f := alike(Tables{Train: real, Synthetic: broken}); f.Status == good {
				t.Errorf("seed %d: a damage is %s: %s", seed, f.Status, f.Answer)
			}
		}
	}
	if bad > 7 {
		t.Errorf("%d of 40 other samples are blamed", bad)
	}
}

// TestHoldoutOnce: that copies need a holdout is said once, of however many tables.
func TestHoldoutOnce(t *testing.T) {
	l := stattest.Must(schema.ParseLinked([]byte(linkedSchema)))
	h := &histories{in: Linked{Schema: l, Train: clinic(t, l, 0, false, 0),
		Synthetic: clinic(t, l, 1, false, 0)},
		o: stattest.Must(Options{}.filled()), values: values{}}
	stattest.Check(t, h.summarise())
	h.children = append(h.children, h.children...)
	f := answer([]question{{"", "", h.copied}})[0]
	if n := strings.Count(f.Answer, "needs a holdout"); n != 1 {
		t.Errorf("said %d times: %s", n, f.Answer)
	}
}

// TestLinked: the answers are those of the families and of the predictions, in all three forms.
func TestLinked(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		r := compared(t, 1, mixed, false, 0)
		if len(r.Summary) != len(r.Histories.Families)+2 {
			t.Fatalf("%d answers to %d families", len(r.Summary), len(r.Histories.Families))
		}
		wrong := 0
		for i, f := range r.Summary {
			if i < len(r.Histories.Families) && (f.Status == good) != r.Histories.Families[i].Good {
				t.Errorf("%q is %s, and the family %.3f of %.3f off", f.Question, f.Status,
					r.Histories.Families[i].Off, r.Histories.Families[i].Limit)
			}
			if f.Status != good && f.Status != unknown {
				wrong++
				t.Logf("%s %s %s", f.Status, f.Question, f.Answer)
			}
		}
		if mixed != (wrong > 0) || mixed != (r.Summary[1].Status == poor) ||
			mixed != (r.Summary[len(r.Histories.Families)].Status == poor) {
			t.Errorf("mixed %v: %d answers are not good; rows fit their unit: %s", mixed, wrong,
				r.Summary[1].Status)
		}
		if !strings.Contains(r.Summary[0].Answer, "beyond the first of their unit") {
			t.Errorf("%q, want that of seventh visits", r.Summary[0].Answer)
		}
		var text, figures bytes.Buffer
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "NOT PRIVATE") {
			t.Errorf("%v: %s", err, text.String())
		}
		stattest.Check(t, r.JSON(&figures))
		var back Report
		if err := json.Unmarshal(figures.Bytes(), &back); err != nil || !back.NotPrivate ||
			back.Histories.Families[0].Off != r.Histories.Families[0].Off || back.Claim.Method != "aim" {
			t.Errorf("%v: the JSON is not the report: %s", err, figures.String())
		}
	}
}

// TestLinkedPage: a picture for each answer, names stay text, and nothing is wider than a
// telephone.
func TestLinkedPage(t *testing.T) {
	r := compared(t, 1, true, false, 0)
	var page bytes.Buffer
	stattest.Check(t, r.HTML(&page))
	if n := strings.Count(page.String(), "<figure"); n != len(historyAnswers)+1 {
		t.Errorf("%d pictures of %d answers", n, len(historyAnswers)+1)
	}
	if strings.Contains(page.String(), "<img") || strings.Contains(page.String(), "<script") {
		t.Error("a name became an element")
	}
	if testing.Short() {
		t.Skip("-short: the page is not looked at in a browser")
	}
	dir := t.TempDir()
	frame := `<body style="margin:0"><iframe src="page.html" style="width:390px;height:9000px;border:0">` +
		`</iframe><script>onload=()=>{const d=document.querySelector("iframe").contentDocument;` +
		`document.title=d?"wide "+d.documentElement.scrollWidth:"closed"}</script>`
	for name, text := range map[string][]byte{"page.html": page.Bytes(), "frame.html": []byte(frame)} {
		stattest.Check(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	dom, log := browser(t, filepath.Join(dir, "frame.html"), "--allow-file-access-from-files",
		"--dump-dom")
	if found := console.FindAllString(log, -1); len(found) > 0 {
		t.Errorf("the console says %q", found)
	}
	if !strings.Contains(dom, "<title>wide 390</title>") {
		t.Errorf("at 390 pixels the page is as wide as %s", dom[:min(len(dom), 300)])
	}
}
