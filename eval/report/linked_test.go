package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval/linked"
	"github.com/decoy-dp/decoy/schema"
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

// compared compares 400 made-up patients with others, whose visits are of anybody if they are
// mixed.
func compared(t *testing.T, mixed bool) *linkedReport {
	t.Helper()
	l, err := schema.ParseLinked([]byte(linkedSchema))
	if err != nil {
		t.Fatal(err)
	}
	var both [2]*linked.Tables
	for k := range both {
		u := rand.New(rand.NewPCG(uint64(k), 60))
		patients := "id,<img src=x onerror=alert(1)>\n"
		visits := "id,day,state\n"
		for i := range 400 {
			patients += fmt.Sprintf("%d,%s\n", i, []string{"f", "m"}[i%2])
			for v := range 1 + u.IntN(7) {
				ill := u.IntN(10) < 1+8*(i%2)
				if k == 1 && mixed {
					ill = u.IntN(2) == 0
				}
				state := map[bool]string{true: "<script>ill</script>", false: "well"}[ill]
				visits += fmt.Sprintf("%d,202%d-0%d-11,%s\n", i, v, 1+u.IntN(9), state)
			}
		}
		dir := t.TempDir()
		var paths []string
		for name, text := range map[string]string{"0.csv": patients, "1.csv": visits} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		paths = []string{filepath.Join(dir, "0.csv"), filepath.Join(dir, "1.csv")}
		if both[k], err = linked.Read(t.Context(), l, paths); err != nil {
			t.Fatal(err)
		}
	}
	claim := &Claim{Method: "aim", Text: "(ε = 1)"}
	r, err := ComputeLinked(l, both[0], both[1], nil, claim, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLinked: the answers are those of the families and of the predictions, in all three forms.
func TestLinked(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		r := compared(t, mixed)
		if len(r.Summary) != len(r.Families)+1 {
			t.Fatalf("%d answers to %d families", len(r.Summary), len(r.Families))
		}
		wrong := 0
		for i, f := range r.Summary {
			if i < len(r.Families) && (f.Status == good) != r.Families[i].Good {
				t.Errorf("%q is %s, and the family %.3f of %.3f off", f.Question, f.Status,
					r.Families[i].Off, r.Families[i].Limit)
			}
			if f.Status != good {
				wrong++
				t.Logf("%s %s %s", f.Status, f.Question, f.Answer)
			}
		}
		if mixed != (wrong > 0) || mixed != (r.Summary[1].Status == poor) ||
			mixed != (r.Summary[len(r.Summary)-1].Status == poor) {
			t.Errorf("mixed %v: %d answers are not good; rows fit their unit: %s", mixed, wrong,
				r.Summary[1].Status)
		}
		if len(r.Notes) != 3 || !strings.Contains(r.Notes[0], "beyond the first 6 of their unit") {
			t.Errorf("notes %q, want that of seventh visits first", r.Notes)
		}
		var text, figures bytes.Buffer
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "NOT PRIVATE") {
			t.Errorf("%v: %s", err, text.String())
		}
		if err := r.JSON(&figures); err != nil {
			t.Fatal(err)
		}
		var back linkedReport
		if err := json.Unmarshal(figures.Bytes(), &back); err != nil || !back.NotPrivate ||
			back.Families[0].Off != r.Families[0].Off || back.Claim.Method != "aim" {
			t.Errorf("%v: the JSON is not the report: %s", err, figures.String())
		}
	}
}

// TestLinkedPage: a picture for each answer, names stay text, and nothing is wider than a
// telephone.
func TestLinkedPage(t *testing.T) {
	r := compared(t, true)
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "<figure"); n != len(r.Summary) {
		t.Errorf("%d pictures of %d answers", n, len(r.Summary))
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
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
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
