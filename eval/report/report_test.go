package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// people is a table of seven columns, one of each sort, in which the outcome depends on age and
// dose. names replaces column names.
func people(
	t testing.TB, n int, seed uint64, names map[string]string, wards []string,
) *table.Table {
	t.Helper()
	if wards == nil {
		wards = []string{"north", "south", "west"}
	}
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 20, Max: 99},
		{Name: "dose", Kind: schema.Real, Min: 0, Max: 5, Bins: 20, Missing: []string{""}},
		{Name: "ward", Kind: schema.Categorical, Categories: wards},
		{Name: "admitted", Kind: schema.Date, Min: 0, Max: 999, Bins: 50},
		{Name: "code", Kind: schema.Categorical, Missing: []string{"?"}},
		{Name: "smoker", Kind: schema.Boolean},
		{Name: "died", Kind: schema.Categorical, Categories: []string{"no", "yes"}},
	}}
	for i := range 30 {
		s.Columns[4].Categories = append(s.Columns[4].Categories, "c"+string(rune('A'+i)))
	}
	for i := range s.Columns {
		if other, ok := names[s.Columns[i].Name]; ok {
			s.Columns[i].Name = other
		}
	}
	stattest.Check(t, s.Validate())
	u := rand.New(rand.NewPCG(seed, 0))
	cols := make([]table.Codes, len(s.Columns))
	for i, size := range s.Sizes() {
		cols[i] = table.NewCodes(size, n)
	}
	for i := range n {
		age, dose := u.IntN(80), u.IntN(21)
		cols[0].Set(i, uint16(age))
		cols[1].Set(i, uint16(dose))
		cols[2].Set(i, uint16(u.IntN(len(wards))))
		cols[3].Set(i, uint16((age/2+u.IntN(20))%50))
		cols[4].Set(i, uint16(u.IntN(31)))
		cols[5].Set(i, uint16(u.IntN(2)))
		if u.Float64() < .02+.006*float64(age)*float64(dose)/20 {
			cols[6].Set(i, 1)
		}
	}
	out := stattest.Must(table.FromColumns(s, cols, nil))
	return out
}

// withCells is a table with the cells that a file of it would have.
func withCells(t testing.TB, rows *table.Table) Table {
	t.Helper()
	s := rows.Schema()
	codecs := stattest.Must(s.Codecs())
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	v := stattest.Must(eval.NewValues(s, names, func(yield func([]string) bool) {
		row := make([]string, len(names))
		for i := range rows.Rows() {
			for k, c := range codecs {
				code := rows.Column(k).At(i)
				switch {
				case int(code) == c.Values():
					row[k] = c.Column().Missing[0]
				case numeric(c):
					low, _ := c.Bin(code)
					row[k] = c.Show(low, short)
				default:
					row[k] = c.Label(code)
				}
			}
			if !yield(row) {
				return
			}
		}
	}))
	return Table{Rows: rows, Values: v}
}

func full(t testing.TB) (Tables, Options) {
	in := Tables{Train: withCells(t, people(t, 300, 1, nil, nil)),
		Holdout:   withCells(t, people(t, 200, 2, nil, nil)),
		Synthetic: withCells(t, people(t, 250, 3, nil, nil))}
	return in, Options{Target: "died", Drop: []string{"code"}}
}

func compute(t testing.TB, in Tables, o Options) *Report {
	t.Helper()
	return stattest.Must(Compute(context.Background(), in, o))
}

func (r *Report) metric(t *testing.T, name string) metric {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s", name)
	return metric{}
}

