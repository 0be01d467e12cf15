// Package synthtest makes small tables for tests.
package synthtest

import (
	"fmt"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// Quick are settings with which methods take a moment, as flags; others do with their defaults.
var Quick = map[string]string{
	"mwem": "--set rounds=2",
	"wgan": "--set steps=2 --set distil_steps=2 --set post_steps=2 --set hidden=4 " +
		"--set generator_steps=1",
	"pategan": "--set rounds=2 --set questions=4 --set distil_steps=2 --set generator_steps=1",
}

// Tables names the tables that harnesses have for methods: others take in.
var Tables = map[string]string{"smalldb": "small"}

// Schema has n columns of 2, 3, 4, ... 6, 2, ... codes.
func Schema(n int) *schema.Schema {
	s := &schema.Schema{}
	for i := range n {
		c := schema.TextColumn(fmt.Sprintf("column %d", i))
		for k := range 2 + i%5 {
			c.Categories = append(c.Categories, fmt.Sprintf("c%d", k))
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// Table has n rows of s: column 0 cycles, column i copies column i−1 but for one row in ten.
func Table(t testing.TB, s *schema.Schema, n int) *table.Table {
	t.Helper()
	cols := make([]table.Codes, len(s.Columns))
	for c, size := range s.Sizes() {
		codes := make([]uint8, n)
		for r := range codes {
			x := r
			if c > 0 {
				x = int(cols[c-1].U8[r])
				if (r*7+c*3)%10 == 0 {
					x = r
				}
			}
			codes[r] = uint8(x % size)
		}
		cols[c].U8 = codes
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	return tab
}
