package synth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
)

// measureOne is a marginal's counts with Gaussian noise of sigma rows, as package marginal takes
// them and a model keeps them.
func measureOne(
	s *privacy.Session, m privacy.Marginal, sigma float64,
) (marginal.Measurement, error) {
	counts, err := s.MeasureAll([]privacy.Query{m}, sigma)
	if err != nil {
		return marginal.Measurement{}, err
	}
	return marginal.NewMeasurement(m.Cols, m.Groups, counts[0], sigma), nil
}

// columnQueries asks for the marginal of each of n columns, in their order.
func columnQueries(n int) (out []privacy.Query) {
	for c := range n {
		out = append(out, privacy.Marginal{Cols: []int{c}})
	}
	return out
}

// columnsMeasured is what was measured of each column, with noise of sigma rows.
func columnsMeasured(counts [][]int64, sigma float64) (out []marginal.Measurement) {
	for c := range counts {
		out = append(out, marginal.NewMeasurement([]int{c}, nil, counts[c], sigma))
	}
	return out
}

// grouped merges the codes of columns with counts of less than so many sigmas.
func grouped(
	sizes []int, columns []marginal.Measurement, sigmas float64,
) (groups *marginal.Grouping, ms []marginal.Measurement, err error) {
	if groups, err = marginal.NewGrouping(sizes, columns, sigmas); err != nil {
		return nil, nil, err
	}
	for _, m := range columns {
		ms = append(ms, groups.GroupMeasurement(m))
	}
	return groups, ms, nil
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

// joined joins measured one-way marginals with those that are known already, finer ones first.
func joined(measured, known []marginal.Measurement) []marginal.Measurement {
	out := append([]marginal.Measurement(nil), measured...)
	for i := range out {
		for _, k := range known {
			if k.Cols[0] == out[i].Cols[0] {
				out[i] = marginal.Refine(out[i], k)
			}
		}
	}
	return out
}
