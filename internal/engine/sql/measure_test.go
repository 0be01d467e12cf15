package sql

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

var measure = flag.Int("measure", 0, "also measure counting a table of so many rows")

// TestMeasure prints how long the server takes for all pairs of thirteen columns of twelve codes:
// where each row is a unit, where units have about five rows and at most three count, and by one
// query with GROUPING SETS.
//
//	go test ./internal/engine/sql -run TestMeasure -v -args -measure 1000000
func TestMeasure(t *testing.T) {
	if *measure == 0 {
		t.Skip("not asked for: -args -measure 1000000")
	}
	s := startServer(t)
	of := &schema.Schema{}
	var columns, sets []string
	for i := range 13 {
		name := fmt.Sprintf("c%d", i)
		of.Columns = append(of.Columns, schema.Column{Name: name, Kind: schema.Integer, Max: 11})
		columns = append(columns, fmt.Sprintf("abs(hashint8extended(i, %d) %% 12) AS %s", i, name))
		for j := range i {
			sets = append(sets, fmt.Sprintf("(c%d, c%d)", j, i))
		}
	}
	s.exec(t, fmt.Sprintf("CREATE TABLE m AS SELECT i / 5 AS id, %s FROM generate_series(1, %d) t(i)",
		strings.Join(columns, ", "), *measure), "ANALYZE m")
	cpu := func() (seconds float64) { // of the server's processes that have ended; on Linux
		time.Sleep(time.Second)
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
		if fields := strings.Fields(string(stat)); len(fields) > 16 {
			for _, ticks := range fields[15:17] {
				x, _ := strconv.ParseFloat(ticks, 64)
				seconds += x / 100
			}
		}
		return seconds
	}
	timed := func(what string, do func() error) {
		before, begin := cpu(), time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin).Seconds()
		t.Logf("%-20s %6.1f s, %6.1f s of CPU", what, took, cpu()-before)
	}
	count := func() error {
		_, err := s.count("m", of)
		return err
	}
	timed("rows are units", count)
	of.Unit, of.MaxRowsPerUnit = "id", 3
	timed("3 rows of each unit", count)
	timed("GROUPING SETS", func() error {
		defer s.conn.Close(context.Background()) // so that its CPU counts
		_, err := s.conn.Exec(context.Background(), fmt.Sprintf("SELECT %s, count(*) FROM m GROUP BY "+
			"GROUPING SETS (%s)", strings.Join(of.Names(), ", "), strings.Join(sets, ", "))).ReadAll()
		return err
	})
}
