package driver

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/spark-connect-go/v35/spark/sql"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

var measure = flag.Int("measure", 0,
	"also measure counting tables of up to `N` rows, from a million")

// measuredColumns are those of the table that TestMeasure counts: 45 pairs of 144 cells.
const measuredColumns = 10

// TestMeasure prints how long counting takes, in one run: all pairs of ten columns of twelve codes,
// by decoy-spark, by one query with GROUPING SETS on the same cluster, and from the same files
// here on one core; with one worker, then with two. The first queries start the executors.
//
//	cd spark && go test ./driver -run TestMeasure -v -timeout 1h -args -measure 1000000
func TestMeasure(t *testing.T) {
	if *measure == 0 {
		t.Skip("not asked for: -args -measure 10000000")
	}
	for workers := 1; workers <= 2 && (workers == 1 || *running == ""); workers++ {
		t.Run(fmt.Sprintf("workers %d", workers), func(t *testing.T) { measureOn(t, workers) })
	}
}

// measureOn measures on a cluster of its own, or on the one that was named.
func measureOn(t *testing.T, workers int) {
	c := startCluster(t, workers)
	ctx := context.Background()
	session, err := sql.NewSessionBuilder().Remote("sc://" + c.host).Build(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := &schema.Schema{}
	var columns, sets []string
	for i := range measuredColumns {
		name := fmt.Sprintf("c%d", i)
		s.Columns = append(s.Columns, schema.Column{Name: name, Kind: schema.Integer, Max: 11})
		columns = append(columns, fmt.Sprintf("CAST(pmod(hash(id, %d), 12) AS INT) AS %s", i, name))
		for j := range i {
			sets = append(sets, fmt.Sprintf("(c%d, c%d)", j, i))
		}
	}
	if s, err = s.Clone(), s.Validate(); err != nil {
		t.Fatal(err)
	}
	timed := func(what string, rows int, do func() error) {
		t.Helper()
		begin := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin).Seconds()
		t.Logf("%-14s %10d rows  %7.1f s  %9.0f rows/s", what, rows, took, float64(rows)/took)
	}
	for rows := 1; rows <= *measure; rows = max(1_000_000, rows*10) {
		path := fmt.Sprintf("%s/m%d.parquet", c.dir, rows)
		c.sql(t, fmt.Sprintf("CREATE TABLE m%d USING parquet LOCATION '%s' AS SELECT %s FROM "+
			"range(0, %d, 1, 2)", rows, path, strings.Join(columns, ", "), rows))
		timed("decoy-spark", rows, func() error {
			_, err := c.count(ctx, path, s, pairs(s))
			return err
		})
		timed("GROUPING SETS", rows, func() error {
			frame, err := session.Sql(ctx, fmt.Sprintf("SELECT %s, COUNT(*) FROM parquet.`%s` "+
				"GROUP BY GROUPING SETS (%s)", names(s), path, strings.Join(sets, ", ")))
			if err == nil {
				_, err = frame.Collect(ctx)
			}
			return err
		})
		timed("here", rows, func() error {
			files, _ := filepath.Glob(path + "/*.parquet")
			for _, f := range files {
				tab, _, err := table.Read(ctx, f, s, table.ReadOptions{})
				if err != nil {
					return err
				}
				for _, set := range pairs(s) {
					n := 1
					for _, col := range set {
						n *= s.Sizes()[col]
					}
					tab.CountTo(make([]int64, n), set)
				}
			}
			return nil
		})
	}
}

// names are the columns, with commas between them.
func names(s *schema.Schema) string {
	var out []string
	for _, c := range s.Columns {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}
