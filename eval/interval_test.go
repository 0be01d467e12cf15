package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestWilson(t *testing.T) {
	for _, test := range []struct {
		successes, n int64
		level        float64
		want         Interval
	}{
		// The limits solve (p̂ − p)² = z²·p(1−p)/n.
		// R: prop.test(10, 100, correct = FALSE)
		{10, 100, .95, Interval{.1, .05522914, .17436566}},
		{0, 20, .95, Interval{0, 0, .16112516}},
		{20, 20, .95, Interval{1, .83887484, 1}},
		{1, 1, .99, Interval{1, .13097754, 1}},
	} {
		got, err := Wilson(test.successes, test.n, test.level)
		if err != nil || !near(got.Estimate, test.want.Estimate, 1e-12) ||
			!near(got.Low, test.want.Low, 2e-6) || !near(got.High, test.want.High, 2e-6) {
			t.Errorf("%d of %d: %+v, %v, want %+v", test.successes, test.n, got, err, test.want)
		}
		z := math.Sqrt2 * math.Erfinv(test.level)
		for _, p := range []float64{got.Low, got.High} {
			if p > 0 && p < 1 &&
				!near((got.Estimate-p)*(got.Estimate-p), z*z*p*(1-p)/float64(test.n), 1e-12) {
				t.Errorf("%d of %d: limit %v does not solve the score equation", test.successes,
					test.n, p)
			}
		}
	}
}

func TestRareClassRate(t *testing.T) {
	s := schemaOf(t, category("outcome", 3))
	tab := tableFrom(t, s, 100, func(i, _ int) int { return int(indicator(i < 10)) })
	got, err := RareClassRate(tab, "outcome", 1, .95)
	want, _ := Wilson(10, 100, .95)
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestBootstrapOfAMean: the percentile interval of a mean is near mean ± 1.96 standard errors.
func TestBootstrapOfAMean(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 500)
	for i := range x {
		x[i] = u.NormFloat64()
	}
	mean, std := moments(x)
	standardError := std / math.Sqrt(500)
	stat := func(times []uint32) float64 {
		sum, n := 0.0, 0.0
		for i, k := range times {
			sum += float64(k) * x[i]
			n += float64(k)
		}
		return sum / n
	}
	got := stattest.Must(Bootstrap(len(x), BootstrapOptions{Replicates: 4000, Seed: 3}, stat))
	// A 2.5 % quantile of 4000 replicates has standard error √(.025·.975/4000)/φ(1.96) = .042
	// standard errors of the mean.
	if !near(got.Estimate, mean, 1e-12) ||
		math.Abs(got.Low-(mean-1.96*standardError)) > .25*standardError ||
		math.Abs(got.High-(mean+1.96*standardError)) > .25*standardError {
		t.Errorf("%+v, want about %v ± %v", got, mean, 1.96*standardError)
	}
	again, err := Bootstrap(len(x), BootstrapOptions{Replicates: 4000, Seed: 3}, stat)
	if err != nil || again != got {
		t.Errorf("%+v, %v with the same seed, want %+v", again, err, got)
	}
	other, err := Bootstrap(len(x), BootstrapOptions{Replicates: 4000, Seed: 4}, stat)
	if err != nil || other == got {
		t.Errorf("%+v, %v with another seed", other, err)
	}
	narrow, err := Bootstrap(len(x), BootstrapOptions{Level: .5, Seed: 3}, stat)
	if err != nil || narrow.High-narrow.Low > .6*(got.High-got.Low) {
		t.Errorf("%+v, %v at level .5", narrow, err)
	}
}

