package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/table"
)

// sayUnreadable tells of columns in which nearly all rows of the model have the code that a cell
// gets that cannot be read: a missing one, the category for others or, where a column has neither,
// its first code. A wrong separator or decimal commas look like that. It sees rows of the model
// only. Many columns are mostly their first code, so these count where they are most of the table.
func sayUnreadable(ctx context.Context, t *terminal, m *release.Model, input string) error {
	const rows, most, seed = 400, 0.95, 1
	codecs, err := m.Schema().Codecs()
	if err != nil {
		return err
	}
	var sure, perhaps []string
	err = m.Sample(ctx, rows, seed, func(drawn *table.Table) error {
		for i, c := range codecs {
			code, n := c.Unreadable(), 0
			for r := range drawn.Rows() {
				if drawn.Column(i).At(r) == code {
					n++
				}
			}
			switch column := c.Column(); {
			case float64(n) < most*rows:
			case len(column.Missing) > 0 || column.Other != "":
				sure = append(sure, fmt.Sprintf("%q", column.Name))
			default:
				perhaps = append(perhaps, fmt.Sprintf("%q", column.Name))
			}
		}
		return nil
	})
	if len(perhaps) > 1 && 2*len(perhaps) > len(codecs) {
		sure = append(sure, perhaps...)
	}
	if len(sure) > 0 {
		t.say("nearly all cells are missing, or could not be read, in %s: if that is not so in the "+
			"table, look at its separator, decimal commas and dates (decoy schema check SCHEMA %s)",
			strings.Join(sure, ", "), input)
	}
	return err
}