func TestEveryMetricHasAValueOrAReason(t *testing.T) {
	in, o := full(t)
	alone := in
	alone.Holdout = Table{}
	alone.Synthetic = Table{Rows: in.Synthetic.Rows}
	one := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Categorical,
		Categories: []string{"a", "b"}}}}
	codes := table.NewCodes(2, 50)
	codes.Set(3, 1)
	small := stattest.Must(table.FromColumns(one, []table.Codes{codes}, nil))
	tests := []struct {
		name    string
		in      Tables
		o       Options
		leftOut []string
	}{
		{"all", in, o, nil},
		{"no holdout", alone, o,
			[]string{"Validity", "MovedShare", "UncoveredShare", "InventedShare", "MeanShift",
				"SpreadRatio",
				"Wasserstein", "AUROC", "AveragePrecision", "TSTR", "TRTR", "PrivacyLoss", "NNDR",
				"DCRShare", "AttributeInference"}},
		{"no target", in, Options{},
			[]string{"RareClassRate", "AUROC", "AveragePrecision", "TSTR", "TRTR"}},
		{"one column", Tables{Train: Table{Rows: small}, Holdout: Table{Rows: small},
			Synthetic: Table{Rows: small}}, Options{},
			[]string{"Validity", "MovedShare", "UncoveredShare", "InventedShare", "MeanShift",
				"SpreadRatio",
				"Wasserstein", "AssociationKept", "RelationsKept", "CoarseError", "SpearmanError",
				"CramerError", "KSComplement", "CorrelationSimilarity",
				"ContingencySimilarity",
				"ColumnPairTrends",
				"RareClassRate", "AUROC", "AveragePrecision", "TSTR", "TRTR", "AttributeInference"}},
	}
	for _, tt := range tests {
		r := compute(t, tt.in, tt.o)
		all := slices.DeleteFunc(eval.Metrics(), func(m eval.Metric) bool {
			return m.Needs&eval.Histories != 0
		})
		if len(r.Metrics) != len(all) {
			t.Errorf("%s: %d metrics, want %d", tt.name, len(r.Metrics), len(all))
		}
		for _, m := range r.Metrics {
			if out := slices.Contains(tt.leftOut, m.Name); out != (len(m.Values) == 0) ||
				out != (m.LeftOut != "") {
				t.Errorf("%s: %s has %d values, left out because %q", tt.name, m.Name,
					len(m.Values), m.LeftOut)
			}
		}
		for _, f := range r.Summary {
			if f.Status == "" || f.Answer == "" || f.Rule == "" ||
				strings.Contains(f.Answer, "%!") {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
		var b bytes.Buffer
		stattest.Passes(t, r.HTML(&b), "%s", tt.name)
		stattest.Passes(t, r.Text(&b), "%s", tt.name)
	}
}

func TestValuesAreThoseOfEval(t *testing.T) {
	in, o := full(t)
	r := compute(t, in, o)
	pairs, _ := eval.MarginalError(in.Train.Rows, in.Synthetic.Rows, 2)
	tstr, _ := eval.TSTR(in.Synthetic.Rows, in.Holdout.Rows,
		eval.Task{Label: "died", Positive: 1, Drop: []string{"code"}})
	a, _ := eval.TablePoints(in.Train.Rows, eval.Euclidean)
	b, _ := eval.TablePoints(in.Holdout.Rows, eval.Euclidean)
	c, _ := eval.TablePoints(in.Synthetic.Rows, eval.Euclidean)
	loss, _ := eval.PrivacyLoss(a, b, c, 1)
	for _, tt := range []struct {
		metric string
		at     int
		want   float64
	}{{"MarginalError", 1, pairs}, {"TSTR", 0, tstr.AUROC}, {"PrivacyLoss", 0, loss.Loss}} {
		if got := r.metric(t, tt.metric).Values[tt.at]; float64(got.Value) != tt.want {
			t.Errorf("%s of %s is %v, want %v", tt.metric, got.Of, got.Value, tt.want)
		}
	}
	if got := r.Settings.Positive; got != "yes" {
		t.Errorf("the positive value is %q, want the rarer one", got)
	}
	for _, c := range r.Columns {
		for _, shares := range [][]float64{c.Train, c.Holdout, c.Synthetic} {
			sum := 0.
			for _, v := range shares {
				sum += float64(v)
			}
			if len(shares) != len(c.Labels) || math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: %d shares for %d labels, sum %v", c.Name, len(shares), len(c.Labels),
					sum)
			}
		}
	}
}

