package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval/report"
)

// answered is what a model of randomised answers about 30 columns says: the pairs of the first 10
// were measured.
func answered() report.Released {
	s := &schema.Schema{}
	out := report.Released{Rows: 4000, Schema: s, Claim: report.Claim{Adjacency: "replace-one"}}
	measured := func(groups [][][]string, noisy []float64, columns ...string) {
		out.Marginals = append(out.Marginals, report.Marginal{Columns: columns, Groups: groups,
			Sigma: 10, Noisy: noisy, Model: noisy})
	}
	values := [][]string{{"no"}, {"yes"}}
	for i := range 30 {
		name := fmt.Sprintf("c%02d", i)
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
			Categories: []string{"no", "yes"}})
		measured([][][]string{values}, []float64{2000, 2000}, name)
		for j := range min(i, 10) {
			if i < 10 {
				measured([][][]string{values, values}, []float64{900, 1100, 1100, 900},
					s.Columns[j].Name, name)
			}
		}
	}
	return out
}

// TestModelPage: 45 of the pairs of 30 columns were measured, each column is drawn, and under
// replace-one nobody is gone.
func TestModelPage(t *testing.T) {
	var page bytes.Buffer
	if err := report.Model(&page, answered()); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); !strings.Contains(text, "45 of 435 pairs") ||
		strings.Count(text, "<figure") != 30 ||
		!strings.Contains(text, "if any one row had been any other") {
		t.Errorf("pairs, drawings or claim are wrong: %s", text)
	}
}
