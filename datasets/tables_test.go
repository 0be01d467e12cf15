package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var tables = flag.String("tables", "", "directory with the CSV files of the catalogue, NAME.csv")

// TestCatalogueTables reads the public tables with their schemas:
//
//	go test ./datasets -run TestCatalogueTables -v -args -tables DIRECTORY
func TestCatalogueTables(t *testing.T) {
	if *tables == "" {
		t.Skip("the public tables are not part of the module: say where they are with -args -tables " +
			"DIRECTORY")
	}
	for _, entry := range catalogue {
		t.Run(entry.Name, func(t *testing.T) {
			d, s := get(t, entry.Name)
			file := stattest.Must(os.ReadFile(filepath.Join(*tables, d.Name+".csv")))
			if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != d.SHA256 {
				t.Fatalf("the checksum is %x: another file", sum)
			}
			rows, report, err := table.ReadCSV(context.Background(), bytes.NewReader(file), int64(len(file)),
				s, table.ReadOptions{})
			stattest.Check(t, err)
			if len(report.Ignored) > 0 {
				t.Errorf("columns %v are not in the schema", report.Ignored)
			}
			check(t, d, rows)
			for i, c := range s.Columns {
				counts := rows.Counts(i)
				for code, n := range counts {
					if n == 0 && len(c.Edges) > 0 {
						t.Errorf("%s: bin %d of %d is empty", c.Name, code, len(counts))
					}
				}
			}
		})
	}
}
