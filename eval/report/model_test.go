package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval/report"
	"github.com/decoy-dp/decoy/schema"
)

// answered is what a model of randomised answers about 30 columns says, of which the first 10 go
// together: the 45 pairs of these were measured, and the later ones go together more.
func answered() report.Released {
	s := &schema.Schema{}
	out := report.Released{Rows: 4000, Schema: s, Claim: report.Claim{Adjacency: "replace-one"}}
	measured := func(groups [][][]string, noisy []float64, columns ...string) {
		out.Marginals = append(out.Marginals, report.Marginal{Columns: columns, Groups: groups,
			Sigma: 10, Noisy: noisy, Model: noisy, Below: make([]bool, len(noisy))})
	}
	values := [][]string{{"no"}, {"yes"}}
	for i := range 30 {
		name := fmt.Sprintf("c%02d", i)
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Categorical,
			Categories: []string{"no", "yes"}})
		measured([][][]string{values}, []float64{2000, 2000}, name)
		for j := range min(i, 10) {
			if i < 10 {
				far := float64(100 + 10*i + j)
				measured([][][]string{values, values},
					[]float64{1000 + far, 1000 - far, 1000 - far, 1000 + far}, s.Columns[j].Name, name)
			}
		}
	}
	return out
}

// TestModelPageIsBounded: of 45 pairs the 20 that stand out most are drawn, those first that do so
// most, and of 390 that were not measured 100 are named.
func TestModelPageIsBounded(t *testing.T) {
	var page bytes.Buffer
	if err := report.Model(&page, answered()); err != nil {
		t.Fatal(err)
	}
	_, drawn, _ := strings.Cut(page.String(), "Look at 20 pairs")
	drawn, unknown, ok := strings.Cut(drawn, "390 pairs that were not measured")
	if !ok {
		t.Fatal("20 drawn pairs and 390 that were not measured are not told")
	}
	unknown, _, _ = strings.Cut(unknown, "</details>")
	if n := strings.Count(drawn, "<figure"); n != 20 {
		t.Errorf("%d pairs are drawn", n)
	}
	if n := strings.Count(unknown, " × "); n != 100 {
		t.Errorf("%d pairs are named", n)
	}
	first, last := strings.Index(drawn, "c08 × c09, each"), strings.Index(drawn, "c07 × c09, each")
	if first < 0 || last < first || strings.Contains(drawn, "c00 × c01, each") {
		t.Error("the pairs that stand out most are not first")
	}
	if !strings.Contains(page.String(), "45 of 435 pairs") {
		t.Error("the pairs are not counted")
	}
}

// TestModelPageSaysTheRelation: under replace-one nobody is gone.
func TestModelPageSaysTheRelation(t *testing.T) {
	var page bytes.Buffer
	if err := report.Model(&page, answered()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "if any one row had been any other") {
		t.Error("the claim is not that of replace-one")
	}
}
