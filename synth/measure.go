package synth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
)

// measureOne is a marginal's counts with Gaussian noise of sigma rows, as package marginal takes
// them and a model keeps them.
func measureOne(
	s *privacy.Session, m privacy.Marginal, sigma float64,
) (marginal.Measurement, error) {
	counts, err := s.Measure(m, sigma)
	return marginal.NewMeasurement(m.Cols, m.Groups, counts, sigma), err
}

// measureColumns is [measureOne] of every one-way marginal, in the order of the columns.
func measureColumns(s *privacy.Session, sigma float64) ([]marginal.Measurement, error) {
	queries := make([]privacy.Query, len(s.Schema().Columns))
	for c := range queries {
		queries[c] = privacy.Marginal{Cols: []int{c}}
	}
	counts, err := s.MeasureAll(queries, sigma)
	out := make([]marginal.Measurement, len(counts))
	for c := range out {
		out[c] = marginal.NewMeasurement([]int{c}, nil, counts[c], sigma)
	}
	return out, err
}

// columnNames are those of columns, for the settings of a model.
func columnNames(s *schema.Schema, cols []int) []any {
	out := make([]any, len(cols))
	for i, c := range cols {
		out[i] = s.Columns[c].Name
	}
	return out
}

// joinedNames are the columns of a text such as age*sex*income, each once.
func joinedNames(s *schema.Schema, text string) (cols []int, err error) {
	for _, name := range strings.Split(text, "*") {
		name = strings.TrimSpace(name)
		c := s.Index(name)
		if c < 0 {
			return nil, fmt.Errorf("the schema has no column %q%s", name, s.Hint(name))
		}
		if slices.Contains(cols, c) {
			return nil, fmt.Errorf("column %q is named twice", name)
		}
		cols = append(cols, c)
	}
	return cols, nil
}

// Grouped is the marginal of the columns over groups of their codes.
func Grouped(g *marginal.Grouping, cols ...int) privacy.Marginal {
	m := privacy.Marginal{Cols: cols}
	for _, c := range cols {
		m.Groups = append(m.Groups, g.Groups(c))
	}
	return m
}