// TestScoreIntervals compares with the metric of the drawn rows, and the width of the AUROC's with
// the standard error of Hanley & McNeil 1982.
func TestScoreIntervals(t *testing.T) {
	scores, labels := loadScores(t)
	o := BootstrapOptions{Replicates: 400, Seed: 7}
	curve := stattest.Must(CurveOf(scores, labels, o))
	for _, m := range []struct {
		name   string
		metric func([]float64, []bool) (float64, error)
		got    Interval
	}{{"AUROC", AUROC, curve.AUROC},
		{"average precision", AveragePrecision, curve.AveragePrecision}} {
		got := m.got
		slow, err := Bootstrap(len(scores), o, func(times []uint32) float64 {
			var s []float64
			var l []bool
			for i, k := range times {
				for range k {
					s, l = append(s, scores[i]), append(l, labels[i])
				}
			}
			a, err := m.metric(s, l)
			if err != nil {
				return math.NaN()
			}
			return a
		})
		if err != nil || !near(got.Estimate, slow.Estimate, 1e-12) ||
			!near(got.Low, slow.Low, 1e-12) || !near(got.High, slow.High, 1e-12) ||
			!(got.Low < got.Estimate && got.Estimate < got.High) {
			t.Errorf("%s: %+v, %v, want %+v", m.name, got, err, slow)
		}
	}
	got := curve.AUROC
	p := 0.0
	for _, l := range labels {
		p += indicator(l)
	}
	n, a := float64(len(labels))-p, got.Estimate
	q1, q2 := a/(2-a), 2*a*a/(1+a)
	se := math.Sqrt((a*(1-a) + (p-1)*(q1-a*a) + (n-1)*(q2-a*a)) / (p * n))
	if width := got.High - got.Low; width < 2.5*se || width > 5.5*se {
		t.Errorf("interval of width %v, standard error %v", width, se)
	}
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		x    []float64
		p    float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, .5, 2.5}, {[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{7}, .3, 7}, {[]float64{1, inf, inf}, .75, inf}, {[]float64{inf}, .5, inf},
	} {
		if got := quantile(test.x, test.p); got != test.want {
			t.Errorf("quantile %v of %v is %v, want %v", test.p, test.x, got, test.want)
		}
	}
}

func TestValidity(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 18, Max: 90, OnInvalid: schema.Clamp},
		{Name: "sex", Kind: schema.Categorical, Categories: []string{"f", "m", "other"},
			Missing: []string{"NA"}, OnInvalid: schema.Other, Other: "other"},
		{Name: "seen", Kind: schema.Date, Min: 0, Max: 20000},
	}}
	stattest.Check(t, s.Validate())
	header := []string{"seen", "extra", "sex", "age"}
	rows := [][]string{
		{"2001-02-03", "x", "f", "18"},
		{"2001-02-03", "", "NA", "90"},
		{"2001-02-30", "x", "f", "18"}, // no such day
		// no such category; below the bound, though the policy would clamp it
		{"2001-02-03", "x", "F", "17"},
		{"2001-02-03", "x", "m"}, // ragged
	}
	v := stattest.Must(NewValues(s, header, slices.Values(rows)))
	if got := Validity(v); got != .4 {
		t.Errorf("%v of the rows are valid", got)
	}
	for i, want := range []Moved{{Share: .4, Below: .2}, {Share: .4, Foreign: []string{"F"}},
		{Share: .4}} {
		if got := v.columns[i].moved(v.rows); !reflect.DeepEqual(got, want) {
			t.Errorf("column %+v, want %+v", got, want)
		}
	}
	absent, err := NewValues(s, []string{"age", "sex"}, slices.Values([][]string{{"20", "f"}}))
	stattest.Check(t, err)
	moved := absent.columns[2].moved(1)
	if got := Validity(absent); got != 0 || moved.Share != 1 {
		t.Errorf("%v, %+v without a column", got, moved)
	}
	if _, err := NewValues(s, header, slices.Values([][]string(nil))); !errors.Is(err, ErrTables) {
		t.Errorf("error %v for no rows, want %v", err, ErrTables)
	}
	broken := &schema.Schema{Columns: []schema.Column{{Name: "age", Kind: schema.Integer, Min: 2,
		Max: 1}}}
	if _, err := NewValues(broken, header, slices.Values(rows)); !errors.Is(err,
		schema.ErrInvalid) {
		t.Errorf("error %v for a broken schema, want %v", err, schema.ErrInvalid)
	}
}