// TestVerdicts makes every verdict of the summary fire.
func TestVerdicts(t *testing.T) {
	in, o := full(t)
	// one row, many times: neither alike nor useful, and the rare value is lost
	rows := make([]int, 300)
	in.Synthetic = withCells(t, in.Synthetic.Rows.Select(rows))
	r := compute(t, in, o)
	for i, want := range []status{poor, poor, poor, poor, unknown} {
		if i < 4 && r.Summary[i].Status != want {
			t.Errorf("%s %s, want %s: %s", r.Summary[i].Question, r.Summary[i].Status, want,
				r.Summary[i].Answer)
		}
	}
	if !r.Predictions[0].Synthetic.Constant {
		t.Error("rows of one class are not said to be constant")
	}
	in.Holdout = Table{}
	r = compute(t, in, Options{})
	for i, want := range []status{poor, poor, unknown, unknown, unknown} {
		if r.Summary[i].Status != want {
			t.Errorf("without holdout and target: %s %s, want %s", r.Summary[i].Question,
				r.Summary[i].Status, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	in, o := full(t)
	other := in
	other.Synthetic = Table{Rows: people(t, 10, 1, nil, []string{"x", "y"})}
	empty := in
	empty.Holdout = Table{Rows: in.Holdout.Rows.Select(nil)}
	single := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Boolean}}}
	only, _ := table.FromColumns(single, []table.Codes{table.NewCodes(2, 9)}, nil)
	for _, tt := range []struct {
		name string
		in   Tables
		o    Options
		want error
	}{
		{"no tables", Tables{}, o, eval.ErrTables},
		{"other columns", other, o, eval.ErrTables},
		{"no rows", empty, o, eval.ErrTables},
		{"level", in, Options{Level: 2}, eval.ErrInterval},
		{"unknown target", in, Options{Target: "height"}, eval.ErrColumn},
		{"unknown positive", in, Options{Target: "died", Positive: "perhaps"}, eval.ErrColumn},
		{"positive without target", in, Options{Positive: "yes"}, eval.ErrColumn},
		{"too many classes", in, Options{Target: "age"}, eval.ErrColumn},
		{"a number as target", in, Options{Target: "dose"}, eval.ErrColumn},
		{"unknown column to drop", in, Options{Drop: []string{"height"}}, eval.ErrColumn},
		{"nothing to predict from", Tables{Train: Table{Rows: only}, Synthetic: Table{Rows: only}},
			Options{Target: "x"},
			eval.ErrColumn},
	} {
		stattest.Wraps(t, stattest.Err(Compute(context.Background(), tt.in, tt.o)), tt.want,
			"%s", tt.name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stattest.Wraps(t, stattest.Err(Compute(ctx, in, o)), context.Canceled, "cancelled")
}

// TestSubsamplesAreSaid checks that a cut is made, and written down.
func TestSubsamplesAreSaid(t *testing.T) {
	in, o := full(t)
	o.Near, o.Fit = 100, 100
	r := compute(t, in, o)
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"NNAA", "trained on at most 100"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes do not say %q: %s", want, notes)
		}
	}
	if r.Nearest.Rows != 100 || r.Predictions[0].Real.Rows != 100 {
		t.Errorf("%d and %d rows, want 100", r.Nearest.Rows, r.Predictions[0].Real.Rows)
	}
}

