package report

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
)

var (
	tables = flag.String("tables", "", "folder of real tables NAME.csv, each with its NAME.yaml")
	splits = flag.Int("splits", 20, "random splits of each table into halves")
)

// measureAlike measures what the first two questions of a summary need.
func measureAlike(t *testing.T, in Tables, o Options) []finding {
	t.Helper()
	w := stattest.Must(start(in, stattest.Must(o.filled())))
	for _, measure := range []func() error{w.shapes, w.pairs, w.associate, w.rare} {
		stattest.Check(t, measure())
	}
	return answer(w.questions())
}

// TestHalvesOfTables prints how often two halves of a real table blame each other, which they
// should not, and fails from one split in twenty on:
//
//	go test ./eval/report -run TestHalvesOfTables -v -args -tables FOLDER -splits 20
func TestHalvesOfTables(t *testing.T) {
	if *tables == "" {
		t.Skip("needs -tables FOLDER")
	}
	for _, path := range stattest.Must(filepath.Glob(filepath.Join(*tables, "*.csv"))) {
		s, err := schema.Load(strings.TrimSuffix(path, ".csv") + ".yaml")
		if err != nil {
			t.Logf("%s is left out: %v", filepath.Base(path), err)
			continue
		}
		f := stattest.Must(os.Open(path))
		all := stattest.Must(csv.NewReader(f).ReadAll())
		f.Close()
		blamed := 0
		for k := range *splits {
			rows := slices.Clone(all[1:])
			rand.New(rand.NewPCG(uint64(k), 0)).Shuffle(len(rows), func(i, j int) {
				rows[i], rows[j] = rows[j], rows[i]
			})
			half := func(rows [][]string) Table {
				name := filepath.Join(t.TempDir(), "half.csv")
				f := stattest.Must(os.Create(name))
				stattest.Check(t, csv.NewWriter(f).WriteAll(append([][]string{all[0]}, rows...)))
				f.Close()
				coded, _, err := table.Read(t.Context(), name, s, table.ReadOptions{})
				stattest.Check(t, err)
				return Table{Rows: coded, Values: stattest.Must(eval.NewValues(s, all[0],
					slices.Values(rows)))}
			}
			in := Tables{Train: half(rows[:len(rows)/2]), Synthetic: half(rows[len(rows)/2:])}
			said := ""
			for _, f := range measureAlike(t, in, Options{}) {
				if f.Status == mixed || f.Status == poor {
					said += fmt.Sprintf("\n  %s %s", f.Status, f.Answer)
				}
			}
			if said != "" {
				blamed++
				t.Logf("%s, split %d:%s", filepath.Base(path), k, said)
			}
		}
		t.Logf("%s: %d of %d splits are blamed", filepath.Base(path), blamed, *splits)
		if 20*blamed > *splits {
			t.Errorf("%s: more than 1 in 20", filepath.Base(path))
		}
	}
}