// TestJSON ties the names of the JSON, which are an interface.
func TestJSON(t *testing.T) {
	in, o := full(t)
	var a, b bytes.Buffer
	r := compute(t, in, o)
	stattest.Check(t, r.JSON(&a))
	compute(t, in, o).JSON(&b)
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same tables and seed give another report")
	}
	var top map[string]json.RawMessage
	stattest.Check(t, json.Unmarshal(a.Bytes(), &top))
	var names []string
	for k := range top {
		names = append(names, k)
	}
	slices.Sort(names)
	want := strings.Fields("associations columns decoy_report metrics nearest not_private notes " +
		"predictions rare_values schema_sha256 settings summary tables warning")
	if !slices.Equal(names, want) || string(top["not_private"]) != "true" {
		t.Errorf("top level: %v, want %v; not_private %s", names, want, top["not_private"])
	}
	var metrics []map[string]json.RawMessage
	json.Unmarshal(top["metrics"], &metrics)
	for _, key := range []string{"name", "alias", "range", "goal", "meaning", "values"} {
		if _, ok := metrics[0][key]; !ok {
			t.Errorf("a metric has no %q", key)
		}
	}
	var back Report
	d := json.NewDecoder(&a)
	d.DisallowUnknownFields()
	stattest.Check(t, d.Decode(&back))
	back.JSON(&a)
	a.Reset()
	back.JSON(&a)
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("reading and writing changes the JSON")
	}
}

func TestNumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if text, err := json.Marshal(number(x)); err != nil || string(text) != "null" {
			t.Errorf("%v: %s, %v", x, text, err)
		}
	}
	var n number
	if err := json.Unmarshal([]byte("null"), &n); err != nil || !math.IsNaN(float64(n)) ||
		n.String() != "–" {
		t.Errorf("null is read as %v, %v", n, err)
	}
}

// hostile are names that a page must show as text. Those after the first break out of an attribute,
// an element or the line.
var hostile = map[string]string{
	"age":  `<script>document.title="owned"</script>`,
	"dose": `"><img src=x onerror=alert(1)>`,
	"ward": "a\u202Egnp.exe",
	"died": `{{.Warning}}</title></svg><b onclick="x()">`,
}

func hostileReport(t testing.TB) *Report {
	wards := []string{"</text><script>alert(2)</script>", `' onload='alert(3)`,
		"javascript:alert(4)"}
	in := Tables{Train: withCells(t, people(t, 150, 1, hostile, wards)),
		Holdout:   withCells(t, people(t, 150, 2, hostile, wards)),
		Synthetic: withCells(t, people(t, 150, 3, hostile, wards))}
	in.Train.Name = "<script>x</script>.csv"
	in.Synthetic.Name = "<script>y</script>"
	return stattest.Must(Compute(t.Context(), in, Options{Target: hostile["died"], Tool: "<u>",
		Claim: &Claim{Method: "<script>", Text: "<img>"}}))
}

func TestHostileNamesStayText(t *testing.T) {
	var b bytes.Buffer
	r := hostileReport(t)
	stattest.Check(t, r.HTML(&b))
	page := b.String()
	for _, bad := range []string{"<script", "<img", "<b onclick", "\u202E", "<u>", `' onload='`,
		"<no value>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;document") {
		t.Error("the hostile name is not shown at all")
	}
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(drawings) < 15 {
		t.Errorf("%d drawings", len(drawings))
	}
	for _, svg := range drawings {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("not well formed: %v\n%.300s", err, svg)
			}
			if e, ok := tok.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
						t.Errorf("<%s %s>", e.Name.Local, a.Name.Local)
					}
				}
			}
		}
	}
	b.Reset()
	if err := r.Text(&b); err != nil || strings.Contains(b.String(), "\u202E") {
		t.Errorf("text: %v, or a character that turns the writing", err)
	}
}

func TestPageNeedsNoNetwork(t *testing.T) {
	var b bytes.Buffer
	in, o := full(t)
	stattest.Check(t, compute(t, in, o).HTML(&b))
	outside := regexp.MustCompile(`(?i)https?:|url\(|@import|src=|<link|<script|NaN|%!`)
	if found := outside.FindAllString(b.String(), -1); found != nil {
		t.Errorf("the page contains %q", found)
	}
	if !strings.Contains(b.String(), "default-src 'none'") {
		t.Error("no content security policy")
	}
}
